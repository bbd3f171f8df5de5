// Purchases of an organization: checkouts, orders, its subscription, its billing settings and requests for credits
// (docs/contract.md#billing).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { CheckoutOffer, TeamPlanId } from './catalog.ts';

export const trackerTriggerPolicies = ['anyone', 'members', 'off'] as const;
export type TrackerTriggerPolicy = (typeof trackerTriggerPolicies)[number];

export class BillingSettings extends BaseModel {
  static override tableName = 'billing_settings';
  static override noun = 'billing settings';
  static override idColumn = 'orgId';
  static override columns = ['orgId', 'trackerTriggers', 'isEnterprise', 'updatedAt'];

  declare orgId: Id<'organization'>;
  /** The authors whose issues in a tracker may start missions. */
  declare trackerTriggers: TrackerTriggerPolicy;
  /** Agreed with the operator, the only one who may set it. */
  declare isEnterprise: boolean;
  declare updatedAt: number;
}

export const orderStatuses = ['paid', 'withdrawn'] as const;

export class BillingOrder extends BaseModel {
  static override tableName = 'billing_orders';
  static override noun = 'order';
  static visibleTo = orgWide;
  static override order = '"created_at" desc, "id" desc';
  static override columns = [
    'id',
    'orgId',
    'offer',
    'teamPlan',
    'credits',
    'amountCents',
    'status',
    'provider',
    'payment',
    'createdAt',
    'withdrawableUntil',
    'withdrawnAt',
    'withdrawalReason',
    'refundCents',
    'refundedAt',
    'number',
  ];

  declare id: Id<'order'>;
  declare orgId: Id<'organization'>;
  declare offer: CheckoutOffer;
  declare teamPlan: TeamPlanId | null;
  /** Whole credits. */
  declare credits: number;
  declare amountCents: number;
  declare status: (typeof orderStatuses)[number];
  declare provider: string;
  /** The provider's id of the payment. */
  declare payment: string;
  declare createdAt: number;
  /** Null: the order cannot be withdrawn. */
  declare withdrawableUntil: number | null;
  declare withdrawnAt: number | null;
  declare withdrawalReason: string | null;
  declare refundCents: number | null;
  /** When the provider accepted the refund. */
  declare refundedAt: number | null;
  /** Number of the receipt: 1, 2, 3 … within the organization. Set by the database. */
  declare number: number;
}

export const subscriptionStatuses = ['active', 'canceling', 'canceled'] as const;

export class BillingSubscription extends BaseModel {
  static override tableName = 'billing_subscriptions';
  static override noun = 'subscription';
  static override columns = [
    'id',
    'orgId',
    'plan',
    'nextPlan',
    'status',
    'periodStart',
    'currentPeriodEnd',
    'provider',
    'reference',
    'eventAt',
    'createdAt',
  ];

  declare id: Id<'subscription'>;
  declare orgId: Id<'organization'>;
  declare plan: TeamPlanId;
  /** The plan from the next period on; null: unchanged. */
  declare nextPlan: TeamPlanId | null;
  /** At most one subscription per organization is not `canceled`. */
  declare status: (typeof subscriptionStatuses)[number];
  declare periodStart: number;
  declare currentPeriodEnd: number;
  declare provider: string;
  /** The provider's id of the subscription. */
  declare reference: string;
  /** The time of the newest provider event: an older one changes nothing. */
  declare eventAt: number;
  declare createdAt: number;
}

export const checkoutStatuses = ['open', 'complete', 'expired'] as const;

export class BillingCheckout extends BaseModel {
  static override tableName = 'billing_checkouts';
  static override noun = 'checkout session';
  static visibleTo = orgWide;
  static override columns = [
    'id',
    'orgId',
    'offer',
    'quantity',
    'teamPlan',
    'credits',
    'amountCents',
    'startsNow',
    'status',
    'provider',
    'reference',
    'createdByUserId',
    'createdAt',
    'expiresAt',
  ];

  declare id: Id<'checkout'>;
  declare orgId: Id<'organization'>;
  declare offer: CheckoutOffer;
  declare quantity: number;
  declare teamPlan: TeamPlanId | null;
  /** Total of all packs. */
  declare credits: number;
  declare amountCents: number;
  /** Whether the credits can be spent at once; otherwise after the withdrawal window. */
  declare startsNow: boolean;
  declare status: (typeof checkoutStatuses)[number];
  declare provider: string;
  /** The provider's id of the checkout; null until the provider has answered. */
  declare reference: string | null;
  declare createdByUserId: Id<'person'> | null;
  declare createdAt: number;
  declare expiresAt: number;
}

export interface CreditMessage {
  message: string;
  userId: string;
  at: number;
}

export class CreditRequest extends BaseModel {
  static override tableName = 'credit_requests';
  static override noun = 'credit request';
  static override columns = ['id', 'orgId', 'messages', 'createdAt', 'closedAt'];
  static override jsonAttributes = ['messages'];

  declare id: Id<'creditRequest'>;
  declare orgId: Id<'organization'>;
  /** Oldest first. */
  declare messages: CreditMessage[];
  declare createdAt: number;
  /** When credits were bought or granted; null while the request is open. */
  declare closedAt: number | null;
}
