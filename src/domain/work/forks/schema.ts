// Forks of missions in all APIs.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { toMany, toOne } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { belongsTo, boolean, epochMs, int, intOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import { RunType } from '../runs/schema.ts';
import { missionBudget } from '../runs/schema-common.ts';
import { forkBounds } from './bounds.ts';
import { RunFork } from './model.ts';
import * as operations from './operations.ts';

const { call } = forkBounds;

const RunForkType = builder.modelType(RunFork, 'RunFork').implement({
  description: 'How a mission was forked: its first calls were answered from the recording of another one.',
  fields: (t) =>
    members(t, {
      runId: string('The run that was started.'),
      run: belongsTo('missions:read', 'The run that was started.'),
      sourceRunId: string('The run whose recording was replayed.'),
      source: belongsTo('missions:read', 'The run whose recording was replayed.'),
      sourceStepId: string('The step of the recording in which the mission was forked.'),
      call: int(
        'Number of the first call of that step that was sent to a model; earlier calls and steps were replayed.',
      ),
      calls: int('Calls of models and tools that the recording answers.'),
      model: string('The model of that call and later ones.'),
      agentVersion: intOrNull('The version of the agent for that call and later ones; null for a built-in agent.'),
      prompt: stringOrNull('The message to the agent at that call; null without one.', {
        complexity: weightOf(text.prompt.max),
      }),
      createdAt: epochMs('When the mission was forked.'),
    }),
});

const loadFork = toOne<RunFork>(operations.forksWithRuns, ({ runId }) => runId);
const loadForks = toMany<RunFork>(operations.forksOf, ({ sourceRunId }) => sourceRunId);

builder.objectFields(RunType, (t) => ({
  fork: t.field({
    type: RunForkType,
    nullable: true,
    graphOnly: true,
    description: 'The run and the call that the run was forked from; null for a run that is not a fork.',
    resolve: ({ id }, _, context) => loadFork(context).load(id),
  }),
  forks: t.field({
    type: [RunForkType],
    graphOnly: true,
    complexity: { field: 1, multiplier: forkBounds.perRun },
    description: `The newest ${forkBounds.perRun} missions that were forked from the run, oldest first.`,
    resolve: ({ id }, _, context) => loadForks(context).load(id),
  }),
}));

const RecordedModelCall = builder.objectRef<operations.ForkableCall>('RecordedModelCall').implement({
  description: 'A recorded model call, from which a fork can continue.',
  fields: (t) =>
    members(t, {
      stepId: string('The step of the call.'),
      role: typed(AgentRole.type, 'The role of the agent.'),
      number: int('Position among the calls of models and tools of the step, from 1.'),
      at: epochMs('When the call began.'),
      model: stringOrNull(
        'The model that the request names; null when the recording does not contain the content of the request.',
      ),
      status: int('The HTTP status of the answer.'),
      isOmitted: boolean('Whether the content of the call is left out, because it exceeds the limits of a recording.'),
    }),
});
const RecordedModelCalls = builder
  .objectRef<{ data: operations.ForkableCall[]; hasMore: boolean }>('RecordedModelCalls')
  .implement({
    description: `A page of at most ${forkBounds.calls} recorded model calls.`,
    fields: (t) =>
      members(t, {
        data: typed([RecordedModelCall], 'The calls, grouped by step, in the order in which they began.', {
          complexity: { field: 1, multiplier: forkBounds.calls },
        }),
        hasMore: boolean('Whether there are further calls.'),
      }),
  });

builder.queryField('recordedModelCalls', (t) =>
  t.field({
    description:
      'The model calls in the recording of a run: a fork can begin with any of them. 404 without a recording.',
    scope: 'artifacts:read',
    complexity: forkBounds.readingCost,
    type: RecordedModelCalls,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The id of the run.' }),
      after: t.arg.int({
        defaultValue: 0,
        description: 'Number of calls to skip.',
        validate: { schema: z.int().min(0).max(call.max) },
      }),
    },
    resolve: (_, { runId, after }, { caller }) => operations.listForkableCalls(caller, runId, after ?? 0),
  }),
);

builder.mutationField('forkMission', (t) =>
  t.field({
    description:
      'Starts a mission that continues a recorded mission from one of its model calls. Earlier calls are answered from the recording, at no ' +
      'cost. At the chosen call, the session of the agent continues with the chosen model, version and message. The mission fails when the ' +
      'replay differs from the recording before the call. Also requires `artifacts:read`.',
    scope: 'missions:run',
    complexity: forkBounds.readingCost,
    rest: { route: 'POST /runs/{runId}/fork', body: 'ForkMissionRequest', status: 201, errors: [402, 409, 502] },
    tool: { name: 'fork_mission', openWorld: true, startsRun: true },
    type: RunType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The recorded run, which must have ended.' }),
      stepId: t.arg.string({
        required: true,
        description: 'The step of the call.',
        validate: { schema: boundedText(text.pathId) },
      }),
      call: t.arg.int({
        required: true,
        description:
          'Number, within the step, of the model call from which the new mission continues: the first call that is sent to a model and not answered from the recording. ' +
          '`recordedModelCalls` and the download of the recording contain these numbers.',
        validate: { schema: z.int().min(call.min).max(call.max) },
      }),
      prompt: t.arg.string({
        description:
          'The message that the agent gets at the chosen call. Absent means that the agent is asked to continue.',
        validate: { schema: boundedText(text.prompt) },
      }),
      model: t.arg.string({
        description:
          'The model for the chosen call and later ones. The harness of the step must support it. Absent means the model of the agent.',
        validate: { schema: boundedText(text.modelId) },
      }),
      agentVersion: t.arg.int({
        description:
          'The version of the agent for the chosen call and later ones. It must have the same harness; its instructions, model, effort and skills ' +
          'apply. Absent means ' +
          'the version of the recorded step.',
        validate: { schema: z.int().min(1).max(1e9) },
      }),
      budgetUsd: t.arg.float({
        ...missionBudget,
        description:
          'Budget of the mission in US dollars, 0.01 to 10,000; absent means the budget of the recorded mission.',
      }),
    },
    resolve: (_, args, { caller }) => operations.forkMission(caller, args),
  }),
);
