// Checkouts: an organization chooses an offer, and the provider takes the payment and reports it with an event.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { type CheckoutOffer, type Price, pack, type TeamPlanId, teamPlan } from './catalog.ts';
import { applyEvent } from './events.ts';
import { BillingCheckout } from './model.ts';
import { builtinProvider, paymentProvider, testPayment } from './provider.ts';
import { currentSubscription } from './subscription.ts';
import { billing } from './terms.ts';

export interface NewCheckout {
  offer: CheckoutOffer;
  quantity?: number | null | undefined;
  teamPlan?: TeamPlanId | null | undefined;
  startNowConsent?: boolean | null | undefined;
}

/**
 * Creates a checkout and its payment page at the provider. If a client repeats the request with the same idempotency key before it gets an
 * answer, the repeated request continues with the same checkout and page. @throws 400 for fields that do not belong to the offer, 409 while
 * a subscription is not canceled
 */
export async function createCheckout(caller: Caller, input: NewCheckout): Promise<{ checkoutId: string; url: string }> {
  const orgId = wholeOrganization(caller);
  // The transaction with the checkout ends before the payment provider is called. If that call fails, the checkout stays unpaid and
  // expires.
  const checkoutId = await firstStep(() => insertCheckout(caller, orgId, input));
  const checkout = await BillingCheckout.get({ id: checkoutId as BillingCheckout['id'], orgId });
  const { url, reference } = await paymentProvider().startCheckout(checkout);
  await sql('update billing_checkouts set reference = $2 where id = $1', [checkout.id, reference]);
  return { checkoutId: checkout.id, url };
}

async function insertCheckout(
  { userId }: Caller,
  orgId: BillingCheckout['orgId'],
  input: NewCheckout,
): Promise<BillingCheckout['id']> {
  const { credits, cents } = priceOf(input);
  if (input.offer === 'team') await refuseSecondSubscription(orgId);
  const createdAt = now();
  const checkout: BillingCheckout = {
    id: newId('checkout'),
    orgId,
    offer: input.offer,
    quantity: input.quantity ?? 1,
    teamPlan: input.teamPlan ?? null,
    credits,
    amountCents: cents,
    startsNow: input.startNowConsent === true,
    status: 'open',
    provider: paymentProvider().name,
    reference: null,
    createdByUserId: userId,
    createdAt,
    expiresAt: createdAt + billing.checkoutMs,
  };
  await transaction((trx) => BillingCheckout.insert(trx, checkout));
  return checkout.id;
}

function priceOf({ offer, quantity, teamPlan: plan }: NewCheckout): Price {
  if (offer === 'team') {
    if (!plan) throw invalid.field('teamPlan', 'is required for the offer team');
    if (quantity != null && quantity !== 1) throw invalid.field('quantity', 'must be 1 for the offer team');
    return teamPlan(plan);
  }
  if (plan) throw invalid.field('teamPlan', 'is allowed only with the offer team');
  const count = quantity ?? 1;
  return { credits: pack.credits * count, cents: pack.cents * count };
}

async function refuseSecondSubscription(orgId: string): Promise<void> {
  if (await currentSubscription(orgId))
    throw conflict.field(
      'offer',
      'the organization already has a subscription; change its plan with PATCH /billing/subscription',
    );
}

/** Returns an unpaid checkout as expired once its deadline has passed, even if the provider has not reported that. */
export async function findCheckout(caller: Caller, id: string): Promise<BillingCheckout> {
  const checkout = await BillingCheckout.get({ id: id as BillingCheckout['id'], orgId: wholeOrganization(caller) });
  const isExpired = checkout.status === 'open' && checkout.expiresAt <= now();
  return isExpired ? { ...checkout, status: 'expired' } : checkout;
}

/**
 * Pays a checkout of the built-in provider. Repeating the payment creates no second order. @throws 409 for an expired checkout, and for a
 * checkout of another provider
 */
export async function payInTestMoney(caller: Caller, id: string): Promise<void> {
  const checkout = await findCheckout(caller, id);
  if (checkout.provider !== builtinProvider.name)
    throw conflict('The checkout session belongs to another payment provider.');
  if (checkout.status === 'expired') throw conflict('The checkout session has expired. Create another one.');
  await applyEvent(checkout.provider, testPayment(checkout, now() + billing.periodMs));
}
