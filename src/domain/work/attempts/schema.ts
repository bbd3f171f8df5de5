// GraphQL types and tools for attempts at one task: comparison, choice and closing.
import { builder } from '#graph/builder.ts';
import { toMany, toOne } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, epochMsOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { criteriaOf } from '../artifacts/criteria.ts';
import { attemptFigures, reviewResults } from '../runs/attempts.ts';
import { RunType } from '../runs/schema.ts';
import { AttemptState } from '../runs/schema-common.ts';
import { attemptBounds } from './bounds.ts';
import { AttemptGroup, attemptGroupStates } from './model.ts';
import * as operations from './operations.ts';

const AttemptGroupState = wordSet('AttemptGroupState', attemptGroupStates, 'The decision between attempts.', {
  open: 'Nobody has decided yet.',
  chosen: 'One attempt was chosen.',
  closed: 'All attempts were closed without a choice.',
});
const AttemptReview = wordSet('AttemptReview', reviewResults, 'Verdict of a reviewing agent.', {
  approve: 'The change may be merged.',
  request_changes: 'The change is wrong or incomplete.',
});

const figuresOf = toOne(attemptFigures, ({ runId }) => runId);
const criteria = toOne(criteriaOf, ({ runId }) => runId);
const attempts = toMany(operations.attemptsOf, ({ attemptGroupId }) => attemptGroupId!);
const groups = toOne<AttemptGroup>(operations.groupsOf, ({ id }) => id);

const AttemptType = builder.objectRef<operations.Attempt>('Attempt').implement({
  description: 'One of several attempts at a task: a run, with the values that a comparison of the attempts shows.',
  fields: (t) =>
    members(t, {
      number: t.int({
        description: 'Position among the attempts, from 1.',
        resolve: ({ attemptNumber }) => attemptNumber!,
      }),
      state: t.field({
        type: AttemptState.type,
        description: 'The decision about the attempt.',
        resolve: ({ attemptState }) => attemptState!,
      }),
      run: t.field({ type: RunType, description: 'The run: status, cost, times, outcome.', resolve: (run) => run }),
      choiceBlocker: t.string({
        nullable: true,
        description:
          'A sentence which says that the attempt cannot be chosen because it ended without a change. Null for every other attempt.',
        resolve: operations.choiceBlocker,
      }),
      agentName: t.string({
        nullable: true,
        description: 'Name of the agent that builds the change; null before a runtime has claimed the run.',
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.agentName ?? null,
      }),
      harness: t.string({
        nullable: true,
        description:
          'The program that drives the model of the building agent; null before a runtime has claimed the run.',
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.harness ?? null,
      }),
      model: t.string({
        nullable: true,
        description:
          'The model of the building agent. Null until a runtime claims the run, unless the attempt was started with a certain model.',
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.model ?? null,
      }),
      review: t.field({
        type: AttemptReview.type,
        nullable: true,
        description: 'Verdict of the latest review by an agent; null without one.',
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.review ?? null,
      }),
      isTestPassed: t.boolean({
        nullable: true,
        description: 'Whether the latest test by a QA agent has passed; null without one.',
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.isTestPassed ?? null,
      }),
      criteria: t.int({
        description: 'Number of acceptance criteria for which the attempt has artifacts as evidence.',
        resolve: async ({ id }, _, context) => (await criteria(context).load(id))?.criteria ?? 0,
      }),
      criteriaPassed: t.int({
        description: 'Number of acceptance criteria that are met according to artifacts of the attempt.',
        resolve: async ({ id }, _, context) => (await criteria(context).load(id))?.criteriaPassed ?? 0,
      }),
      changedPaths: t.stringList({
        nullable: true,
        complexity: { field: 1, multiplier: attemptBounds.paths },
        description: `Files that the branch changes, sorted, at most ${attemptBounds.paths}; null before a branch was pushed, and when they are unknown.`,
        resolve: async ({ id }, _, context) => (await figuresOf(context).load(id))?.changedPaths ?? null,
      }),
    }),
});

