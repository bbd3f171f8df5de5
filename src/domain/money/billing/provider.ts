// The interface of payment providers, and the built-in provider, which takes test money on a page of the console and needs no settings.

import { now } from '#foundation/clock.ts';
import { parseJson } from '#foundation/http/http.ts';
import { invalid } from '#foundation/problem.ts';
import { sameBytes, signature } from '#foundation/secrets/secrets.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import type { TeamPlanId } from './catalog.ts';
import type { BillingCheckout, BillingOrder, BillingSubscription } from './model.ts';

/** A provider's event whose signature was verified. `at` is the provider's time in epoch milliseconds. */
export type PaymentEvent = { id: string; at: number } & (
  | {
      type: 'checkout_paid';
      checkoutId: string;
      orgId: string;
      amountCents: number;
      payment: string;
      /** The subscription that begins with a team plan; null for other offers. */
      subscription: { reference: string; periodEnd: number } | null;
    }
  | { type: 'checkout_expired'; checkoutId: string }
  | {
      type: 'subscription_paid';
      reference: string;
      payment: string;
      amountCents: number;
      periodStart: number;
      periodEnd: number;
    }
  | { type: 'subscription_changed'; reference: string; status: BillingSubscription['status']; periodEnd: number }
  /** An event that does not concern this service. */
  | { type: 'ignored' }
);

export interface PaymentProvider {
  readonly name: string;
  /** Whether the provider only takes test money. */
  readonly isTest: boolean;
  /** Whether the provider renews subscriptions itself and reports renewals with events; otherwise this service renews them. */
  readonly renews: boolean;
  startCheckout(checkout: BillingCheckout): Promise<{ url: string; reference: string | null }>;
  /** Refunds a withdrawn order; a repeated call refunds nothing. */
  refund(order: BillingOrder): Promise<void>;
  changeSubscription(
    subscription: BillingSubscription,
    change: { plan?: TeamPlanId; cancelAtPeriodEnd?: boolean },
  ): Promise<void>;
  /** Ends the subscription at once; a repeated call changes nothing. */
  endSubscription(reference: string): Promise<void>;
  /** Reads an event. @throws 400 for an event that the provider did not sign */
  readEvent(body: Buffer, headers: Record<string, string | string[] | undefined>): Promise<PaymentEvent>;
}

/** URL of the page of a checkout, within its organization. */
export const checkoutPage = ({ id, orgId }: Pick<BillingCheckout, 'id' | 'orgId'>): Promise<string> =>
  consolePage(orgId, `/checkout/${id}`);

const eventSignature = (text: string): string => signature('payment event', text).toString('hex');

/** The signed headers of an event of the built-in provider; only this service has the key. */
export const signEvent = (text: string): Record<string, string> => ({ 'x-signature': eventSignature(text) });

export const builtinProvider: PaymentProvider = {
  name: 'builtin',
  isTest: true,
  renews: false,
  startCheckout: async (checkout) => ({ url: await checkoutPage(checkout), reference: checkout.id }),
  refund: async () => {},
  changeSubscription: async () => {},
  endSubscription: async () => {},
  async readEvent(body, headers) {
    const presented = headers['x-signature'];
    const isSigned =
      typeof presented === 'string' && sameBytes(Buffer.from(presented), Buffer.from(eventSignature(body.toString())));
    if (!isSigned) throw invalid.field('x-signature', 'does not match the event');
    return parseJson(body.toString()) as PaymentEvent;
  },
};

/** The event that the form on the built-in provider's page sends. */
export const testPayment = ({ id, orgId, amountCents, offer }: BillingCheckout, periodEnd: number): PaymentEvent => ({
  id: `paid_${id}`,
  at: now(),
  type: 'checkout_paid',
  checkoutId: id,
  orgId,
  amountCents,
  payment: `test_${id}`,
  subscription: offer === 'team' ? { reference: `test_${id}`, periodEnd } : null,
});

let bound: PaymentProvider = builtinProvider;

/** Sets the payment provider for new checkouts; called once at startup. */
export function bindPaymentProvider(provider: PaymentProvider = builtinProvider): void {
  bound = provider;
}
export const paymentProvider = (): PaymentProvider => bound;

/**
 * The provider with that name, either the configured or the built-in one. After a change of settings, purchases with test money stay with
 * the built-in provider.
 */
export const providerNamed = (name: string): PaymentProvider | undefined =>
  [bound, builtinProvider].find((provider) => provider.name === name);
