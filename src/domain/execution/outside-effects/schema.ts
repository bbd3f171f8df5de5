// Outside effects of runs, in GraphQL and as MCP tools.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { members, typed } from '#graph/members.ts';
import { effectBounds } from '../../projects/effects/bounds.ts';
import { OutsideEffectType } from '../../projects/effects/schema.ts';
import { RunType } from '../../work/runs/schema.ts';
import { decideEffects, effectsOf, listEffects } from './decide.ts';

const listed = { complexity: { field: 1, multiplier: 20 } };

const loadEffects = toMany(effectsOf, ({ runId }) => runId);
const OutsideEffectList = builder.objectRef<Awaited<ReturnType<typeof listEffects>>>('OutsideEffectList').implement({
  description: 'The outside effects of a run, on one page.',
  fields: (t) => members(t, { data: typed([OutsideEffectType], 'The effects in their order.', listed) }),
});

builder.queryField('outsideEffects', (t) =>
  t.field({
    description:
      'The outside effects of a run: actions in other systems, each of which needs or needed a person’s approval.',
    scope: 'missions:read',
    tool: 'list_outside_effects',
    type: OutsideEffectList,
    args: { runId: t.arg.string({ ...pathId, description: 'The run.' }) },
    resolve: (_, { runId }, { caller }) => listEffects(caller, runId),
  }),
);

builder.objectField(RunType, 'outsideEffects', (t) =>
  t.field({
    type: [OutsideEffectType],
    graphOnly: true,
    ...listed,
    description: `The outside effects of the run, each of which needs or needed a person’s approval, in their order; at most ${effectBounds.perRun}.`,
    resolve: (run, _, context) => loadEffects(context).load(run.id),
  }),
);

const ids = z.array(z.string().min(1).max(200)).min(1).max(effectBounds.perRun);

const chosen = {
  runId: { ...pathId, description: 'The run.' },
  effectIds: { description: 'Ids of the effects; absent means all that wait.', validate: { schema: ids } },
  digests: {
    description:
      'Digests of the effects as you saw them. If one has changed since, the response is a 409. Absent means no check.',
    validate: { schema: ids },
  },
} as const;

builder.mutationFields((t) => {
  const args = () => ({
    runId: t.arg.string(chosen.runId),
    effectIds: t.arg.stringList(chosen.effectIds),
    digests: t.arg.stringList(chosen.digests),
  });
  return {
    approveOutsideEffects: t.field({
      description:
        'Approves outside effects of a run: the effects in `effectIds`, or without this argument all effects that wait for a decision. Each ' +
        'effect is carried out once, in the background. A second approval changes nothing, except that a failed effect is tried again.',
      scope: 'missions:run',
      tool: { name: 'approve_outside_effects', idempotent: true, openWorld: true },
      type: RunType,
      args: args(),
      resolve: (_, asked, { caller }) => decideEffects(caller, 'approved', asked),
    }),
    rejectOutsideEffects: t.field({
      description:
        'Rejects outside effects of a run: the effects in `effectIds`, or without this argument all effects that wait for a decision. ' +
        'Rejected effects are never carried out. If a push is rejected, the pull request for it is rejected too.',
      scope: 'missions:run',
      tool: { name: 'reject_outside_effects', destructive: true, idempotent: true },
      type: RunType,
      args: args(),
      resolve: (_, asked, { caller }) => decideEffects(caller, 'rejected', asked),
    }),
  };
});
