// The events feed as an OpenAPI 3.1 fragment.
import { z } from 'zod';
import { FeedParameters } from './parameters.ts';

type Json = Record<string, unknown>;

const text = (description: string): Json => ({ type: 'string', description });
const textOrNull = (description: string): Json => ({ type: ['string', 'null'], description });
const record = (description: string, properties: Record<string, Json>): Json => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
});
const number = (description: string): Json => ({ type: 'integer', minimum: 0, description });

/** The type of an event, in the feed and in webhooks. */
export const eventType = text('The type of the event, as `noun.verb`: `run.completed`, `member.removed`.');

export const feedSchemas: Json = {
  FeedEvent: record('A change of a record, without its actor and its values.', {
    version: {
      const: 1,
      type: 'integer',
      description: 'The version of this record. Members may be added to it; existing members do not change.',
    },
    number: number('The position in the log of the organization. A later number never appears before an earlier one.'),
    type: eventType,
    occurredAt: {
      type: 'integer',
      format: 'int64',
      description: 'When the transaction of the change began, in epoch milliseconds.',
    },
    projectId: textOrNull('The project of the record; null for a record of the organization.'),
    runId: textOrNull(
      'The mission that the record belongs to; for a mission, its own id. Null for a record that belongs to no mission.',
    ),
    subject: { $ref: '#/components/schemas/FeedSubject', description: 'The record that was changed.' },
    url: text(
      'The URL of the full audit event, which also states who made the change, with which credential, and the values before and after the change.',
    ),
  }),
  FeedSubject: record('The record that was changed.', {
    type: text('The noun of the type.'),
    id: text('The id of the record. If several values identify it, they are joined by colons.'),
  }),
  FeedPage: record('Events after a number, oldest first.', {
    data: { type: 'array', items: { $ref: '#/components/schemas/FeedEvent' }, description: 'The events that match.' },
    lastNumber: number('The number to send as `after` for the next page, even if no event matches.'),
    hasMore: {
      type: 'boolean',
      description: 'Whether the log has further events after `lastNumber`. Further events might not match the filter.',
    },
  }),
};

const { properties } = z.toJSONSchema(FeedParameters, { io: 'input' }) as { properties: Record<string, Json> };
const error = (name: string) => ({ $ref: `#/components/responses/${name}` });

export const feedPaths: Json = {
  '/events': {
    get: {
      operationId: 'events',
      tags: ['events'],
      summary: 'Events of the organization after a number',
      description:
        'Events of the organization whose number is greater than `after`, oldest first. The numbers are those of the audit log. ' +
        'The response is sent at once; or, with `wait`, when the next event happens; or, with `Accept: text/event-stream`, it is a stream ' +
        'of server-sent events that continues after `Last-Event-ID`. Requires the scope `audit:read`.',
      'x-required-scope': 'audit:read',
      security: [{ bearer: [] }, { session: [] }],
      parameters: [
        ...Object.entries(properties).map(([name, { description, ...schema }]) => ({
          ...{ name, in: 'query', required: false, description, schema },
          ...(schema.type === 'array' && { explode: false }),
        })),
        {
          ...{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string', maxLength: 15 } },
          description: 'The number of the last event that the reader of a stream has received, in place of `after`.',
        },
      ],
      responses: {
        200: {
          description: 'The events.',
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/FeedPage' } },
            'text/event-stream': {
              schema: text('Each event has its number as `id` and a `FeedEvent` as `data`.'),
            },
          },
        },
        400: error('BadRequest'),
        401: error('Unauthenticated'),
        403: error('Forbidden'),
        429: error('TooManyRequests'),
        500: error('InternalError'),
        503: error('Unavailable'),
      },
    },
  },
};
