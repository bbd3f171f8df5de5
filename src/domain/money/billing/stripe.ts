// Stripe as the payment provider: its Checkout page takes the payment, its Billing renews subscriptions.
import Stripe from 'stripe';
import { seconds } from '#foundation/clock.ts';
import { type TeamPlanId, teamPlan } from './catalog.ts';
import type { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';
import { checkoutPage, type PaymentProvider } from './provider.ts';
import { isGone, translated } from './stripe-errors.ts';
import { currency, idOfStripe, itemOfSubscription, readStripeEvent } from './stripe-events.ts';

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  apiUrl: string;
}

type Change = Parameters<PaymentProvider['changeSubscription']>[1];

export function stripeProvider({ secretKey, webhookSecret, apiUrl }: StripeSettings): PaymentProvider {
  const { protocol, hostname, port } = new URL(apiUrl);
  const stripe = new Stripe(secretKey, {
    host: hostname,
    ...(port && { port }),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: seconds(10),
    maxNetworkRetries: 1,
    // Telemetry would store an id of this machine in the home folder.
    telemetry: false,
  });

  return {
    name: 'stripe',
    isTest: secretKey.includes('_test_'),
    renews: true,
    startCheckout: translated((checkout) => startCheckout(stripe, checkout)),
    refund: translated((order) => refund(stripe, order)),
    changeSubscription: translated((subscription, change) => changeSubscription(stripe, subscription, change)),
    endSubscription: translated((reference) => endSubscription(stripe, reference)),
    readEvent: translated((body, headers) => readStripeEvent(stripe, webhookSecret, body, headers)),
  };
}

/** The session of a checkout; a repeated call returns the same session. */
async function startCheckout(stripe: Stripe, checkout: BillingCheckout): Promise<{ url: string; reference: string }> {
  const metadata = { checkout_id: checkout.id, org_id: checkout.orgId };
  const page = await checkoutPage(checkout);
  const isTeam = checkout.teamPlan !== null;
  const session = await stripe.checkout.sessions.create(
    {
      mode: isTeam ? 'subscription' : 'payment',
      line_items: [lineOf(checkout)],
      client_reference_id: checkout.id,
      metadata,
      ...(isTeam ? { subscription_data: { metadata } } : { payment_intent_data: { metadata } }),
      success_url: page,
      cancel_url: page,
    },
    { idempotencyKey: checkout.id },
  );
  return { url: session.url!, reference: session.id };
}

/** Refunds an order; a repeated call refunds nothing, even after Stripe has forgotten the idempotency key. */
async function refund(stripe: Stripe, { id, payment, refundCents }: BillingOrder): Promise<void> {
  const payment_intent = payment.startsWith('in_') ? await intentOf(stripe, payment) : payment;
  const { data } = await stripe.refunds.list({ payment_intent, limit: 100 });
  const isOurs = ({ metadata, status }: Stripe.Refund) =>
    metadata?.order_id === id && status !== 'failed' && status !== 'canceled';
  if (data.some(isOurs)) return;
  await stripe.refunds.create(
    { payment_intent, amount: refundCents!, reason: 'requested_by_customer', metadata: { order_id: id } },
    { idempotencyKey: `refund_${id}` },
  );
}

async function intentOf(stripe: Stripe, invoice: string): Promise<string> {
  const { data } = await stripe.invoicePayments.list({ invoice, status: 'paid' });
  const intent = data.map(({ payment }) => payment.payment_intent).find((one) => one !== undefined);
  if (!intent) throw new Error(`Stripe has no payment for the invoice ${invoice}`);
  return idOfStripe(intent);
}

/** Changes the price from the next period on; the current period is not prorated. */
async function changeSubscription(
  stripe: Stripe,
  { reference }: BillingSubscription,
  { plan, cancelAtPeriodEnd }: Change,
) {
  const items = plan && [{ id: (await itemOfSubscription(stripe, reference)).id, price: await priceOf(stripe, plan) }];
  await stripe.subscriptions.update(reference, {
    ...(cancelAtPeriodEnd !== undefined && { cancel_at_period_end: cancelAtPeriodEnd }),
    ...(items && { items, proration_behavior: 'none' }),
  });
}

/**
 * Creates a price for the plan, at most once a day. Stripe requires a price object, because an update of a subscription accepts no inline
 * product.
 */
async function priceOf(stripe: Stripe, plan: TeamPlanId): Promise<string> {
  const { name, cents } = teamPlan(plan);
  const price = { currency, unit_amount: cents, recurring: { interval: 'month' as const }, product_data: { name } };
  return (await stripe.prices.create(price, { idempotencyKey: `price_${plan}_${cents}` })).id;
}

async function endSubscription(stripe: Stripe, reference: string): Promise<void> {
  try {
    await stripe.subscriptions.cancel(reference);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function lineOf({ teamPlan: plan, credits, quantity, amountCents }: BillingCheckout) {
  const name = plan ? teamPlan(plan).name : `${credits / quantity} credits`;
  const price_data = { currency, unit_amount: amountCents / quantity, product_data: { name } };
  return { quantity, price_data: plan ? { ...price_data, recurring: { interval: 'month' as const } } : price_data };
}
