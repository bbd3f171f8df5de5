// The retention of the audit log in all APIs.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { int, members } from '#graph/members.ts';
import { retentionDays } from './bounds.ts';
import { type AuditRetention, findRetention, setRetention } from './retention.ts';

const Retention = builder.objectRef<AuditRetention>('AuditRetention').implement({
  description: 'How long an organization keeps its audit log.',
  fields: (t) =>
    members(t, {
      days: int(
        `Days after which an event is deleted; ${retentionDays.default} unless the organization has chosen another number.`,
      ),
    }),
});

builder.queryField('auditRetention', (t) =>
  t.field({
    description: 'How long the organization keeps its audit log.',
    scope: 'audit:read',
    type: Retention,
    resolve: (_, _args, { caller }) => findRetention(caller),
  }),
);

builder.mutationField('setAuditRetention', (t) =>
  t.field({
    description:
      'Sets how long the organization keeps its audit log. Older events are deleted within the hour; the change is itself an event. ' +
      'Only an admin or an owner may do this.',
    scope: 'organizations:write',
    type: Retention,
    args: {
      days: t.arg.int({
        required: true,
        validate: { schema: z.int().min(retentionDays.min).max(retentionDays.max) },
        description: `Days, from ${retentionDays.min} to ${retentionDays.max.toLocaleString('en-GB')}.`,
      }),
    },
    resolve: (_, { days }, { caller }) => setRetention(caller, { days }),
  }),
);
