// Applies payment events. Each event is applied once, in any order and however often it is delivered. An event that contradicts the
// stored records changes nothing and is refused, so that the provider delivers it again later.

import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { isOrganizationOpen, lockOrganization } from '../../organization/organizations/operations.ts';
import { grantCredits } from '../credits/grants.ts';
import { type TeamPlanId, teamPlan, teamPlans } from './catalog.ts';
import { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';
import { type PaymentEvent, providerNamed } from './provider.ts';
import { closeCreditRequest } from './requests.ts';
import { billing } from './terms.ts';

type Of<T extends PaymentEvent['type']> = Extract<PaymentEvent, { type: T }>;

const noteEventSql = `insert into billing_events (provider, event_id, type, at) values ($1, $2, $3, $4)
  on conflict do nothing returning event_id`;

/** Applies all changes of the event, or none. @throws 400 for an event that contradicts the stored records */
export const applyEvent = (provider: string, event: PaymentEvent): Promise<void> =>
  transaction(async (trx) => {
    const isNew = await sql(noteEventSql, [provider, event.id, event.type, event.at], trx);
    if (isNew.length === 0) return;
    if (event.type === 'checkout_paid') await completeCheckout(trx, provider, event);
    if (event.type === 'checkout_expired') await expireCheckout(trx, provider, event);
    if (event.type === 'subscription_paid') await renew(trx, provider, event);
    if (event.type === 'subscription_changed') await changeSubscription(trx, provider, event);
  });

const lockCheckout = async (trx: Transaction, provider: string, id: string): Promise<BillingCheckout> => {
  const checkout = await BillingCheckout.lock(trx, { id, provider });
  if (!checkout) throw invalid('The event names a checkout session that this provider does not have.');
  return checkout;
};

/** Completes a paid checkout, even if it has expired, because the customer has paid. */
async function completeCheckout(trx: Transaction, provider: string, event: Of<'checkout_paid'>): Promise<void> {
  const checkout = await lockCheckout(trx, provider, event.checkoutId);
  const { orgId, offer, teamPlan: plan, credits, amountCents, startsNow } = checkout;
  if (checkout.status === 'complete') return;
  if (event.orgId !== orgId) throw invalid('The event names a different organization than the checkout session.');
  if (event.amountCents !== amountCents) throw invalid('The event has a different amount than the checkout session.');
  if ((offer === 'team') !== (event.subscription !== null))
    throw invalid('The event does not match the offer: a team plan requires a subscription, and packs have none.');
  await BillingCheckout.patch(trx, { id: checkout.id }, { status: 'complete' });
  const order = { orgId, offer, teamPlan: plan, credits, amountCents, provider, payment: event.payment };
  if (plan && event.subscription) {
    const { reference, periodEnd } = event.subscription;
    await insertSubscription(trx, { orgId, plan, provider, reference, periodStart: now(), periodEnd, at: event.at });
  }
  await insertOrder(trx, order, { startsNow, expiresAt: event.subscription?.periodEnd ?? now() + billing.packMs });
}

async function expireCheckout(trx: Transaction, provider: string, event: Of<'checkout_expired'>): Promise<void> {
  const { id, status } = await lockCheckout(trx, provider, event.checkoutId);
  if (status === 'open') await BillingCheckout.patch(trx, { id }, { status: 'expired' });
}

type NewOrder = Pick<BillingOrder, 'orgId' | 'offer' | 'teamPlan' | 'credits' | 'amountCents' | 'provider' | 'payment'>;

/** Writes a paid order and its credits. Does nothing for a payment that already has an order. */
export async function insertOrder(
  trx: Transaction,
  order: NewOrder,
  { startsNow, expiresAt }: { startsNow: boolean; expiresAt: number },
): Promise<void> {
  const createdAt = now();
  const withdrawableUntil = createdAt + billing.withdrawalMs;
  const row = { id: newId('order'), ...order, status: 'paid' as const, createdAt, withdrawableUntil };
  await lockOrganization(trx, order.orgId);
  const isLate = !(await isOrganizationOpen(trx, order.orgId));
  const isNew = await BillingOrder.insertNew(trx, isLate ? { ...row, ...refundedInFull(row) } : row);
  if (!isNew || isLate) return;
  // Without consent to an immediate start, the credits become valid when the order can no longer be withdrawn, and keep their full
  // duration.
  const startsAt = startsNow ? null : withdrawableUntil;
  const lot = {
    kind: order.offer === 'pack' ? ('pack' as const) : ('subscription' as const),
    orderId: row.id,
    startsAt,
    expiresAt: startsNow ? expiresAt : expiresAt + billing.withdrawalMs,
  };
  const note = order.teamPlan ? `Plan ${teamPlan(order.teamPlan).name}` : 'Credit pack';
  await grantCredits(trx, order.orgId, { lot, credits: order.credits, note });
  await closeCreditRequest(trx, order.orgId);
}

/** A payment for an organization that has been closed adds no credits; the provider refunds the payment. */
const refundedInFull = ({ amountCents, createdAt }: Pick<BillingOrder, 'amountCents' | 'createdAt'>) => ({
  status: 'withdrawn' as const,
  withdrawnAt: createdAt,
  withdrawalReason: 'Paid after the organization was closed.',
  refundCents: amountCents,
});

interface NewSubscription {
  orgId: BillingSubscription['orgId'];
  plan: TeamPlanId;
  provider: string;
  reference: string;
  periodStart: number;
  periodEnd: number;
  at: number;
}

async function insertSubscription(
  trx: Transaction,
  { periodEnd, at, ...subscription }: NewSubscription,
): Promise<void> {
  // If the organization was closed, the payment will be refunded. The subscription is then stored as canceled, so that the provider ends it
  // when it refunds the payment.
  await lockOrganization(trx, subscription.orgId);
  const status = (await isOrganizationOpen(trx, subscription.orgId)) ? ('active' as const) : ('canceled' as const);
  const row = {
    id: newId('subscription'),
    ...subscription,
    status,
    currentPeriodEnd: periodEnd,
    eventAt: at,
    createdAt: now(),
  };
  if (await BillingSubscription.insertNew(trx, row)) return;
  // If the organization paid two checkouts for a subscription, the second payment becomes an order, and the first subscription is kept. The
  // provider is asked to end the second subscription before this transaction commits. If that call fails, nothing is committed, and the
  // provider delivers the event again.
  await BillingSubscription.insert(trx, { ...row, status: 'canceled' });
  await providerNamed(row.provider)?.endSubscription(row.reference);
}

const lockSubscription = async (
  trx: Transaction,
  provider: string,
  reference: string,
): Promise<BillingSubscription> => {
  const subscription = await BillingSubscription.lock(trx, { provider, reference });
  if (!subscription) throw invalid('The event names a subscription that is not known yet.');
  return subscription;
};

/** Renews the subscription. The paid amount determines the plan of the new period. */
async function renew(trx: Transaction, provider: string, event: Of<'subscription_paid'>): Promise<void> {
  const subscription = await lockSubscription(trx, provider, event.reference);
  const paid = teamPlans.find(({ cents }) => cents === event.amountCents);
  if (!paid) throw invalid('The event names an amount that is not the price of a plan.');
  const { orgId } = subscription;
  const { periodStart, periodEnd, amountCents, payment } = event;
  if (periodEnd > subscription.currentPeriodEnd) {
    await BillingSubscription.patch(
      trx,
      { id: subscription.id },
      { plan: paid.plan, nextPlan: null, periodStart, currentPeriodEnd: periodEnd },
    );
  }
  const order = {
    orgId,
    offer: 'team' as const,
    teamPlan: paid.plan,
    credits: paid.credits,
    amountCents,
    provider,
    payment,
  };
  await insertOrder(trx, order, { startsNow: true, expiresAt: periodEnd });
}

async function changeSubscription(
  trx: Transaction,
  provider: string,
  event: Of<'subscription_changed'>,
): Promise<void> {
  const { id, eventAt, status } = await lockSubscription(trx, provider, event.reference);
  if (event.at < eventAt || status === 'canceled') return;
  await BillingSubscription.patch(trx, { id }, { status: event.status, eventAt: event.at });
}

const dueSql = `select id from billing_subscriptions
  where status <> 'canceled' and current_period_end <= $1 and provider = 'builtin'
    and ${isWritableSql('billing_subscriptions.org_id')} order by current_period_end limit 50`;

/** Renews the subscriptions of the built-in provider when their period has ended, or ends them if they were canceled. */
export async function renewTestSubscriptions(): Promise<void> {
  const due = await sql<Pick<BillingSubscription, 'id'>>(dueSql, [now()]);
  for (const { id } of due) await transaction((trx) => renewOne(trx, id));
}

async function renewOne(trx: Transaction, id: BillingSubscription['id']): Promise<void> {
  const found = await BillingSubscription.lock(trx, { id });
  if (!found || found.status === 'canceled' || found.currentPeriodEnd > now()) return;
  if (found.status === 'canceling') {
    await BillingSubscription.patch(trx, { id }, { status: 'canceled', eventAt: now() });
    return;
  }
  // After downtime of the service, periods that it missed are skipped: nobody could use the service then.
  const periodStart = Math.max(found.currentPeriodEnd, now() - billing.periodMs + 1);
  const { cents } = teamPlan(found.nextPlan ?? found.plan);
  await renew(trx, found.provider, {
    id: '',
    at: now(),
    type: 'subscription_paid',
    reference: found.reference,
    payment: `${found.reference}_${found.currentPeriodEnd}`,
    amountCents: cents,
    periodStart,
    periodEnd: periodStart + billing.periodMs,
  });
}
