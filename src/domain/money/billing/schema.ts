// Offers and purchases in all APIs (docs/contract.md#billing; docs/decisions/0035-test-money-and-events.md).
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boundedText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import * as catalog from './catalog.ts';
import { createCheckout, findCheckout } from './checkout.ts';
import { listOrders, requireOwn } from './operations.ts';
import { requestCredits } from './requests.ts';
import { CheckoutOffer, ListOffersResponse, TeamPlanId } from './schema-offers.ts';
import * as answers from './schema-purchases.ts';
import { updateSubscription } from './subscription.ts';
import { billing } from './terms.ts';
import { withdrawOrder } from './withdrawal.ts';

const orgId = boundedText(text.pathId)
  .optional()
  .describe('The organization of the caller. For any other organization, the response is a 404.');
const CreateCreditRequest = request(
  'CreateCreditRequest',
  z
    .object({
      message: boundedText(text.creditMessage).describe(
        `The message, ${range(text.creditMessage)} characters, for the owners.`,
      ),
      orgId,
    })
    .meta({
      description: 'A message to the owners of the organization.',
      examples: [{ message: 'We need 50 more credits for the release.' }],
    }),
);
const CreateCheckoutSessionRequest = request(
  'CreateCheckoutSessionRequest',
  z
    .object({
      offer: CheckoutOffer.zod.describe('Packs of credits, or a team plan.'),
      orgId,
      quantity: z
        .int()
        .min(billing.packs.min)
        .max(billing.packs.max)
        .optional()
        .describe(`Packs, ${range(billing.packs)}; 1 when absent.`),
      teamPlan: TeamPlanId.zod.optional().describe('Required for the offer `team`, and for no other.'),
      startNowConsent: z
        .boolean()
        .optional()
        .describe(
          'True means that the credits can be spent at once, and that spent ones are not refunded. Otherwise the credits can be spent after the withdrawal period of 14 days.',
        ),
    })
    .meta({ description: 'The order.', examples: [{ offer: 'pack', quantity: 2, startNowConsent: true }] }),
);
const UpdateSubscriptionRequest = request(
  'UpdateSubscriptionRequest',
  z
    .object({
      orgId,
      plan: TeamPlanId.zod.optional().describe('The plan from the next period on.'),
      cancelAtPeriodEnd: z
        .boolean()
        .optional()
        .describe('Whether the subscription ends when its period ends; false lets it renew.'),
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ cancelAtPeriodEnd: true }] }),
);
const CreateWithdrawalRequest = request(
  'CreateWithdrawalRequest',
  z
    .object({
      reason: boundedText(text.withdrawalReason)
        .optional()
        .describe(`The reason, at most ${text.withdrawalReason.max} characters, which is kept with the order.`),
    })
    .meta({ description: 'A withdrawal from an order.', examples: [{ reason: 'Bought by mistake.' }] }),
);

/** Runs the operation if the id is absent or belongs to the caller's organization. @throws 404 for the id of another organization */
const inOwnOrganization = <T>(caller: Caller, id: string | null | undefined, operation: () => T): T => {
  requireOwn(caller, id);
  return operation();
};

builder.queryFields((t) => ({
  billingOffers: t.field({
    description: 'Packs of credits, plans, prices and limits.',
    scope: 'billing:read',
    rest: 'GET /billing/offers',
    tool: 'list_offers',
    type: ListOffersResponse,
    resolve: () => catalog,
  }),
  billingOrders: t.field({
    description: 'The purchases of the organization.',
    scope: 'billing:read',
    rest: 'GET /billing/orders',
    tool: 'list_orders',
    type: answers.ListOrdersResponse,
    resolve: async (_, _args, { caller }) => ({ orders: await listOrders(caller) }),
  }),
  checkoutSession: t.field({
    description: 'A checkout session of the organization.',
    scope: 'billing:read',
    rest: 'GET /billing/checkout-sessions/{checkoutId}',
    type: answers.CheckoutSessionStatus,
    args: { checkoutId: t.arg.string({ ...pathId, description: 'The id of the checkout session.' }) },
    resolve: (_, { checkoutId }, { caller }) => findCheckout(caller, checkoutId),
  }),
}));

builder.mutationFields((t) => ({
  createCreditRequest: t.field({
    description:
      'Asks the owners of the organization for credits. If a request is already open, the message is added to it.',
    scope: 'missions:run',
    rest: { route: 'POST /billing/credit-requests', status: 201, errors: [404, 409] },
    tool: 'request_credits',
    type: answers.CreditRequestResponse,
    args: { input: t.arg({ type: CreateCreditRequest, required: true, description: 'The message.' }) },
    resolve: (_, { input }, { caller }) =>
      inOwnOrganization(caller, input.orgId, () => requestCredits(caller, input.message)),
  }),
  createCheckoutSession: t.field({
    description: 'Starts a purchase and returns the page on which a person pays.',
    scope: 'billing:write',
    rest: { route: 'POST /billing/checkout-sessions', status: 201, errors: [404, 409, 502] },
    type: answers.CheckoutSessionResponse,
    args: { input: t.arg({ type: CreateCheckoutSessionRequest, required: true, description: 'The offer.' }) },
    resolve: (_, { input }, { caller }) => inOwnOrganization(caller, input.orgId, () => createCheckout(caller, input)),
  }),
  updateSubscription: t.field({
    description:
      'Changes the plan from the next period on, or cancels the subscription at the end of the current period.',
    scope: 'billing:write',
    rest: { route: 'PATCH /billing/subscription', errors: [404, 409, 502] },
    type: answers.SubscriptionResponse,
    args: { input: t.arg({ type: UpdateSubscriptionRequest, required: true, description: 'The fields to change.' }) },
    resolve: async (_, { input }, { caller }) =>
      inOwnOrganization(caller, input.orgId, async () => ({ subscription: await updateSubscription(caller, input) })),
  }),
  withdrawOrder: t.field({
    description: 'Withdraws from an order within 14 days: unspent credits are taken back and refunded.',
    scope: 'billing:write',
    rest: { route: 'POST /billing/orders/{orderId}/withdrawal', status: 201, errors: [409] },
    type: answers.WithdrawalResponse,
    args: {
      orderId: t.arg.string({ ...pathId, description: 'The id of the order.' }),
      input: t.arg({ type: CreateWithdrawalRequest, required: true, description: 'The reason, if any.' }),
    },
    resolve: (_, { orderId, input }, { caller }) => withdrawOrder(caller, orderId, input.reason ?? null),
  }),
}));
