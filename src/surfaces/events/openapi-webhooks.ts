// The requests of webhooks as the `webhooks` object of OpenAPI 3.1.
import { eventType } from './openapi.ts';

type Json = Record<string, unknown>;

const header = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  ...{ name, in: 'header', required: true, description, schema },
});

export const webhookSchemas: Json = {
  WebhookMessage: {
    type: 'object',
    description: 'The body of a webhook (Standard Webhooks).',
    properties: {
      type: eventType,
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened, in UTC.' },
      data: { $ref: '#/components/schemas/FeedEvent', description: 'The event, as in the events feed.' },
    },
    required: ['type', 'timestamp', 'data'],
  },
};

export const webhookRequests: Json = {
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['webhook-endpoints'],
      summary: 'An event of the organization, sent to a webhook endpoint',
      description:
        'An event is sent to each endpoint that has chosen its type and project, and repeated for three days until the endpoint answers with ' +
        '2xx. It may arrive more than once, with the same `webhook-id`.',
      security: [],
      parameters: [
        header('webhook-id', 'The id of the event, the same in each attempt.'),
        header('webhook-timestamp', 'When the attempt was signed, in epoch seconds.', { type: 'integer' }),
        header(
          'webhook-signature',
          'One or more signatures, separated by spaces: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` with the secret.',
        ),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookMessage' } } },
      },
      responses: {
        '2XX': { description: 'The event is delivered.' },
        410: { description: 'The endpoint is disabled.' },
        429: {
          description: 'The event is sent again after `Retry-After`, as after 502, 503 and 504.',
          headers: { 'Retry-After': { description: 'Seconds, or a date.', schema: { type: 'string' } } },
        },
        default: { description: 'The event is sent again later.' },
      },
    },
  },
};
