// Stripe as the payment provider: its Checkout page takes the payment, its Billing renews subscriptions. An event only says what
// to read: payloads have the API version of their endpoint, may be late, and come in any order.
import Stripe from 'stripe';
import { now, seconds } from '#foundation/clock.ts';
import { invalid } from '#foundation/problem.ts';
import { type TeamPlanId, teamPlan } from './catalog.ts';
import type { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';
import { checkoutPage, type PaymentEvent, type PaymentProvider } from './provider.ts';
import { isGone, translated } from './stripe-errors.ts';

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  apiUrl: string;
}

/** The oldest event that counts, in seconds: Stripe signs each delivery anew. */
const toleranceSeconds = 300;
const currency = 'usd';

type Change = Parameters<PaymentProvider['changeSubscription']>[1];
type EventContent = PaymentEvent extends infer E ? (E extends PaymentEvent ? Omit<E, 'id' | 'at'> : never) : never;
const ignored: EventContent = { type: 'ignored' };

export function stripeProvider({ secretKey, webhookSecret, apiUrl }: StripeSettings): PaymentProvider {
  const { protocol, hostname, port } = new URL(apiUrl);
  const stripe = new Stripe(secretKey, {
    host: hostname,
    ...(port && { port }),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: seconds(10),
    maxNetworkRetries: 1,
    // It would keep an id of this machine in the home folder.
    telemetry: false,
  });

  /** The session of a checkout; repeated for the same one it is the same session. */
  async function startCheckout(checkout: BillingCheckout): Promise<{ url: string; reference: string }> {
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

  /** Repeated for the same order it refunds once, also after Stripe has forgotten the idempotency key. */
  async function refund({ id, payment, refundCents }: BillingOrder): Promise<void> {
    const payment_intent = payment.startsWith('in_') ? await intentOf(payment) : payment;
    const { data } = await stripe.refunds.list({ payment_intent, limit: 100 });
    const isOurs = ({ metadata, status }: Stripe.Refund) =>
      metadata?.order_id === id && status !== 'failed' && status !== 'canceled';
    if (data.some(isOurs)) return;
    await stripe.refunds.create(
      { payment_intent, amount: refundCents!, reason: 'requested_by_customer', metadata: { order_id: id } },
      { idempotencyKey: `refund_${id}` },
    );
  }

  async function intentOf(invoice: string): Promise<string> {
    const { data } = await stripe.invoicePayments.list({ invoice, status: 'paid' });
    const intent = data.map(({ payment }) => payment.payment_intent).find((one) => one !== undefined);
    if (!intent) throw new Error(`Stripe has no payment of the invoice ${invoice}`);
    return idOf(intent);
  }

  /** The price of the next period changes; this one is not prorated. */
  async function changeSubscription({ reference }: BillingSubscription, { plan, cancelAtPeriodEnd }: Change) {
    const items = plan && [{ id: (await itemOf(reference)).id, price: await priceOf(plan) }];
    await stripe.subscriptions.update(reference, {
      ...(cancelAtPeriodEnd !== undefined && { cancel_at_period_end: cancelAtPeriodEnd }),
      ...(items && { items, proration_behavior: 'none' }),
    });
  }

  const itemOf = async (reference: string) => (await stripe.subscriptions.retrieve(reference)).items.data[0]!;

  /** An update of a subscription takes no inline product, so the price is created first; once a day at most. */
  async function priceOf(plan: TeamPlanId): Promise<string> {
    const { name, cents } = teamPlan(plan);
    const price = { currency, unit_amount: cents, recurring: { interval: 'month' as const }, product_data: { name } };
    return (await stripe.prices.create(price, { idempotencyKey: `price_${plan}_${cents}` })).id;
  }

  async function endSubscription(reference: string): Promise<void> {
    try {
      await stripe.subscriptions.cancel(reference);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  async function readEvent(body: Buffer, headers: Record<string, unknown>): Promise<PaymentEvent> {
    const event = verify(body, headers['stripe-signature']);
    return { id: event.id, at: event.created * 1_000, ...(await read(event)) };
  }

  function verify(body: Buffer, signature: unknown): Stripe.Event {
    try {
      const signed = typeof signature === 'string' ? signature : '';
      return stripe.webhooks.constructEvent(body, signed, webhookSecret, toleranceSeconds, undefined, now());
    } catch {
      throw invalid.field('stripe-signature', 'does not match the event, or is too old');
    }
  }

  async function read({ type, data }: Stripe.Event): Promise<EventContent> {
    const { id } = data.object as { id: string };
    if (type === 'checkout.session.completed' || type === 'checkout.session.async_payment_succeeded') return paid(id);
    if (type === 'checkout.session.expired' || type === 'checkout.session.async_payment_failed') {
      const checkoutId = (await stripe.checkout.sessions.retrieve(id)).metadata?.checkout_id;
      return checkoutId ? { type: 'checkout_expired', checkoutId } : ignored;
    }
    if (type === 'invoice.paid') return renewed(id);
    if (type === 'customer.subscription.updated' || type === 'customer.subscription.deleted') return changed(id);
    return ignored;
  }

  async function paid(id: string): Promise<EventContent> {
    const session = await stripe.checkout.sessions.retrieve(id);
    const { metadata, payment_status, amount_total, payment_intent, invoice, subscription } = session;
    if (!metadata?.checkout_id || payment_status !== 'paid') return ignored;
    requireCurrency(session.currency);
    const reference = subscription && idOf(subscription);
    return {
      type: 'checkout_paid',
      checkoutId: metadata.checkout_id,
      orgId: metadata.org_id ?? '',
      amountCents: amount_total ?? 0,
      payment: idOf((reference ? invoice : payment_intent)!),
      subscription: reference ? { reference, periodEnd: (await itemOf(reference)).current_period_end * 1_000 } : null,
    };
  }

  /** The first invoice of a subscription is paid with its checkout. */
  async function renewed(id: string): Promise<EventContent> {
    const invoice = await stripe.invoices.retrieve(id);
    const of = invoice.parent?.subscription_details;
    if (!of?.metadata?.checkout_id || invoice.billing_reason !== 'subscription_cycle' || invoice.status !== 'paid')
      return ignored;
    requireCurrency(invoice.currency);
    const { start, end } = invoice.lines.data[0]!.period;
    return {
      type: 'subscription_paid',
      reference: idOf(of.subscription),
      payment: id,
      amountCents: invoice.total,
      periodStart: start * 1_000,
      periodEnd: end * 1_000,
    };
  }

  async function changed(id: string): Promise<EventContent> {
    const subscription = await stripe.subscriptions.retrieve(id);
    if (!subscription.metadata.checkout_id) return ignored;
    return {
      type: 'subscription_changed',
      reference: id,
      status: statusOf(subscription),
      periodEnd: subscription.items.data[0]!.current_period_end * 1_000,
    };
  }

  return {
    name: 'stripe',
    isTest: secretKey.includes('_test_'),
    renews: true,
    startCheckout: translated(startCheckout),
    refund: translated(refund),
    changeSubscription: translated(changeSubscription),
    endSubscription: translated(endSubscription),
    readEvent: translated(readEvent),
  };
}

const idOf = (one: string | { id: string }): string => (typeof one === 'string' ? one : one.id);

/** @throws 400: prices are in US dollars */
function requireCurrency(sent: string | null): void {
  if (sent !== currency) throw invalid(`The event names an amount in another currency than ${currency}.`);
}

function lineOf({ teamPlan: plan, credits, quantity, amountCents }: BillingCheckout) {
  const name = plan ? teamPlan(plan).name : `${credits / quantity} credits`;
  const price_data = { currency, unit_amount: amountCents / quantity, product_data: { name } };
  return { quantity, price_data: plan ? { ...price_data, recurring: { interval: 'month' as const } } : price_data };
}

/** One that Stripe tries to charge again is active: what it has not paid for, it does not get. */
function statusOf({ status, cancel_at, cancel_at_period_end }: Stripe.Subscription): BillingSubscription['status'] {
  if (status === 'canceled' || status === 'unpaid' || status === 'incomplete_expired') return 'canceled';
  return cancel_at_period_end || cancel_at !== null ? 'canceling' : 'active';
}