const AttemptGroupType = builder.modelType(AttemptGroup, 'AttemptGroup').implement({
  description: 'Several attempts at one task, of which a person chooses one.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `grp_`.'),
      projectId: string('The project in whose repository the attempts work.'),
      title: string('The first line of the task.'),
      prompt: string('The task. The prompt of a single attempt may differ from the task.', {
        complexity: weightOf(text.prompt.max),
      }),
      budgetUsd: t.float({
        nullable: true,
        description:
          'Maximum cost of all attempts together in US dollars; null means that the attempts have no common limit.',
        resolve: async ({ id }, _, context) => (await attempts(context).load(id))[0]?.budgetUsd ?? null,
      }),
      costUsd: t.float({
        description: 'Cost of all attempts so far, US dollars.',
        resolve: async ({ id }, _, context) =>
          (await attempts(context).load(id)).reduce((sum, { missionCostUsd }) => sum + missionCostUsd, 0),
      }),
      state: typed(AttemptGroupState.type, 'The decision.'),
      chosenRunId: stringOrNull('The run of the chosen attempt; null without one.'),
      decidedBy: stringOrNull('Name of the person who has decided; null before.'),
      decidedAt: epochMsOrNull('When the person decided; null before.'),
      createdAt: epochMs('When the attempts were started.'),
      attempts: t.field({
        type: [AttemptType],
        complexity: { field: 1, multiplier: attemptBounds.perTask.max },
        description: 'The attempts, in order.',
        resolve: ({ id }, _, context) => attempts(context).load(id),
      }),
    }),
});

builder.objectField(RunType, 'attemptGroup', (t) =>
  t.field({
    type: AttemptGroupType,
    nullable: true,
    graphOnly: true,
    description: 'The attempts at the task, one of which is the run; null for a run that is not an attempt.',
    resolve: ({ attemptGroupId }, _, context) =>
      attemptGroupId === null ? null : groups(context).load(attemptGroupId),
  }),
);

const attemptGroupId = {
  ...pathId,
  description: 'The id of the group of attempts: `attemptGroup.id` of a run.',
} as const;

builder.queryField('attemptGroup', (t) =>
  t.field({
    description: 'Several attempts at one task: result, verdicts, files, cost and time of each.',
    scope: 'missions:read',
    tool: 'get_attempts',
    type: AttemptGroupType,
    args: { attemptGroupId: t.arg.string(attemptGroupId) },
    resolve: (_, { attemptGroupId }, { caller }) => operations.findGroup(caller, attemptGroupId),
  }),
);

builder.mutationFields((t) => ({
  chooseAttempt: t.field({
    description:
      'Chooses an attempt, which may still run: its pull request is opened, the runs of the other attempts end, and their branches are ' +
      'deleted. Only the first decision counts: a later one gets a 409, unless it chooses the same attempt.',
    scope: 'missions:run',
    tool: { name: 'choose_attempt', destructive: true, idempotent: true, openWorld: true },
    type: AttemptGroupType,
    args: { runId: t.arg.string({ ...pathId, description: 'The run of the attempt.' }) },
    resolve: (_, { runId }, { caller }) => operations.chooseAttempt(caller, runId),
  }),
  closeAttempts: t.field({
    description:
      'Closes all attempts at a task, without choosing one of them. Their runs end, and their branches are deleted.',
    scope: 'missions:run',
    tool: { name: 'close_attempts', destructive: true, idempotent: true, openWorld: true },
    type: AttemptGroupType,
    args: { attemptGroupId: t.arg.string(attemptGroupId) },
    resolve: (_, { attemptGroupId }, { caller }) => operations.closeAttempts(caller, attemptGroupId),
  }),
}));

builder.subscriptionField('attemptGroupUpdated', (t) =>
  t.field({
    description:
      'Sends the attempts at a task when the subscription begins, and after each change. Completes once a person has decided and all runs have ended.',
    scope: 'missions:read',
    type: AttemptGroupType,
    args: { attemptGroupId: t.arg.string(attemptGroupId) },
    subscribe: async (_, { attemptGroupId }, { caller, follow }) => {
      const runs = await operations.attemptsOf([attemptGroupId], caller);
      return operations.followGroup(follow(attemptGroupId, ...runs.map(({ id }) => id)), attemptGroupId);
    },
    resolve: (group) => group,
  }),
);
