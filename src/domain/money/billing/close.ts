// The end of an organization's purchases when it closes: the subscription ends at once, and orders within their withdrawal window are
// withdrawn.

import { now } from '#foundation/clock.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { withdrawCredits } from '../credits/grants.ts';
import { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';
import { providerNamed } from './provider.ts';
import { currentSubscription } from './subscription.ts';
import { refundOf } from './withdrawal.ts';

type OrgId = BillingOrder['orgId'];

/**
 * Ends the subscription at its provider, outside any transaction; a repeated call changes nothing. Returns the provider's id of the
 * subscription, or null without one. @throws when the settings of its provider were removed
 */
export async function endAtProvider(orgId: OrgId): Promise<string | null> {
  const current = await currentSubscription(orgId);
  if (!current) return null;
  const provider = providerNamed(current.provider);
  if (!provider)
    throw new Error(`the payment provider ${current.provider} of the subscription ${current.id} is not configured`);
  await releaseTransaction();
  await provider.endSubscription(current.reference);
  return current.reference;
}

/**
 * Expires the open checkouts, and marks the subscription as canceled after it has ended at its provider. Returns the subscription, or null
 * without one.
 * @throws when another subscription has begun in the meantime
 */
export async function endSubscriptionOf(
  trx: Transaction,
  orgId: OrgId,
  ended: string | null,
): Promise<BillingSubscription | null> {
  await BillingCheckout.patch(trx, { orgId, status: 'open' }, { status: 'expired' });
  const current = await BillingSubscription.query(trx)
    .where({ orgId })
    .whereNot({ status: 'canceled' })
    .first()
    .forUpdate();
  if (!current) return null;
  if (current.reference !== ended) throw new Error(`the subscription ${current.id} has not ended at its provider`);
  await BillingSubscription.patch(trx, { id: current.id }, { status: 'canceled', eventAt: now() });
  return current;
}

/**
 * Withdraws from the orders whose withdrawal window was still open when the organization was closed. Returns the sum of the refunds, in
 * cents. The provider pays the refunds afterwards.
 */
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
    await BillingOrder.patch(
      trx,
      { id: order.id },
      { status: 'withdrawn', withdrawnAt: now(), withdrawalReason: reason, refundCents },
    );
  }
  return refunded;
}
