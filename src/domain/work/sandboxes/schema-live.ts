// GraphQL subscription for live updates of a sandbox.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { int, members, typed } from '#graph/members.ts';
import { previewSizes, report } from '#limits.ts';
import { followSandbox, type SandboxUpdate } from './follow.ts';
import { SandboxType } from './schema.ts';
import { LiveFragment, SandboxMetric } from './schema-parts.ts';

const SandboxUpdateType = builder.objectRef<SandboxUpdate>('SandboxUpdate').implement({
  description: 'Changes of a sandbox since the last event.',
  fields: (t) =>
    members(t, {
      sandbox: typed(SandboxType, 'The sandbox at this moment.'),
      fragments: typed([LiveFragment], 'The fragments since the last event, at most 200 at a time, the newest last.', {
        complexity: { field: 1, multiplier: previewSizes.fragments },
      }),
      nextFragment: int('Number of the next fragment, to send as `after`.'),
      metrics: typed(
        [SandboxMetric],
        'The first event contains all metrics so far, as at most 240 points. Each later event contains the samples since the previous event.',
        { complexity: { field: 1, multiplier: previewSizes.metrics } },
      ),
    }),
});

const after = z.int().min(0).max(report.fragmentsPerSandbox);

builder.subscriptionField('sandboxUpdated', (t) =>
  t.field({
    description:
      'The sandbox, then each change as it happens. A new piece of a log also causes an event; read the piece with `sandboxLog` and `after`. Completes when the sandbox has ended and every change was sent.',
    scope: 'sandboxes:read',
    type: SandboxUpdateType,
    args: {
      sandboxId: t.arg.string(pathId),
      after: t.arg.int({
        description:
          'The `nextFragment` of the last event received; without it, the stream begins with the last 200 fragments.',
        validate: { schema: after },
      }),
    },
    subscribe: (_, { sandboxId, after }, { follow }) => followSandbox(follow(sandboxId), sandboxId, after ?? null),
    resolve: (update) => update,
  }),
);
