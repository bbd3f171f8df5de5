// The billing page: what the organization has, buys and spends. A person who may only start missions asks for credits here.
import { z } from 'zod';
import { admit } from '#access/gate.ts';
import { billingSummary, updateSettings } from '#domain/billing/summary.ts';
import { listLedger, readPosition } from '#domain/credits/operations.ts';
import { peopleOf } from '#domain/people/operations.ts';
import { teamPlanIds } from '#domain/plans/catalog.ts';
import { trackerTriggerPolicies } from '#domain/plans/model.ts';
import { listOrders } from '#domain/plans/operations.ts';
import { requestCredits } from '#domain/plans/requests.ts';
import { updateSubscription } from '#domain/plans/subscription.ts';
import { withdrawOrder } from '#domain/plans/withdrawal.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { offersCard } from './billing-buy.ts';
import { entriesTable, ledgerAddress } from './billing-ledger.ts';
import { orderList } from './billing-orders.ts';
import { balanceCard, requestCard, settingsCard, subscriptionCard } from './billing-view.ts';
import { answerPage, answerWithoutOrganization, formError, seeOther, type Visitor } from './layout.ts';
import { billingAddress } from './receipt.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

/** What a form has done, for the page that it leads to. */
const done = {
  asked: 'Sent. The owners of the organization see your request here.',
  saved: 'Saved.',
  changed: 'The subscription is changed.',
  withdrawn: 'Withdrawn. The credits are taken back, and the refund is under way.',
} as const;
type Done = keyof typeof done;

export const showBilling: Handler = personsPage((exchange, visitor) => {
  const said = new URLSearchParams(exchange.search).get('done') ?? '';
  return answerBilling(exchange, visitor, { said: Object.hasOwn(done, said) ? done[said as Done] : undefined });
});

const actions = ['ask', 'settings', 'plan', 'cancel', 'renew', 'withdraw'] as const;
const fields = {
  ask: z.object({ message: boundedText(text.creditMessage) }),
  settings: z.object({ tracker_triggers: z.enum(trackerTriggerPolicies) }),
  plan: z.object({ plan: z.enum(teamPlanIds) }),
  withdraw: z.object({ order_id: boundedText(text.pathId), reason: boundedText(text.withdrawalReason) }),
};

const act: Record<(typeof actions)[number], (visitor: Visitor, form: URLSearchParams) => Promise<Done>> = {
  async ask({ caller }, form) {
    await requestCredits(caller, fieldsOf(form, fields.ask).message);
    return 'asked';
  },
  async settings({ caller }, form) {
    await updateSettings(caller, { trackerTriggers: fieldsOf(form, fields.settings).tracker_triggers });
    return 'saved';
  },
  async plan({ caller }, form) {
    await updateSubscription(caller, { plan: fieldsOf(form, fields.plan).plan });
    return 'changed';
  },
  async cancel({ caller }) {
    await updateSubscription(caller, { cancelAtPeriodEnd: true });
    return 'changed';
  },
  async renew({ caller }) {
    await updateSubscription(caller, { cancelAtPeriodEnd: false });
    return 'changed';
  },
  async withdraw({ caller }, form) {
    const { order_id, reason } = fieldsOf(form, fields.withdraw);
    await withdrawOrder(caller, order_id, reason || null);
    return 'withdrawn';
  },
};

export const changeBilling: Handler = personsForm(async (exchange, visitor, form) => {
  const { do: action } = fieldsOf(form, z.object({ do: z.enum(actions) }));
  admit(visitor.caller, action === 'ask' ? 'missions:run' : 'billing:write');
  try {
    seeOther(exchange, `${billingAddress}?done=${await act[action](visitor, form)}`);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status === 404 || problem.status === 500) throw error;
    await answerBilling(exchange, visitor, { refused: problem });
  }
});

interface Outcome {
  said?: string | undefined;
  refused?: Problem;
}

async function answerBilling(exchange: Exchange, visitor: Visitor, { said, refused }: Outcome): Promise<void> {
  const { caller } = visitor;
  if (!caller.orgId) return answerWithoutOrganization(exchange, visitor);
  const mayRead = caller.scopes.has('billing:read');
  if (!mayRead) admit(caller, 'missions:run');
  const body = html`<h1>Billing</h1>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    ${refused && formError(refused.body.description)}
    ${mayRead ? await wholePage(visitor, caller.orgId) : requestCard(visitor)}`;
  return answerPage(exchange, refused?.status ?? 200, { title: 'Billing', body, visitor }, refused?.headers);
}

async function wholePage(visitor: Visitor, orgId: string): Promise<Html> {
  const { caller } = visitor;
  // It brings the ledger up to date; the others read what it left.
  const summary = await billingSummary(caller);
  const [{ lots }, orders, { data }, people] = await Promise.all([
    readPosition(orgId),
    listOrders(caller),
    listLedger(caller, { limit: 5 }),
    peopleOf(summary.openCreditRequest?.messages.map(({ userId }) => userId) ?? []),
  ]);
  const names = new Map(people.map(({ id, name }) => [id as string, name]));
  return html`${balanceCard(summary)}
    ${requestCard(visitor, summary, names)}
    ${summary.subscription && subscriptionCard(visitor, summary.subscription)}
    ${offersCard(visitor, summary)}
    ${orderList(visitor, orders, lots)}
    <section class="card" aria-labelledby="ledger"><h2 id="ledger">Ledger</h2>
      ${entriesTable(data)}
      <p><a href="${ledgerAddress}">All entries</a></p>
    </section>
    ${settingsCard(visitor, summary)}`;
}
