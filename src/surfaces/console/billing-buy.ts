// Buying: the offers, a page that says what an offer is before anything is started, and the way to the payment page.
import { z } from 'zod';
import { admit, admits } from '#access/gate.ts';
import type { BillingSummary } from '#domain/billing/summary.ts';
import {
  checkoutOffers,
  enterpriseOffer,
  pack,
  type TeamPlan,
  teamPlan,
  teamPlanIds,
  teamPlans,
} from '#domain/plans/catalog.ts';
import { createCheckout } from '#domain/plans/checkout.ts';
import { paymentProvider } from '#domain/plans/provider.ts';
import { billing } from '#domain/plans/terms.ts';
import { addresses } from '#foundation/addresses.ts';
import { now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { answerPage, answerWithoutOrganization, csrfField, formError, seeOther, type Visitor } from './layout.ts';
import { billingAddress, usd } from './receipt.ts';
import { day } from './time.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const buyAddress = `${billingAddress}/buy`;
const count = (most: number | null, noun: string): string => `${most === null ? 'Unlimited' : most} ${noun}`;

export function offersCard({ caller }: Visitor, { purchase, subscription }: BillingSummary): Html {
  const mayBuy = admits(caller, 'billing:write');
  return html`<section class="card" aria-labelledby="offers"><h2 id="offers">Buy credits</h2>
    ${purchase.testMoney && html`<p class="note">Payments are in test money: no card is charged.</p>`}
    ${!mayBuy && html`<p class="muted">${caller.isOrgClosed ? 'The organization is closed.' : 'Only an owner of the organization can buy.'}</p>`}
    <ul class="list">
      <li class="row"><div><strong>Credit pack</strong>: ${pack.credits} credits for ${usd(pack.cents)}
        <div class="muted small">They last a year.</div></div>
        ${
          mayBuy &&
          html`<form class="actions" method="get" action="${buyAddress}"><input type="hidden" name="offer" value="pack">
          <label for="quantity" class="inline">Packs</label><input class="few" id="quantity" name="quantity" type="number" min="${billing.packs.min}" max="${billing.packs.max}" value="1" required>
          <button>Buy <span class="unseen">credit packs</span></button></form>`
        }</li>
      ${teamPlans.map((plan) => planItem(plan, mayBuy && !subscription))}
    </ul>
    <p class="muted small more">${enterpriseOffer().blurb}</p>
  </section>`;
}

const planItem = ({ plan, name, credits, cents, projects, agentsAtOnce }: TeamPlan, canBuy: boolean): Html =>
  html`<li class="row"><div><strong>Plan ${name}</strong>: ${credits.toLocaleString('en-US')} credits for ${usd(cents)} per month
    <div class="muted small">${count(projects, 'projects')}, ${count(agentsAtOnce, 'open missions at once')}. Unused credits expire with the month.</div></div>
    ${canBuy && html`<a class="button" href="${buyAddress}?offer=team&amp;team_plan=${plan}">Subscribe <span class="unseen">to ${name}</span></a>`}</li>`;

const choice = z.object({
  offer: z.enum(checkoutOffers),
  quantity: z.coerce.number().pipe(z.int().min(billing.packs.min).max(billing.packs.max)).default(1),
  team_plan: z.enum(teamPlanIds).optional(),
});
type Choice = z.output<typeof choice>;

export const showBuy: Handler = personsPage((exchange, visitor) => {
  if (!visitor.caller.orgId) return answerWithoutOrganization(exchange, visitor);
  admit(visitor.caller, 'billing:write');
  return answerBuy(exchange, visitor, fieldsOf(new URLSearchParams(exchange.search), choice));
});

export const startBuy: Handler = personsForm(async (exchange, visitor, form) => {
  admit(visitor.caller, 'billing:write');
  const chosen = fieldsOf(form, choice);
  const { start } = fieldsOf(form, z.object({ start: z.enum(['now', 'later']) }));
  try {
    const { url } = await createCheckout(visitor.caller, {
      offer: chosen.offer,
      quantity: chosen.quantity,
      teamPlan: chosen.team_plan,
      startNowConsent: start === 'now',
    });
    await answerPayment(exchange, visitor, url);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status === 500) throw error;
    await answerBuy(exchange, visitor, chosen, problem);
  }
});

/** A page of ours at once; to another host a link, because a form may lead to our own pages only. */
async function answerPayment(exchange: Exchange, visitor: Visitor, url: string): Promise<void> {
  const { origin, host, pathname } = new URL(url);
  if (origin === new URL(addresses().issuer).origin) return seeOther(exchange, pathname);
  const title = 'Continue to payment';
  const body = html`<h1>${title}</h1>
    <section class="card"><p>You pay at <strong>${host}</strong>. Afterwards you come back here, and the credits are there as soon as the payment is confirmed.</p>
      <div class="actions"><a class="button" href="${url}">Pay at ${host}</a> <a class="button quiet" href="${billingAddress}">Back to billing</a></div>
      <p class="muted small">The payment page is open for a day.</p></section>`;
  return answerPage(exchange, 200, { title, body, visitor });
}

async function answerBuy(exchange: Exchange, visitor: Visitor, chosen: Choice, refused?: Problem): Promise<void> {
  const plan = chosen.offer === 'team' && chosen.team_plan ? teamPlan(chosen.team_plan) : null;
  const quantity = plan ? 1 : chosen.quantity;
  const [credits, cents] = [(plan ?? pack).credits * quantity, (plan ?? pack).cents * quantity];
  const name = plan ? `Plan ${plan.name}` : `${quantity} credit ${quantity === 1 ? 'pack' : 'packs'}`;
  const body = html`<p class="above"><a href="${billingAddress}">Billing</a></p><h1>Buy ${name}</h1>
    ${refused && formError(refused.body.description)}
    <section class="card">
      <dl class="facts">
        <dt>Credits</dt><dd>${credits.toLocaleString('en-US')}${plan && ' per month'}</dd>
        <dt>Price</dt><dd>${usd(cents)}${plan && ' per month, until you cancel'}</dd>
        <dt>Withdrawal</dt><dd>Within 14 days; unspent credits are refunded.</dd>
        ${paymentProvider().isTest && html`<dt>Payment</dt><dd>In test money: no card is charged.</dd>`}
      </dl>
      <form method="post" action="${buyAddress}">${csrfField(visitor)}
        <input type="hidden" name="offer" value="${plan ? 'team' : 'pack'}"><input type="hidden" name="quantity" value="${quantity}">
        ${plan && html`<input type="hidden" name="team_plan" value="${plan.plan}">`}
        <fieldset><legend>When the credits can be spent</legend>
          <label class="check"><input type="radio" name="start" value="now" required><span>At once. I agree that what is spent is not refunded.</span></label>
          <label class="check"><input type="radio" name="start" value="later"><span>After the time for withdrawal, on ${day(now() + billing.withdrawal)}.</span></label>
        </fieldset>
        <div class="actions"><button>Continue to payment</button> <a class="button quiet" href="${billingAddress}">Cancel</a></div>
      </form>
    </section>`;
  return answerPage(exchange, refused?.status ?? 200, { title: `Buy ${name}`, body, visitor }, refused?.headers);
}
