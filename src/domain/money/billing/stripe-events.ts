// Events from Stripe. An event only says which records to read from Stripe, because payloads have the API version of their endpoint, may be
// late, and arrive in any order.
import type Stripe from 'stripe';
import { now } from '#foundation/clock.ts';
import { invalid } from '#foundation/problem.ts';
import type { BillingSubscription } from './model.ts';
import type { PaymentEvent } from './provider.ts';

/** Maximum age of an event's signature, in seconds. Stripe signs each delivery anew. */
const toleranceSeconds = 300;
/** Currency of all prices. */
export const currency = 'usd';

type EventContent = PaymentEvent extends infer E ? (E extends PaymentEvent ? Omit<E, 'id' | 'at'> : never) : never;
const ignored: EventContent = { type: 'ignored' };

export async function readStripeEvent(
  stripe: Stripe,
  webhookSecret: string,
  body: Buffer,
  headers: Record<string, unknown>,
): Promise<PaymentEvent> {
  const event = verify(stripe, webhookSecret, body, headers['stripe-signature']);
  return { id: event.id, at: event.created * 1_000, ...(await read(stripe, event)) };
}

function verify(stripe: Stripe, webhookSecret: string, body: Buffer, signature: unknown): Stripe.Event {
  try {
    const signed = typeof signature === 'string' ? signature : '';
    return stripe.webhooks.constructEvent(body, signed, webhookSecret, toleranceSeconds, undefined, now());
  } catch {
    throw invalid.field('stripe-signature', 'does not match the event, or is too old');
  }
}

async function read(stripe: Stripe, { type, data }: Stripe.Event): Promise<EventContent> {
  const { id } = data.object as { id: string };
  if (type === 'checkout.session.completed' || type === 'checkout.session.async_payment_succeeded')
    return paid(stripe, id);
  if (type === 'checkout.session.expired' || type === 'checkout.session.async_payment_failed') {
    const checkoutId = (await stripe.checkout.sessions.retrieve(id)).metadata?.checkout_id;
    return checkoutId ? { type: 'checkout_expired', checkoutId } : ignored;
  }
  if (type === 'invoice.paid') return renewed(stripe, id);
  if (type === 'customer.subscription.updated' || type === 'customer.subscription.deleted') return changed(stripe, id);
  return ignored;
}

async function paid(stripe: Stripe, id: string): Promise<EventContent> {
  const session = await stripe.checkout.sessions.retrieve(id);
  const { metadata, payment_status, amount_total, payment_intent, invoice, subscription } = session;
  if (!metadata?.checkout_id || payment_status !== 'paid') return ignored;
  requireCurrency(session.currency);
  const reference = subscription && idOfStripe(subscription);
  return {
    type: 'checkout_paid',
    checkoutId: metadata.checkout_id,
    orgId: metadata.org_id ?? '',
    amountCents: amount_total ?? 0,
    payment: idOfStripe((reference ? invoice : payment_intent)!),
    subscription: reference
      ? { reference, periodEnd: (await itemOfSubscription(stripe, reference)).current_period_end * 1_000 }
      : null,
  };
}

/** Ignores the first invoice of a subscription, because it is paid with the checkout. */
async function renewed(stripe: Stripe, id: string): Promise<EventContent> {
  const invoice = await stripe.invoices.retrieve(id);
  const of = invoice.parent?.subscription_details;
  if (!of?.metadata?.checkout_id || invoice.billing_reason !== 'subscription_cycle' || invoice.status !== 'paid')
    return ignored;
  requireCurrency(invoice.currency);
  const { start, end } = invoice.lines.data[0]!.period;
  return {
    type: 'subscription_paid',
    reference: idOfStripe(of.subscription),
    payment: id,
    amountCents: invoice.total,
    periodStart: start * 1_000,
    periodEnd: end * 1_000,
  };
}

async function changed(stripe: Stripe, id: string): Promise<EventContent> {
  const subscription = await stripe.subscriptions.retrieve(id);
  if (!subscription.metadata.checkout_id) return ignored;
  return {
    type: 'subscription_changed',
    reference: id,
    status: statusOf(subscription),
    periodEnd: subscription.items.data[0]!.current_period_end * 1_000,
  };
}

/** A subscription counts as active while Stripe retries its payment, because unpaid periods add no credits anyway. */
function statusOf({ status, cancel_at, cancel_at_period_end }: Stripe.Subscription): BillingSubscription['status'] {
  if (status === 'canceled' || status === 'unpaid' || status === 'incomplete_expired') return 'canceled';
  return cancel_at_period_end || cancel_at !== null ? 'canceling' : 'active';
}

export const itemOfSubscription = async (stripe: Stripe, reference: string): Promise<Stripe.SubscriptionItem> =>
  (await stripe.subscriptions.retrieve(reference)).items.data[0]!;

export const idOfStripe = (one: string | { id: string }): string => (typeof one === 'string' ? one : one.id);

/** Checks the currency of a payment. @throws 400 for a currency other than US dollars */
function requireCurrency(sent: string | null): void {
  if (sent !== currency) throw invalid(`The event names an amount in a currency other than ${currency}.`);
}
