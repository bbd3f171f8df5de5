// Withdrawal from an order within its legal window: unspent credits are taken back, and their share of the price is refunded, rounded up to
// the cent. The order and the ledger change in one transaction. Afterwards the provider is asked to refund, repeatedly until it accepts.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, wholeOrganization } from '#access/reach.ts';
import { isoTime, now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { credit, creditsOf } from '../credits/amounts.ts';
import { withdrawCredits } from '../credits/grants.ts';
import { type OpenLot, readLots } from '../credits/ledger.ts';
import { BillingOrder, BillingSubscription } from './model.ts';
import { providerNamed } from './provider.ts';

export interface Withdrawal {
  orderId: string;
  submittedAt: number;
  /** Number of credits taken back, rounded down; the ledger has the exact amount. */
  creditsReversed: number;
  refundUsd: number;
  status: 'completed';
}

/** The price of the unspent credits of an order, in cents. @param unspent The unspent credits, in millionths of a credit */
export const refundOf = (
  { amountCents, credits }: Pick<BillingOrder, 'amountCents' | 'credits'>,
  unspent: number,
): number => Number((BigInt(amountCents) * BigInt(unspent) + BigInt(credits * credit) - 1n) / BigInt(credits * credit));

export interface Withdrawable {
  credits: number;
  refundUsd: number;
}

/** The remaining credits of each of the caller's orders. */
export const unspentOf = async (orderIds: readonly string[], caller: Caller): Promise<OpenLot[]> =>
  (await readLots(ownOrganization(caller))).filter(({ orderId }) => orderId !== null && orderIds.includes(orderId));

/** Why the customer cannot withdraw from the order, regardless of the remaining credits; null when nothing forbids it. */
function refusalOf({ status, withdrawableUntil, createdAt }: BillingOrder): string | null {
  if (status === 'withdrawn') return 'The order has already been withdrawn.';
  if (withdrawableUntil !== null && now() <= withdrawableUntil) return null;
  return `The order could be withdrawn until ${isoTime(withdrawableUntil ?? createdAt)}.`;
}

/** The result that a withdrawal would have now; null when it would be refused. */
export function withdrawable(order: BillingOrder, lot: OpenLot | null): Withdrawable | null {
  if (refusalOf(order) !== null || !lot?.available) return null;
  return { credits: creditsOf(lot.available), refundUsd: refundOf(order, lot.available) / 100 };
}

/**
 * Withdraws from an order. Credits reserved by running missions are not taken back. A withdrawal from the order of a subscription's current
 * period ends the subscription.
 * @throws 409 after the window, for a second withdrawal, and when all credits are spent
 */
export const withdrawOrder = (caller: Caller, id: string, reason: string | null): Promise<Withdrawal> => {
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    const order = await BillingOrder.lock(trx, { id, orgId });
    if (!order) BillingOrder.refuse();
    const refusal = refusalOf(order);
    if (refusal !== null) throw conflict(refusal);
    const at = now();
    const reversed = await withdrawCredits(trx, orgId, order.id, 'Withdrawal from the order.');
    if (reversed === 0) throw conflict('All credits of the order are spent, or reserved by missions that are running.');
    const refundCents = refundOf(order, reversed);
    await BillingOrder.patch(
      trx,
      { id: order.id },
      { status: 'withdrawn', withdrawnAt: at, withdrawalReason: reason, refundCents },
    );
    if (order.offer === 'team') await endSubscriptionOf(trx, order);
    return {
      orderId: order.id,
      submittedAt: at,
      creditsReversed: Math.floor(reversed / credit),
      refundUsd: refundCents / 100,
      status: 'completed' as const,
    };
  });
};

async function endSubscriptionOf(trx: Transaction, order: BillingOrder): Promise<void> {
  const newest = await BillingOrder.query(trx)
    .where({ orgId: order.orgId, offer: 'team' })
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .first();
  if (newest?.id !== order.id) return;
  await BillingSubscription.query(trx)
    .where({ orgId: order.orgId, provider: order.provider })
    .whereNot({ status: 'canceled' })
    .patch({ status: 'canceled', eventAt: now() });
}

/** Whether a refund of the organization is not yet accepted by its provider. */
export const awaitsRefund = async (orgId: BillingOrder['orgId']): Promise<boolean> =>
  (await BillingOrder.find({ orgId, status: 'withdrawn', refundedAt: null })) !== undefined;

const pendingSql = `select ${columnsOf(BillingOrder)} from billing_orders
  where status = 'withdrawn' and refunded_at is null and ${isWritableSql('billing_orders.org_id')} order by withdrawn_at limit 500`;
const endedSql = `select reference from billing_subscriptions
  where org_id = $1 and provider = $2 and status = 'canceled' and current_period_end > $3`;

/** Asks the providers to refund withdrawn orders, and to end the subscriptions of those orders. @throws when a provider did not accept */
export async function sendRefunds(): Promise<void> {
  const errors: unknown[] = [];
  for (const order of await sql<BillingOrder>(pendingSql)) {
    try {
      // If the payment provider of the order is not configured, the order is skipped, and refunded once the provider is configured again.
      const provider = providerNamed(order.provider);
      if (!provider) continue;
      if (order.refundCents! > 0) await provider.refund(order);
      if (order.offer === 'team') {
        const ended = await sql<{ reference: string }>(endedSql, [order.orgId, order.provider, now()]);
        for (const { reference } of ended) await provider.endSubscription(reference);
      }
      await sql('update billing_orders set refunded_at = $2 where id = $1 and refunded_at is null', [order.id, now()]);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new Error(`${errors.length} refunds were not accepted`, { cause: errors[0] });
}
