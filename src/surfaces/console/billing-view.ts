// The cards of the billing page: balance, subscription, requests for credits, settings.
import { admits } from '#access/gate.ts';
import type { BillingSummary, CreditSource } from '#domain/billing/summary.ts';
import { credit } from '#domain/credits/amounts.ts';
import { teamPlan, teamPlans } from '#domain/plans/catalog.ts';
import type { BillingSubscription, TrackerTriggerPolicy } from '#domain/plans/model.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import { text } from '#limits.ts';
import { amountText } from './billing-ledger.ts';
import { csrfField, type Visitor } from './layout.ts';
import { billingAddress, usd } from './receipt.ts';
import { day } from './time.ts';

const planNames = { free: 'Free', pack: 'Credit packs', team: 'Team', enterprise: 'Enterprise' } as const;
const sourceNames = { trial: 'Trial', pack: 'Credit pack', subscription: 'Team plan', grant: 'Grant' } as const;
const inCredits = (credits: number): string => amountText(Math.round(credits * credit));
const orUnlimited = (count: number | null): string => (count === null ? 'Unlimited' : count.toLocaleString('en-US'));

export function balanceCard(summary: BillingSummary): Html {
  const { balance, low, plan, subscription, canStartMission, advice, usage, projects, trial } = summary;
  return html`<section class="card" aria-labelledby="balance">
    <div class="row"><h2 id="balance">Balance</h2><span class="tag">Plan: ${subscription ? teamPlan(subscription.plan).name : planNames[plan]}</span></div>
    <p class="figure"><strong>${balance.toLocaleString('en-US')}</strong> credits ${low && html`<span class="tag bad">Low</span>`}</p>
    ${!canStartMission && html`<p class="note error">No mission can start now: no credits can be spent, or as many missions are open as the plan allows.</p>`}
    ${advice && html`<p class="note">${advice.reason}</p>`}
    <dl class="facts">
      <dt>Spent since ${day(usage.periodStart)}</dt><dd>${inCredits(usage.creditsSpent)} credits by ${usage.missions === 1 ? '1 mission' : `${usage.missions} missions`}</dd>
      ${trial.granted > 0 && html`<dt>Trial</dt><dd>${trialState(trial)}</dd>`}
      <dt>Projects</dt><dd>${projects.used} of ${orUnlimited(projects.limit)}</dd>
      <dt>Open missions at once</dt><dd>${orUnlimited(summary.sandboxLimit)}</dd>
      <dt>One mission</dt><dd>At most ${summary.missionCeiling.toLocaleString('en-US')} credits</dd>
    </dl>
    ${summary.sources.length > 0 && sourcesTable(summary.sources)}
  </section>`;
}

const trialState = ({ granted, remaining, endsAt }: BillingSummary['trial']): Html =>
  remaining === 0
    ? html`${granted} credits, used up or expired`
    : html`${inCredits(remaining)} of ${granted} credits left${endsAt !== null && html`, until ${day(endsAt)}`}`;

const sourcesTable = (sources: readonly CreditSource[]): Html => html`<h3 id="sources">Where they come from</h3>
  <p class="hint">What expires first is spent first. A credit is one US dollar of mission cost.</p>
  <div class="scroll"><table aria-labelledby="sources">
    <thead><tr><th scope="col">Source</th><th scope="col" class="number">Credits</th><th scope="col">Can be spent</th><th scope="col">Expires</th></tr></thead>
    <tbody>${sources.map(
      ({
        kind,
        credits,
        startsAt,
        expiresAt,
      }) => html`<tr><td>${sourceNames[kind]}</td><td class="number">${inCredits(credits)}</td>
      <td>${startsAt === null ? 'Now' : html`From ${day(startsAt)}`}</td><td>${expiresAt === null ? 'Never' : day(expiresAt)}</td></tr>`,
    )}</tbody></table></div>`;

