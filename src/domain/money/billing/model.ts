// Purchases of an organization: checkouts, orders, its subscription, its billing settings and requests for credits
// (docs/contract.md#billing).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { CheckoutOffer, TeamPlanId } from './catalog.ts';

export const trackerTriggerPolicies = ['anyone', 'members', 'off'] as const;
export type TrackerTriggerPolicy = (typeof trackerTriggerPolicies)[number];

export class BillingSettings extends table('billing_settings', {
  orgId: column<Id<'organization'>>(),
  /** Authors whose tracker issues may start missions: members only, or anyone. */
  trackerTriggers: column<TrackerTriggerPolicy>(),
  /** Whether the operator has agreed to the plan `enterprise`. Only the operator may set this. */
  isEnterprise: column<boolean>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'billing settings';
  static override idColumn = 'orgId';
}

export const orderStatuses = ['paid', 'withdrawn'] as const;

export class BillingOrder extends table('billing_orders', {
  id: column<Id<'order'>>(),
  orgId: column<Id<'organization'>>(),
  offer: column<CheckoutOffer>(),
  teamPlan: column<TeamPlanId | null>(),
  /** Number of purchased credits; an integer. */
  credits: column<number>(),
  amountCents: column<number>(),
  status: column<(typeof orderStatuses)[number]>(),
  provider: column<string>(),
  /** The provider's id of the payment. */
  payment: column<string>(),
  createdAt: column<number>(),
  /** End of the withdrawal period; null means that the order cannot be withdrawn. */
  withdrawableUntil: column<number | null>(),
  withdrawnAt: column<number | null>(),
  withdrawalReason: column<string | null>(),
  refundCents: column<number | null>(),
  /** When the provider accepted the refund; null before. */
  refundedAt: column<number | null>(),
  /** Number of the receipt: 1, 2, 3 … within the organization. Set by the database. */
  number: column<number>(),
}) {
  static override noun = 'order';
  static visibleTo = orgWide;
  static override order = '"created_at" desc, "id" desc';
}

export const subscriptionStatuses = ['active', 'canceling', 'canceled'] as const;

export class BillingSubscription extends table('billing_subscriptions', {
  id: column<Id<'subscription'>>(),
  orgId: column<Id<'organization'>>(),
  plan: column<TeamPlanId>(),
  /** The plan from the next period on; null means no change. */
  nextPlan: column<TeamPlanId | null>(),
  /** An organization has at most one subscription that is not `canceled`. */
  status: column<(typeof subscriptionStatuses)[number]>(),
  periodStart: column<number>(),
  currentPeriodEnd: column<number>(),
  provider: column<string>(),
  /** The provider's id of the subscription. */
  reference: column<string>(),
  /** The time of the newest provider event; an older event changes nothing. */
  eventAt: column<number>(),
  createdAt: column<number>(),
}) {
  static override noun = 'subscription';
}

export const checkoutStatuses = ['open', 'complete', 'expired'] as const;

export class BillingCheckout extends table('billing_checkouts', {
  id: column<Id<'checkout'>>(),
  orgId: column<Id<'organization'>>(),
  offer: column<CheckoutOffer>(),
  quantity: column<number>(),
  teamPlan: column<TeamPlanId | null>(),
  /** Number of credits in all packs of the checkout together. */
  credits: column<number>(),
  amountCents: column<number>(),
  /** Whether the credits can be spent immediately; otherwise they can be spent after the withdrawal window. */
  startsNow: column<boolean>(),
  status: column<(typeof checkoutStatuses)[number]>(),
  provider: column<string>(),
  /** The provider's id of the checkout; null until the provider has answered. */
  reference: column<string | null>(),
  createdByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
}) {
  static override noun = 'checkout session';
  static visibleTo = orgWide;
}

export interface CreditMessage {
  message: string;
  userId: string;
  at: number;
}

export class CreditRequest extends table('credit_requests', {
  id: column<Id<'creditRequest'>>(),
  orgId: column<Id<'organization'>>(),
  /** Messages of the request, oldest first. */
  messages: column<CreditMessage[]>(),
  createdAt: column<number>(),
  /** When credits were bought or granted; null while the request is open. */
  closedAt: column<number | null>(),
}) {
  static override noun = 'credit request';
  static override jsonAttributes = ['messages'];
}
