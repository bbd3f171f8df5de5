// Stripe's published parameters for the service's requests, as far as the service uses them. The types of the official library, which
// are generated from Stripe's OpenAPI description, check each name and value at compile time: a parameter that Stripe does not publish
// cannot be listed, and one that is not listed is rejected at run time.
import type Stripe from 'stripe';
import { z } from 'zod';

/** The nested value of a form: `a[b][0]=c` is `{a: {b: ['c']}}`. */
export function parseForm(text: string): unknown {
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const steps = name.split(/[[\]]+/).filter(Boolean);
    let at = form;
    for (const [n, step] of steps.entries()) {
      at[step] ??= n === steps.length - 1 ? value : {};
      at = at[step] as typeof at;
    }
  }
  return listed(form);
}

/** Objects whose keys count from 0 are lists. */
function listed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, listed(one)] as const);
  const isList = entries.length > 0 && entries.every(([name], n) => name === String(n));
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}

/** The type `S`, in which a field becomes `never` if Stripe's parameters `P` do not have the field, or have it with another type. */
type Published<P, S> = { [K in keyof S]: K extends keyof P ? (S[K] extends P[K] ? S[K] : never) : never };
const published =
  <P>() =>
  <S extends z.ZodRawShape>(
    shape: S & (z.output<z.ZodObject<S>> extends Published<P, z.output<z.ZodObject<S>>> ? unknown : never),
  ) =>
    z.strictObject(shape as S);

const whole = z.string().regex(/^\d+$/).transform(Number);
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_\\w+$`));
const currency = z.string().regex(/^[a-z]{3}$/);
/** At most 50 entries; a key has at most 40 characters, a value at most 500. */
const metadata = z.record(z.string().max(40), z.string().max(500));
const url = z.url();

type Line = Stripe.Checkout.SessionCreateParams.LineItem;
type PriceData = NonNullable<Line['price_data']>;
const productData = published<NonNullable<PriceData['product_data']>>()({ name: z.string().min(1) });
const recurring = published<NonNullable<PriceData['recurring']>>()({
  interval: z.enum(['day', 'week', 'month', 'year']),
});
const lineItem = published<Line>()({
  quantity: whole,
  price_data: published<PriceData>()({
    currency,
    unit_amount: whole,
    product_data: productData,
    recurring: recurring.optional(),
  }),
});

const session = published<Stripe.Checkout.SessionCreateParams>()({
  mode: z.enum(['payment', 'setup', 'subscription']),
  line_items: z.array(lineItem).min(1).max(100),
  client_reference_id: z.string().max(200),
  metadata,
  payment_intent_data: published<Stripe.Checkout.SessionCreateParams.PaymentIntentData>()({ metadata }).optional(),
  subscription_data: published<Stripe.Checkout.SessionCreateParams.SubscriptionData>()({ metadata }).optional(),
  success_url: url,
  cancel_url: url,
}).refine(
  ({ mode, line_items, payment_intent_data, subscription_data }) =>
    mode === 'subscription'
      ? !payment_intent_data && line_items.every(({ price_data }) => price_data.recurring)
      : !subscription_data && line_items.every(({ price_data }) => !price_data.recurring),
  'goes with another mode',
);

const none = z.strictObject({});
export const shapes = {
  'POST checkout/sessions': session,
  'GET checkout/sessions/{id}': none,
  'POST prices': published<Stripe.PriceCreateParams>()({
    currency,
    unit_amount: whole,
    recurring,
    product_data: published<Stripe.PriceCreateParams.ProductData>()({ name: z.string().min(1) }),
  }),
  'GET subscriptions/{id}': none,
  'POST subscriptions/{id}': published<Stripe.SubscriptionUpdateParams>()({
    cancel_at_period_end: flag.optional(),
    items: z
      .array(published<Stripe.SubscriptionUpdateParams.Item>()({ id: id('si'), price: id('price') }))
      .max(20)
      .optional(),
    proration_behavior: z.enum(['always_invoice', 'create_prorations', 'none']).optional(),
  }),
  'DELETE subscriptions/{id}': none,
  'GET invoices/{id}': none,
  'GET invoice_payments': published<Stripe.InvoicePaymentListParams>()({
    invoice: id('in'),
    status: z.enum(['canceled', 'open', 'paid']).optional(),
  }),
  'GET refunds': published<Stripe.RefundListParams>()({
    payment_intent: id('pi'),
    limit: whole.pipe(z.int().min(1).max(100)),
  }),
  'POST refunds': published<Stripe.RefundCreateParams>()({
    payment_intent: id('pi'),
    amount: whole.pipe(z.int().min(1)),
    reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']),
    metadata,
  }),
};

// The parts of Stripe's responses that the service reads.
export interface Price {
  id: string;
  unit_amount: number;
}
export type Session = Pick<
  Stripe.Checkout.Session,
  | 'id'
  | 'object'
  | 'url'
  | 'status'
  | 'payment_status'
  | 'client_reference_id'
  | 'metadata'
  | 'currency'
  | 'amount_total'
  | 'payment_intent'
  | 'invoice'
  | 'subscription'
> & { mode: string; price: Price };
export type Subscription = Pick<
  Stripe.Subscription,
  'id' | 'object' | 'status' | 'metadata' | 'cancel_at' | 'cancel_at_period_end'
> & { items: { object: 'list'; data: { id: string; price: Price; current_period_end: number }[] } };
export type Invoice = Pick<
  Stripe.Invoice,
  'id' | 'object' | 'status' | 'billing_reason' | 'currency' | 'total' | 'parent'
> & {
  lines: { object: 'list'; data: { period: { start: number; end: number } }[] };
};
export interface Payment {
  amount: number;
  refunds: Pick<Stripe.Refund, 'id' | 'object' | 'amount' | 'status' | 'metadata'>[];
}

export type StripeEvent = Pick<Stripe.Event, 'id' | 'object' | 'type' | 'created'> & { data: { object: object } };
