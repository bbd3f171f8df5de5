// Fields for the deliveries of webhooks, in GraphQL, REST and MCP: the sent events, and the receivers' responses.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import {
  belongsTo,
  epochMs,
  epochMsOrNull,
  int,
  intOrNull,
  members,
  safeInt,
  string,
  stringOrNull,
  typed,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { pages } from '#limits.ts';
import { answerBounds, retryDelaysMs, webhookCounts } from './bounds.ts';
import * as deliveries from './deliveries.ts';
import { messageIdOf, WebhookDelivery, webhookStatuses } from './model.ts';
import { EndpointType, endpointId } from './schema.ts';
import { testEndpoint } from './test-event.ts';

const Status = wordSet('WebhookDeliveryStatus', webhookStatuses, 'State of a delivery.', {
  pending: 'The event was not sent yet, or is sent again at `dueAt`.',
  delivered: 'The receiver answered with 2xx.',
  failed: `All ${retryDelaysMs.length + 1} attempts have failed, or the receiver answered with 410.`,
});

const DeliveryType = builder.modelType(WebhookDelivery, 'WebhookDelivery').implement({
  description: 'An event that is sent to an endpoint, kept for 30 days.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `whd_`.'),
      orgId: string('The organization of the delivery.'),
      endpointId: string('The endpoint.'),
      number: safeInt('The number of the event in the log.'),
      messageId: t.string({
        description: 'The header `webhook-id`, which is the same each time the event is sent.',
        resolve: messageIdOf,
      }),
      type: string('The type of the event, such as `run.completed`.'),
      status: typed(Status.type, 'The state of the delivery.'),
      attempts: int('Number of attempts so far.'),
      dueAt: epochMsOrNull('When the next attempt is due; null after the last one.'),
      attemptedAt: epochMsOrNull('When the last attempt ended; null before the first.'),
      durationMs: intOrNull('Milliseconds that the last attempt took; null before the first.'),
      body: string('The body that is sent.', { complexity: weightOf(2_000) }),
      answerStatus: intOrNull('The status of the last response; null without one.'),
      answerBody: stringOrNull(`The first ${answerBounds.bytes} bytes of the last response; null without one.`, {
        complexity: weightOf(answerBounds.bytes),
      }),
      error: stringOrNull('Why the last attempt got no complete response; null otherwise.'),
      resendOf: stringOrNull('The id of an earlier delivery, if this delivery repeats that one; null otherwise.'),
      createdAt: epochMs('When the delivery was written.'),
      endpoint: belongsTo('webhooks:read', 'The endpoint.', { type: EndpointType }),
    }),
});
const DeliveryPage = pageOf('WebhookDeliveryPage', DeliveryType);

const timeRule = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31));
const timeArgument = { type: 'EpochMs', validate: { schema: timeRule } } as const;
const webhookDeliveryId = { ...pathId, description: 'The id of the delivery.' } as const;

builder.queryFields((t) => ({
  webhookDeliveries: t.field({
    description: 'Events that were sent to an endpoint, or are to be sent, newest first.',
    scope: 'webhooks:read',
    rest: 'GET /webhook-endpoints/{endpointId}/deliveries',
    tool: 'list_webhook_deliveries',
    type: DeliveryPage,
    args: {
      endpointId: t.arg.string(endpointId),
      status: t.arg({ type: Status.type, description: 'Only deliveries in this state.' }),
      createdFrom: t.arg({ ...timeArgument, description: 'Only deliveries that were written at this time or later.' }),
      createdBefore: t.arg({ ...timeArgument, description: 'Only deliveries that were written before this time.' }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => deliveries.listWebhookDeliveries(caller, args),
  }),
  webhookDelivery: t.field({
    description: 'A delivery by its id.',
    scope: 'webhooks:read',
    rest: 'GET /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}',
    type: DeliveryType,
    args: { endpointId: t.arg.string(endpointId), webhookDeliveryId: t.arg.string(webhookDeliveryId) },
    resolve: (_, args, { caller }) => deliveries.findWebhookDelivery(caller, args.endpointId, args.webhookDeliveryId),
  }),
}));

const time = timeRule.meta({ id: 'EpochMs' });
const ResendRequest = request(
  'ResendWebhookDeliveriesRequest',
  z
    .object({
      createdFrom: time.describe('Deliveries that were written at this time or later.'),
      createdBefore: time.optional().describe('Deliveries that were written before this time; absent means now.'),
      status: Status.zod
        .optional()
        .describe('Only deliveries in this state, `delivered` or `failed`; absent means both.'),
    })
    .meta({
      description:
        'The deliveries to send again are selected by the time at which they were written. A delivery that already repeats an earlier ' +
        'delivery is left out.',
      examples: [{ createdFrom: 1_795_219_200_000, status: 'failed' }],
    }),
);
const ResentType = builder.objectRef<{ count: number }>('ResentWebhookDeliveries').implement({
  description: 'Deliveries that are sent again.',
  fields: (t) => members(t, { count: int('Number of new deliveries.') }),
});

builder.mutationFields((t) => ({
  testWebhookEndpoint: t.field({
    description: `Sends the event \`webhook_endpoint.tested\` to an endpoint at once, and returns its delivery with the response. It is sent regardless of the endpoint’s event types, and even while the endpoint is disabled; it is not sent again after a failure. The call takes at most ${answerBounds.timeoutMs / 1_000} seconds; another test during this time gets a 409.`,
    scope: 'webhooks:write',
    rest: { route: 'POST /webhook-endpoints/{endpointId}/test', status: 201, errors: [409] },
    type: DeliveryType,
    args: { endpointId: t.arg.string(endpointId) },
    resolve: (_, args, { caller }) => testEndpoint(caller, args.endpointId),
  }),
  resendWebhookDelivery: t.field({
    description: 'Sends an event again, as a new delivery with the same `webhook-id`.',
    scope: 'webhooks:write',
    rest: { route: 'POST /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}/resend', status: 201 },
    type: DeliveryType,
    args: { endpointId: t.arg.string(endpointId), webhookDeliveryId: t.arg.string(webhookDeliveryId) },
    resolve: (_, args, { caller }) => deliveries.resend(caller, args.endpointId, args.webhookDeliveryId),
  }),
  resendWebhookDeliveries: t.field({
    description: `Sends the events of a period again, each as a new delivery with the same \`webhook-id\`. An endpoint can have at most ${webhookCounts.waiting} waiting deliveries. A request that would exceed this gets a 409, and nothing is sent.`,
    scope: 'webhooks:write',
    rest: 'POST /webhook-endpoints/{endpointId}/resend',
    type: ResentType,
    args: {
      endpointId: t.arg.string(endpointId),
      input: t.arg({ type: ResendRequest, required: true, description: 'The deliveries to send again.' }),
    },
    resolve: async (_, { endpointId: id, input }, { caller }) => ({
      count: await deliveries.resendRange(caller, id, input),
    }),
  }),
}));
