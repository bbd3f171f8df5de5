// The end of what an organization bought, when it closes: its subscription ends at once, and orders within their window of
// withdrawal are withdrawn.

import { now } from '#foundation/clock.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { withdrawCredits } from '../credits/grants.ts';
import { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';
import { providerNamed } from './provider.ts';
import { refundOf } from './withdrawal.ts';

type OrgId = BillingOrder['orgId'];

/**
 * Ends the subscription and the open checkouts. The subscription that ended, or null when there was none. The provider is called
 * first; repeated, it ends the subscription once. @throws when the settings of its provider were removed
 */
export async function endSubscriptionOf(trx: Transaction, orgId: OrgId): Promise<Row<BillingSubscription> | null> {
  await BillingCheckout.query(trx).where({ orgId, status: 'open' }).patch({ status: 'expired' });
  const current = await BillingSubscription.query(trx)
    .where({ orgId })
    .whereNot({ status: 'canceled' })
    .first()
    .forUpdate();
  if (!current) return null;
  const provider = providerNamed(current.provider);
  if (!provider) throw new Error(`the payment provider ${current.provider} of ${current.id} is not set up`);
  await provider.endSubscription(current.reference);
  await BillingSubscription.query(trx).findById(current.id).patch({ status: 'canceled', eventAt: now() });
  return current;
}

/** Withdraws what could be withdrawn at that time; the sum of the refunds, in cents. The provider refunds afterwards. */
export async function withdrawOrdersOf(trx: Transaction, orgId: OrgId, at: number, reason: string): Promise<number> {
  const orders = await BillingOrder.query(trx)
    .where({ orgId, status: 'paid' })
    .where('withdrawableUntil', '>=', at)
    .orderBy('id')
    .forUpdate();
  let refunded = 0;
  for (const order of orders) {
    const reversed = await withdrawCredits(trx, orgId, order.id, reason);
    if (reversed === 0) continue;
    const refundCents = refundOf(order, reversed);
    refunded += refundCents;
    await BillingOrder.query(trx)
      .findById(order.id)
      .patch({ status: 'withdrawn', withdrawnAt: now(), withdrawalReason: reason, refundCents });
  }
  return refunded;
}
