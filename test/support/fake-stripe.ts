// Stripe as a loopback server, as far as the service uses it: reads the form-encoded requests of the official library, checks them
// against Stripe's published parameters (stripe-shapes.ts), keeps responses by idempotency key, and signs events like Stripe.
import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import type { StripeSettings } from '#domain/money/billing/stripe.ts';
import { type Asked, openStandIn, type Reply, type Violate } from './fake-vendor.ts';
import {
  type Invoice,
  type Payment,
  type Price,
  parseForm,
  type Session,
  type StripeEvent,
  type Subscription,
  shapes,
} from './stripe-shapes.ts';
import { present } from './world.ts';

export const keys = { secretKey: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc', webhookSecret: 'whsec_KYzZ3vLqyq9TzGZ3' };

export type FakeStripe = Awaited<ReturnType<typeof openStripe>>;

const secondsNow = (): number => Math.floor(present() / 1_000);
const month = 30 * 24 * 3_600;

export async function openStripe() {
  const sessions = new Map<string, Session>();
  const subscriptions = new Map<string, Subscription>();
  const invoices = new Map<string, Invoice>();
  /** Payments by payment intent. */
  const payments = new Map<string, Payment>();
  /** Payment intents by invoice. */
  const paidBy = new Map<string, string>();
  const prices = new Map<string, Price>();
  const answered = new Map<string, { request: string; reply: Reply }>();
  let count = 0;
  const newId = (prefix: string): string => `${prefix}_${String(++count).padStart(14, '0')}`;

  const standIn = await openStandIn(
    async (asked, violate) => {
      if (asked.headers.authorization !== `Bearer ${keys.secretKey}`) return failure(401, 'invalid_request_error');
      if (asked.headers['stripe-version'] !== Stripe.API_VERSION) violate('names no version');
      const key = asked.headers['idempotency-key'];
      if (asked.method !== 'POST' || typeof key !== 'string') return answer(asked, violate);
      const request = `${asked.url}?${asked.body}`;
      const earlier = answered.get(key);
      if (earlier?.request === request) return { ...earlier.reply, headers: { 'idempotent-replayed': 'true' } };
      if (earlier) return failure(400, 'idempotency_error');
      const reply = answer(asked, violate);
      answered.set(key, { request, reply });
      return reply;
    },
    ({ method, url }) => `${method} ${new URL(url, 'http://stripe').pathname.replace(/_\d{14}$/, '_')}`,
  );

  function answer({ method, url, body }: Asked, violate: Violate): Reply {
    const { pathname, search } = new URL(url, 'http://stripe');
    const [, , noun, id] = /^\/v1(\/([a-z_]+(?:\/sessions)?)(?:\/(\w+))?)?$/.exec(pathname) ?? [];
    const route = `${method} ${noun}${id ? '/{id}' : ''}`;
    const shape = shapes[route as keyof typeof shapes];
    if (!shape) {
      violate(`${method} ${url}`);
      return failure(404, 'invalid_request_error');
    }
    const sent = parseForm(method === 'GET' || method === 'DELETE' ? search.slice(1) : String(body ?? ''));
    const read = shape.safeParse(sent);
    if (!read.success) {
      violate(`${route}: ${read.error.message}`);
      return failure(400, 'invalid_request_error', 'parameter_unknown');
    }
    // biome-ignore lint/suspicious/noExplicitAny: the shape of the route has checked it
    return routes[route as keyof typeof routes](read.data as any, id ?? '');
  }

  const found = (record: object | undefined): Reply =>
    record ? { status: 200, body: record } : failure(404, 'invalid_request_error', 'resource_missing');
  const list = (data: object[]): Reply => ({ status: 200, body: { object: 'list', data, has_more: false } });

  const routes = {
    'POST checkout/sessions': (params: Stripe.Checkout.SessionCreateParams): Reply => {
      const [line] = params.line_items!;
      const id = newId('cs_test');
      const session: Session = {
        id,
        object: 'checkout.session',
        url: `https://checkout.stripe.com/c/pay/${id}`,
        status: 'open',
        payment_status: 'unpaid',
        client_reference_id: params.client_reference_id ?? null,
        metadata: params.metadata as Stripe.Metadata,
        currency: line!.price_data!.currency,
        amount_total: line!.price_data!.unit_amount! * line!.quantity!,
        payment_intent: null,
        invoice: null,
        subscription: null,
        mode: params.mode!,
        price: newPrice(line!.price_data!.unit_amount!),
      };
      sessions.set(id, session);
      return found(session);
    },
    'GET checkout/sessions/{id}': (_: object, id: string): Reply => found(sessions.get(id)),
    'POST prices': ({ unit_amount }: Stripe.PriceCreateParams): Reply => found(newPrice(unit_amount!)),
    'GET subscriptions/{id}': (_: object, id: string): Reply => found(subscriptions.get(id)),
    'POST subscriptions/{id}': (params: Stripe.SubscriptionUpdateParams, id: string): Reply => {
      const subscription = subscriptions.get(id);
      if (!subscription || subscription.status === 'canceled') return found(undefined);
      if (params.cancel_at_period_end !== undefined) subscription.cancel_at_period_end = params.cancel_at_period_end;
      for (const change of params.items ?? []) {
        const item = subscription.items.data.find((one) => one.id === change.id);
        const price = prices.get(change.price!);
        if (!item || !price) return found(undefined);
        item.price = price;
      }
      return found(subscription);
    },
    'DELETE subscriptions/{id}': (_: object, id: string): Reply => {
      const subscription = subscriptions.get(id);
      if (!subscription || subscription.status === 'canceled') return found(undefined);
      subscription.status = 'canceled';
      return found(subscription);
    },
    'GET invoices/{id}': (_: object, id: string): Reply => found(invoices.get(id)),
    'GET invoice_payments': ({ invoice }: Stripe.InvoicePaymentListParams): Reply =>
      list([{ object: 'invoice_payment', payment: { type: 'payment_intent', payment_intent: paidBy.get(invoice!) } }]),
    'GET refunds': ({ payment_intent }: Stripe.RefundListParams): Reply =>
      list(payments.get(payment_intent!)?.refunds ?? []),
    'POST refunds': ({ payment_intent, amount, metadata }: Stripe.RefundCreateParams): Reply => {
      const payment = payments.get(payment_intent!);
      if (!payment) return found(undefined);
      const left = payment.amount - payment.refunds.reduce((sum, one) => sum + one.amount, 0);
      if (amount! > left) return failure(400, 'invalid_request_error', 'charge_already_refunded');
      const id = newId('re');
      payment.refunds.push({
        ...{ id, object: 'refund', amount: amount!, status: 'succeeded', metadata: metadata as Stripe.Metadata },
      });
      return found(payment.refunds.at(-1));
    },
  } as const;

  function newPrice(unit_amount: number): Price {
    const price = { id: newId('price'), unit_amount };
    prices.set(price.id, price);
    return price;
  }

  const event = (type: Stripe.Event['type'], object: object): StripeEvent => ({
    id: newId('evt'),
    object: 'event',
    type,
    created: secondsNow(),
    // An object of an older version, of which only the id may be read.
    data: { object: { id: (object as { id: string }).id } },
  });

  function invoiceOf(subscription: Subscription, reason: 'subscription_create' | 'subscription_cycle'): Invoice {
    const [item] = subscription.items.data;
    const invoice: Invoice = {
      id: newId('in'),
      object: 'invoice',
      status: 'paid',
      billing_reason: reason,
      currency: 'usd',
      total: item!.price.unit_amount,
      parent: {
        type: 'subscription_details',
        quote_details: null,
        subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      } as Stripe.Invoice['parent'],
      lines: {
        object: 'list',
        data: [{ period: { start: item!.current_period_end - month, end: item!.current_period_end } }],
      },
    };
    invoices.set(invoice.id!, invoice);
    const intent = newId('pi');
    payments.set(intent, { amount: invoice.total, refunds: [] });
    paidBy.set(invoice.id!, intent);
    return invoice;
  }

  const sessionOf = (checkoutId: string): Session =>
    [...sessions.values()].find(({ metadata }) => metadata?.checkout_id === checkoutId)!;

  return {
    ...standIn,
    settings: {
      ...keys,
      apiUrl: `http://127.0.0.1:${(standIn.server.address() as AddressInfo).port}`,
    } satisfies StripeSettings,
    sessions,
    sessionOf,
    subscriptions,
    payments,
    refundsOfInvoice: (id: string): number[] => payments.get(paidBy.get(id)!)!.refunds.map(({ amount }) => amount),
    /** Forgets the responses, as Stripe does after a day. */
    forgetKeys: () => answered.clear(),
    /**
     * Completes a checkout as if the person had paid, either at once or with a payment method that takes days. Returns the events in
     * Stripe's order.
     */
    pay(checkoutId: string, { isDelayed = false } = {}): StripeEvent[] {
      const session = sessionOf(checkoutId);
      session.status = 'complete';
      if (isDelayed) return [event('checkout.session.completed', session)];
      session.payment_status = 'paid';
      if (session.mode === 'payment') {
        const intent = newId('pi');
        payments.set(intent, { amount: session.amount_total!, refunds: [] });
        session.payment_intent = intent;
        return [event('checkout.session.completed', session)];
      }
      const subscription: Subscription = {
        id: newId('sub'),
        object: 'subscription',
        status: 'active',
        metadata: session.metadata!,
        cancel_at: null,
        cancel_at_period_end: false,
        items: {
          object: 'list',
          data: [{ id: newId('si'), price: session.price, current_period_end: secondsNow() + month }],
        },
      };
      subscriptions.set(subscription.id, subscription);
      const invoice = invoiceOf(subscription, 'subscription_create');
      session.subscription = subscription.id;
      session.invoice = invoice.id!;
      return [
        event('customer.subscription.updated', subscription),
        event('invoice.paid', invoice),
        event('checkout.session.completed', session),
      ];
    },
    /** Completes a delayed payment. */
    settle(checkoutId: string): StripeEvent {
      this.pay(checkoutId);
      return event('checkout.session.async_payment_succeeded', sessionOf(checkoutId));
    },
    expire(checkoutId: string): StripeEvent {
      const session = sessionOf(checkoutId);
      session.status = 'expired';
      return event('checkout.session.expired', session);
    },
    /** Ends the current billing period of a subscription. Stripe then renews the subscription, or cancels it if that was requested. */
    renew(id: string): StripeEvent[] {
      const subscription = subscriptions.get(id)!;
      if (subscription.cancel_at_period_end) {
        subscription.status = 'canceled';
        return [event('customer.subscription.deleted', subscription)];
      }
      subscription.items.data[0]!.current_period_end += month;
      return [event('invoice.paid', invoiceOf(subscription, 'subscription_cycle')), this.changed(id)];
    },
    changed: (id: string): StripeEvent => event('customer.subscription.updated', subscriptions.get(id)!),
    event,
    /** A delivery as Stripe signs it: `t=…,v1=HMAC-SHA256(t.body)`. */
    deliveryOf(one: StripeEvent, { at = present(), secret = keys.webhookSecret } = {}) {
      const body = JSON.stringify(one);
      const time = Math.floor(at / 1_000);
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      return { body, headers: { 'stripe-signature': `t=${time},v1=${signature}` } };
    },
  };
}

function failure(status: number, type: string, code?: string): Reply {
  return { status, headers: { 'request-id': 'req_fake' }, body: { error: { type, code, message: `${type} ${code}` } } };
}
