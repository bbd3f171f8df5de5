// GraphQL types for purchases: orders, checkout sessions, the subscription, requests for credits and withdrawals.
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { boolean, epochMs, epochMsOrNull, float, int, members, string, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { teamPlan, type teamPlanIds } from './catalog.ts';
import {
  type BillingCheckout,
  type BillingOrder,
  type BillingSubscription,
  checkoutStatuses,
  orderStatuses,
  subscriptionStatuses,
  trackerTriggerPolicies,
} from './model.ts';
import type { RequestedCredits } from './requests.ts';
import { CheckoutOffer, TeamPlanId } from './schema-offers.ts';
import { unspentOf, type Withdrawable, type Withdrawal, withdrawable } from './withdrawal.ts';

const CheckoutStatus = wordSet('CheckoutStatus', checkoutStatuses, 'The state of a checkout session.', {
  open: 'The checkout session is not paid yet.',
  complete: 'The checkout session is paid, and there is an order.',
  expired: 'The checkout session was not paid in time.',
});
const BillingOrderStatus = wordSet('BillingOrderStatus', orderStatuses, 'The state of an order.', {
  paid: 'The order is paid.',
  withdrawn: 'The order was withdrawn; unspent credits are refunded.',
});
const SubscriptionStatus = wordSet(
  'SubscriptionStatus',
  subscriptionStatuses,
  'The state of a subscription; a `canceling` subscription ends with its period.',
  {
    active: 'Renews at the end of its period.',
    canceling: 'Ends when its period ends.',
    canceled: 'Has ended.',
  },
);
const CreditRequestStatus = wordSet('CreditRequestStatus', ['open'], 'The state of a request for credits.', {
  open: 'The request waits for an answer from the owners.',
});
const WithdrawalStatus = wordSet('WithdrawalStatus', ['completed'], 'The state of a withdrawal.', {
  completed: 'Credits and order are changed; the refund is in progress.',
});
export const TrackerTriggerPolicy = wordSet(
  'TrackerTriggerPolicy',
  trackerTriggerPolicies,
  'The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule.',
  {
    anyone: 'Everybody whom the rule of the project allows.',
    members: 'Members whose account is linked; events of other people wait for an approval.',
    off: 'Nobody: events start no missions.',
  },
);
export const CreditRequestRoute = wordSet('CreditRequestRoute', ['owners'], 'Recipients of requests for credits.', {
  owners: 'The owners of the organization, in the billing summary.',
});

const WithdrawalOffer = builder.objectRef<Withdrawable>('WithdrawalOffer').implement({
  description: 'Credits taken back and money refunded by a withdrawal from an order.',
  fields: (t) =>
    members(t, {
      credits: float('Unspent credits that are taken back, to a millionth.'),
      refundUsd: float('The refund, rounded up to the cent.'),
    }),
});
const unspent = toOne(unspentOf, ({ orderId }) => orderId!);

export const BillingOrderType = builder.objectRef<BillingOrder>('BillingOrder').implement({
  description: 'A paid purchase of an organization.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `ord_`.'),
      offer: typed(CheckoutOffer.type, 'The purchased offer.'),
      credits: int('Number of whole credits.'),
      amountUsd: t.float({ description: 'Amount paid, US dollars.', resolve: ({ amountCents }) => amountCents / 100 }),
      status: typed(BillingOrderStatus.type, 'Whether the order is paid or has been withdrawn.'),
      createdAt: epochMs('When the order was paid.'),
      withdrawableUntil: epochMsOrNull('The end of the withdrawal period; null when the order cannot be withdrawn.'),
      number: int('Receipt number: 1, 2, 3 … per organization.', { graphOnly: true }),
      teamPlan: typedOrNull(TeamPlanId.type, 'The team plan; null for packs.', { graphOnly: true }),
      refundUsd: t.float({
        graphOnly: true,
        nullable: true,
        description: 'The refund, US dollars; null unless the order was withdrawn.',
        resolve: ({ refundCents }) => refundCents && refundCents / 100,
      }),
      withdrawal: t.field({
        graphOnly: true,
        type: WithdrawalOffer,
        nullable: true,
        description: 'The refund of a withdrawal now; null when the order cannot be withdrawn.',
        resolve: async (order, _args, context) => withdrawable(order, await unspent(context).load(order.id)),
      }),
    }),
});

