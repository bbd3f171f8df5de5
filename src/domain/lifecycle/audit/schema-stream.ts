// The destination of the audit log, in all APIs.
import { z } from 'zod';
import { okAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { epochMs, epochMsOrNull, members, safeInt, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { streamBounds } from './bounds.ts';
import { AuditStream } from './stream/model.ts';
import * as settings from './stream/settings.ts';

const StreamState = wordSet(
  'AuditStreamState',
  ['waiting', 'delivering', 'failing'],
  'State of the deliveries of an audit log.',
  {
    waiting: 'Nothing was delivered yet.',
    delivering: 'The last delivery was accepted.',
    failing: 'The last delivery was not accepted; it is tried again.',
  },
);

const StreamType = builder.modelType(AuditStream, 'AuditStream').implement({
  description:
    'The destination to which the audit log of an organization is sent: each entry and checkpoint at least once, in the order of the ' +
    'entries’ numbers, as the lines that `aep audit export --format entries` writes. Its credentials are not returned.',
  fields: (t) =>
    members(t, {
      address: string('An https URL, or `s3://bucket/prefix`.'),
      state: t.field({
        type: StreamState.type,
        description: 'Whether the deliveries are accepted.',
        resolve: ({ failingSince, deliveredAt }) =>
          failingSince !== null ? 'failing' : deliveredAt !== null ? 'delivering' : 'waiting',
      }),
      lastNumber: safeInt('The number of the last entry that the destination has accepted; 0 before the first one.'),
      pending: t.field({
        type: 'SafeInt',
        description: 'The number of entries that have not been delivered yet.',
        resolve: settings.countPending,
      }),
      deliveredAt: epochMsOrNull('When the destination last accepted a delivery; null before the first one.'),
      failingSince: epochMsOrNull(
        'Since when deliveries have been failing; null if the destination accepted the last delivery.',
      ),
      lastError: stringOrNull('Why the last delivery failed; null if the destination accepted it.'),
      nextAttemptAt: t.field({
        type: 'EpochMs',
        nullable: true,
        description: 'When the next attempt begins; null while deliveries are accepted.',
        resolve: ({ failingSince, dueAt }) => (failingSince === null ? null : dueAt),
      }),
      createdAt: epochMs('When the first destination was chosen.'),
      updatedAt: epochMs('When the destination was last changed.'),
    }),
});

const Saved = builder.objectRef<settings.SavedAuditStream>('SavedAuditStream').implement({
  description: 'A destination, and its token if it was created now.',
  fields: (t) =>
    members(t, {
      stream: typed(StreamType, 'The destination.'),
      token: stringOrNull(
        'The new token that deliveries carry, which no other response contains; null when the caller chose the token, or the stored one is kept.',
      ),
    }),
});

const Streaming = builder.objectRef<{ stream: AuditStream | null }>('AuditStreaming').implement({
  description: 'Where the audit log of an organization is sent.',
  fields: (t) => members(t, { stream: typedOrNull(StreamType, 'The destination; null without one.') }),
});

const credential = boundedText(streamBounds.secret)
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')
  .optional();
const SetRequest = request(
  'SetAuditStreamRequest',
  z
    .object({
      address: boundedText(streamBounds.address).describe(
        'An https URL of a public host, or `s3://bucket/prefix?region=REGION`, with `endpoint` and `path-style` for a server other than Amazon’s.',
      ),
      token: credential.describe(
        'The token for an https URL, sent as `Authorization: Bearer`. If it is absent, the stored token is kept while the ' +
          'host is unchanged; for another host, a token is created.',
      ),
      accessKeyId: credential.describe(
        'The access key for a bucket, which must allow `s3:PutObject`. Absent keeps the stored key if the bucket is unchanged.',
      ),
      secretAccessKey: credential.describe('The secret of the access key.'),
      after: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe(
          'The number after which deliveries begin. Absent means that deliveries continue after the last accepted entry or, without a ' +
            'previous destination, begin with the first entry.',
        ),
    })
    .meta({
      description: 'The destination of the audit log.',
      examples: [{ address: 'https://logs.example.com/audit' }],
    }),
);

builder.queryField('auditStream', (t) =>
  t.field({
    description:
      'The destination to which the audit log of the organization is sent, and whether it accepts the deliveries.',
    scope: 'audit:read',
    type: Streaming,
    resolve: async (_, _args, { caller }) => ({ stream: await settings.findAuditStream(caller) }),
  }),
);

builder.mutationFields((t) => ({
  setAuditStream: t.field({
    description:
      'Sends the audit log to a destination, which replaces the present destination. Only an admin or an owner may do this, with ' +
      'the scope `organizations:write` in addition to `audit:read`.',
    scope: 'audit:read',
    type: Saved,
    args: { input: t.arg({ type: SetRequest, required: true, description: 'The destination.' }) },
    resolve: (_, { input }, { caller }) => settings.setAuditStream(caller, input),
  }),
  deleteAuditStream: t.field({
    description:
      'Ends the deliveries of the audit log, and deletes the stored credentials. Deleting twice changes nothing. The scope ' +
      '`organizations:write` is required in addition to `audit:read`.',
    scope: 'audit:read',
    type: okAnswer('DeleteAuditStreamResponse'),
    resolve: (_, _args, { caller }) => settings.deleteAuditStream(caller),
  }),
  retryAuditStream: t.field({
    description:
      'Begins the next attempt of a failing delivery at once. The scope `organizations:write` is required in addition to `audit:read`.',
    scope: 'audit:read',
    type: Streaming,
    resolve: async (_, _args, { caller }) => ({ stream: await settings.retryAuditStream(caller) }),
  }),
}));
