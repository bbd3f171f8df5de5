// An organization's changes to its subscription. The provider is updated first, because it collects the payments.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict } from '#foundation/problem.ts';
import type { TeamPlanId } from './catalog.ts';
import { BillingSubscription } from './model.ts';
import { providerNamed } from './provider.ts';

/** The subscription that is not canceled. */
export async function currentSubscription(orgId: string): Promise<BillingSubscription | null> {
  const all = await BillingSubscription.findAll({ orgId: orgId as BillingSubscription['orgId'] });
  return all.find(({ status }) => status !== 'canceled') ?? null;
}

export interface SubscriptionChanges {
  plan?: TeamPlanId | null | undefined;
  cancelAtPeriodEnd?: boolean | null | undefined;
}

/**
 * Changes the plan, or sets whether the subscription ends with its current period. A new plan, and its price, apply from the start of the next
 * period. @throws 409 without a subscription
 */
export async function updateSubscription(
  caller: Caller,
  { plan, cancelAtPeriodEnd }: SubscriptionChanges,
): Promise<BillingSubscription> {
  const current = await currentSubscription(wholeOrganization(caller));
  const provider = current && providerNamed(current.provider);
  if (!current || !provider)
    throw conflict('The organization has no subscription. Buy one with POST /billing/checkout-sessions.');
  const change = { ...(plan && { plan }), ...(cancelAtPeriodEnd != null && { cancelAtPeriodEnd }) };
  if (Object.keys(change).length === 0) return current;
  await releaseTransaction();
  await provider.changeSubscription(current, change);
  const patch = {
    ...(plan && { nextPlan: plan === current.plan ? null : plan }),
    ...(cancelAtPeriodEnd != null && { status: cancelAtPeriodEnd ? ('canceling' as const) : ('active' as const) }),
  };
  return transaction(async (trx) => {
    const [changed] = await BillingSubscription.query(trx)
      .where({ id: current.id })
      .whereNot({ status: 'canceled' })
      .patch(patch)
      .returning([...BillingSubscription.columns] as never);
    if (!changed) throw conflict('The subscription has ended.');
    return changed;
  });
}