export const TeamSubscription = builder.objectRef<BillingSubscription>('TeamSubscription').implement({
  description: 'The subscription of an organization to a team plan.',
  fields: (t) =>
    members(t, {
      plan: typed(TeamPlanId.type, 'The plan of the current period.'),
      status: typed(SubscriptionStatus.type, 'State of the subscription, which tells whether it renews.'),
      currentPeriodEnd: epochMs('When the subscription renews or ends.'),
      cancelAtPeriodEnd: t.boolean({
        description: 'Whether the subscription ends when its period ends.',
        resolve: ({ status }) => status === 'canceling',
      }),
      nextPlan: typedOrNull(TeamPlanId.type, 'The plan from the next period on; null when it does not change.'),
    }),
});

export const ListOrdersResponse = builder.objectRef<{ orders: BillingOrder[] }>('ListOrdersResponse').implement({
  description: 'The orders of an organization.',
  fields: (t) =>
    members(t, {
      orders: typed([BillingOrderType], 'The newest 200 orders, newest first.'),
    }),
});

export const CreditRequestResponse = builder.objectRef<RequestedCredits>('CreditRequestResponse').implement({
  description: 'The request for credits to which the message was added.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `crq_`.'),
      status: typed(CreditRequestStatus.type, 'Always `open`.'),
      appended: boolean('Whether the message was added to an existing open request.'),
      routedTo: typed(CreditRequestRoute.type, 'The recipients of the request.'),
    }),
});

export const CheckoutSessionResponse = builder
  .objectRef<{ checkoutId: string; url: string }>('CheckoutSessionResponse')
  .implement({
    description: 'A new checkout session.',
    fields: (t) =>
      members(t, {
        checkoutId: string('The id, which starts with `chk_`.'),
        url: string('The page of the payment provider, for a person.'),
      }),
  });

const CheckoutTeamPlan = builder
  .objectRef<{ plan: (typeof teamPlanIds)[number]; name: string }>('CheckoutTeamPlan')
  .implement({
    description: 'The team plan that is bought in a checkout session.',
    fields: (t) =>
      members(t, {
        plan: typed(TeamPlanId.type, 'The id of the plan.'),
        name: string('Name of the plan, for people.'),
      }),
  });

export const CheckoutSessionStatus = builder.objectRef<BillingCheckout>('CheckoutSessionStatus').implement({
  description: 'A checkout session.',
  fields: (t) =>
    members(t, {
      checkoutId: t.exposeString('id', { description: 'The id, which starts with `chk_`.' }),
      status: typed(CheckoutStatus.type, 'State of the checkout session; `complete` once it is paid.'),
      offer: typed(CheckoutOffer.type, 'The selected offer.'),
      credits: int('Total credits of all packs, or of one period of the plan.'),
      teamPlan: t.field({
        type: CheckoutTeamPlan,
        nullable: true,
        description: 'The team plan; null for packs.',
        resolve: ({ teamPlan: plan }) => plan && teamPlan(plan),
      }),
    }),
});

export const SubscriptionResponse = builder
  .objectRef<{ subscription: BillingSubscription }>('SubscriptionResponse')
  .implement({
    description: 'The subscription after the change.',
    fields: (t) =>
      members(t, {
        subscription: typed(TeamSubscription, 'The subscription after the change.'),
      }),
  });

export const WithdrawalResponse = builder.objectRef<Withdrawal>('WithdrawalResponse').implement({
  description: 'A withdrawal from an order.',
  fields: (t) =>
    members(t, {
      orderId: string('The id of the order; starts with `ord_`.'),
      submittedAt: epochMs('When the order was withdrawn.'),
      creditsReversed: int('Whole credits taken back, rounded down; the ledger has the exact amount.'),
      refundUsd: float('The refund, rounded up to the cent.'),
      status: typed(WithdrawalStatus.type, 'Always `completed`.'),
    }),
});