export function subscriptionCard(visitor: Visitor, subscription: Row<BillingSubscription>): Html {
  const { plan, nextPlan, status, currentPeriodEnd } = subscription;
  const isEnding = status === 'canceling';
  return html`<section class="card" aria-labelledby="subscription"><h2 id="subscription">Subscription</h2>
    <dl class="facts">
      <dt>Plan</dt><dd>${teamPlan(plan).name}, ${usd(teamPlan(plan).cents)} per month</dd>
      <dt>${isEnding ? 'Ends' : 'Renews'}</dt><dd>${day(currentPeriodEnd)}${!isEnding && nextPlan && ` as ${teamPlan(nextPlan).name}`}</dd>
    </dl>
    ${
      admits(visitor.caller, 'billing:write') &&
      html`<div class="actions">${isEnding ? renewForm(visitor) : [planForms(visitor, subscription), cancelForm(visitor)]}</div>`
    }
  </section>`;
}

/** Each plan that the next period is not paid for yet. */
const planForms = (visitor: Visitor, { plan: current, nextPlan }: Row<BillingSubscription>): Html[] =>
  teamPlans
    .filter(({ plan }) => plan !== (nextPlan ?? current))
    .map(({ plan, name, cents }) => {
      const label = plan === current ? `Keep ${name}` : `Change to ${name} (${usd(cents)}) with the next period`;
      return html`<form method="post" action="${billingAddress}">${csrfField(visitor)}
      <input type="hidden" name="plan" value="${plan}"><button class="quiet" name="do" value="plan">${label}</button></form>`;
    });

const renewForm = (visitor: Visitor): Html => html`<form method="post" action="${billingAddress}">${csrfField(visitor)}
  <button name="do" value="renew">Keep the subscription</button></form>`;

const cancelForm = (visitor: Visitor): Html => html`<details class="confirm">
  <summary><span class="closed">Cancel subscription</span><span class="opened">Back</span></summary>
  <form method="post" action="${billingAddress}">${csrfField(visitor)}
    <p class="small">It ends with its period. Until then you can take this back.</p>
    <button class="danger sure" name="do" value="cancel">Cancel the subscription</button></form></details>`;

/** The open request, for those who can answer it, and the form for those who start missions. Null for others. */
export function requestCard(
  visitor: Visitor,
  summary?: BillingSummary,
  names: ReadonlyMap<string, string> = new Map(),
): Html | null {
  const open = summary?.openCreditRequest;
  const canBuy = summary?.canManage ?? false;
  if (canBuy && !open) return null;
  return html`<section class="card" aria-labelledby="requests"><h2 id="requests">${canBuy ? 'Credits are asked for' : 'Ask for credits'}</h2>
    ${open && html`<ul class="list">${open.messages.map(({ message, userId, at }) => html`<li><p class="message">${message}</p><div class="muted small">${names.get(userId) ?? 'A former member'}, ${day(at)}</div></li>`)}</ul>`}
    ${canBuy && html`<p class="hint">The request is closed when credits are bought or granted.</p>`}
    ${!canBuy && admits(visitor.caller, 'missions:run') && askForm(visitor)}
  </section>`;
}

const askForm = (visitor: Visitor): Html => html`<form method="post" action="${billingAddress}">${csrfField(visitor)}
  <div class="field"><label for="message">Message to the owners</label>
    <p class="hint" id="message-hint">What the credits are for, and how many you need.</p>
    <textarea id="message" name="message" rows="3" maxlength="${text.creditMessage.max}" aria-describedby="message-hint" required></textarea></div>
  <button name="do" value="ask">Send request</button></form>`;

const policies: Record<TrackerTriggerPolicy, string> = {
  anyone: 'Whoever can write an issue',
  members: 'Members of the organization',
  off: 'Nobody',
};

export function settingsCard(visitor: Visitor, { trackerTriggers }: BillingSummary): Html {
  const options = Object.entries(policies);
  const mayChange = admits(visitor.caller, 'billing:write');
  return html`<section class="card" aria-labelledby="settings"><h2 id="settings">Settings</h2>
    ${
      mayChange
        ? html`<form method="post" action="${billingAddress}">${csrfField(visitor)}
      <fieldset><legend>Whose issues in a connected tracker may start missions</legend>
        <div class="choices">${options.map(([value, label]) => html`<label class="choice"><input type="radio" name="tracker_triggers" value="${value}"${value === trackerTriggers && html` checked`}>${label}</label>`)}</div></fieldset>
      <button class="quiet" name="do" value="settings">Save settings</button></form>`
        : html`<p>${policies[trackerTriggers]} may start missions by issues in a connected tracker.</p>`
    }
  </section>`;
}
