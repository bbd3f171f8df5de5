// Runs of both kinds, in GraphQL, in REST and as tools.
import { z } from 'zod';
import { idOfNoun } from '#foundation/ids.ts';
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import {
  belongsTo,
  boolean,
  epochMsOrNull,
  floatOrNull,
  hasMany,
  int,
  intOrNull,
  members,
  string,
  stringOrNull,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, previewSizes, text } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { SandboxType } from '../sandboxes/schema.ts';
import { filterTime, groupedRuns, maxGroups } from './bounds.ts';
import { runGroupings } from './model.ts';
import * as operations from './operations.ts';
import { AttemptState, RunKind, RunStatus, runFields, runType } from './schema-common.ts';
import { outcomeOf, PullRequestState, RunOutcomeType } from './schema-outcome.ts';
import { AgentChoiceType } from './schema-steps.ts';

export const RunType = runType('Run').implement({
  description: 'One mission: a run of a scheduled task or an automation, or a run that was started without either.',
  fields: (t) =>
    members(t, {
      id: string('The id, which is unique and never changes.'),
      orgId: string('The organization of the run.'),
      scheduledTaskId: t.string({
        nullable: true,
        description:
          'The scheduled task of the run; null for a run without one, and after the scheduled task was deleted.',
        resolve: ({ recurringId }) => idOfNoun('scheduledTask', recurringId),
      }),
      automationId: t.string({
        nullable: true,
        description: 'The automation of the run; null for a run without one, and after the automation was deleted.',
        resolve: ({ recurringId }) => idOfNoun('automation', recurringId),
      }),
      ...runFields(t),
      prompt: stringOrNull(
        'The task that the run was started with; null for a run of a scheduled task or an automation.',
        { complexity: weightOf(text.prompt.max) },
      ),
      agentId: stringOrNull(
        'The only agent that may work on the run; null means any agent that a connected runtime offers.',
      ),
      awaitsApproval: boolean('Whether the plan waits for a person to approve it.'),
      interruptedAt: epochMsOrNull(
        'When a person interrupted the agent of the run; null while no interruption is in effect.',
      ),
      budgetUsd: floatOrNull(
        'Budget of the mission in US dollars. If the next model call or minute would exceed the budget, the mission waits until a ' +
          'person raises the budget. Null means that only the plan and the credits of the organization limit the mission.',
      ),
      agentChoice: typedOrNull(
        AgentChoiceType,
        'How the agents were chosen; null before a runtime first claimed it, and for a run that continues another one.',
        { graphOnly: true },
      ),
      missionCostIncomplete: boolean('Whether costs are known to be missing from the sum.'),
      startedAt: epochMsOrNull('When a runtime first claimed the run; null before.'),
      finishedAt: epochMsOrNull('When the run was completed, failed or was canceled; null before.'),
      branch: stringOrNull('The branch that the runtime of the run has pushed; null before.'),
      headSha: stringOrNull('The newest commit of the pushed branch.'),
      prNumber: intOrNull('The number of the run’s pull request; null without one.'),
      prUrl: stringOrNull('The page of the run’s pull request; null without one.'),
      prState: typedOrNull(
        PullRequestState.type,
        'The state of the run’s pull request, updated periodically; null without one.',
      ),
      outcome: t.field({
        type: RunOutcomeType,
        nullable: true,
        description:
          'The changes of the run’s commits in the repository; null while the run is open, and for a run without a repository, such as a script.',
        resolve: outcomeOf,
      }),
      attemptNumber: intOrNull(
        'Position among the attempts at its task, from 1; null for a run that is not an attempt.',
        { graphOnly: true },
      ),
      attemptState: typedOrNull(
        AttemptState.type,
        'The decision about the attempt; null for a run that is not an attempt.',
        {
          graphOnly: true,
        },
      ),
      scheduledTask: belongsTo('scheduled-tasks:read', 'The scheduled task of the run.'),
      automation: belongsTo('automations:read', 'The automation of the run.'),
      sandboxes: hasMany('sandboxes:read', `The newest ${previewSizes.perParent} sandboxes.`, {
        limit: previewSizes.perParent,
      }),
      artifacts: hasMany('artifacts:read', `The newest ${previewSizes.perParent} artifacts of the issue of the run.`, {
        limit: previewSizes.perParent,
      }),
    }),
});

builder.objectField(SandboxType, 'run', (t) =>
  t.belongsTo('run', { link: 'missions:read', description: 'The run that the sandbox works for; null without one.' }),
);
builder.objectField(ProjectType, 'runs', (t) =>
  t.hasMany('runs', {
    description: `The newest ${previewSizes.perParent} runs.`,
    link: 'missions:read',
    limit: previewSizes.perParent,
  }),
);

const time = {
  type: 'EpochMs',
  validate: { schema: z.number().int().min(filterTime.min).max(filterTime.max) },
} as const;

const RunPage = pageOf('RunPage', RunType);

const filterArguments = () =>
  builder.args((t) => ({
    projectId: t.string({ ...filter, description: 'Only runs of this project.' }),
    status: t.field({ type: RunStatus.type, description: 'Only runs in this status.' }),
    search: t.string({
      description:
        'Only runs that contain all of these words, or words that begin with them. The search covers title, prompt and messages and, ' +
        'if the caller has the scope `sandboxes:read`, the transcript and logs of the last 14 days. 1 to 200 characters, of which the ' +
        'first 10 words count.',
      validate: { schema: boundedText({ min: 1, max: 200 }) },
    }),
    needsPerson: t.boolean({
      description: 'True means only open runs that wait for a person to act, for example to approve a plan.',
    }),
    followed: t.boolean({ description: 'True means only runs that the caller follows.' }),
    kind: t.field({
      type: RunKind.type,
      description: 'Only runs that the schedule started, or only those that a person or program started.',
    }),
    agentId: t.string({
      ...filter,
      description: 'Only runs that were started for this agent; `none` for those that any agent may work on.',
    }),
    personId: t.string({
      ...filter,
      description: 'Only runs with this `personId`; `none` for runs without a responsible person.',
    }),
    createdFrom: t.field({
      ...time,
      description: 'Only runs that were created at this time or later; the year is at most 9999.',
    }),
    createdBefore: t.field({
      ...time,
      description: 'Only runs that were created before this time; the year is at most 9999.',
    }),
  }));

export const Grouping = wordSet('RunGrouping', runGroupings, 'The value by which runs are grouped.', {
  status: 'One group for each status.',
  project: 'One group for each project.',
  agent: 'One group for each agent that the runs were started for.',
  person: 'One group for each person to whom runs belong.',
});

const RunGroupType = builder.objectRef<operations.RunGroup>('RunGroup').implement({
  description: 'Runs that share a status, a project, an agent or a person.',
  fields: (t) =>
    members(t, {
      key: stringOrNull(
        'The value that the runs of the group share: a status, or the id of a project, agent or person. Null for runs without an agent or person.',
      ),
      name: stringOrNull('The name of the project, agent or person; null for a status, and for a deleted record.'),
      count: int('Number of runs.'),
    }),
});

const RunGroupsType = builder.objectRef<{ data: operations.RunGroup[] }>('RunGroups').implement({
  description: 'The groups of runs.',
  fields: (t) => members(t, { data: typed([RunGroupType], 'The groups, largest first.') }),
});

builder.queryFields((t) => ({
  runs: t.field({
    description:
      'The runs of the organization, newest first; filtered by project, status, origin, agent and time, and by whether they wait for a person to act.',
    scope: 'missions:read',
    rest: { route: 'GET /runs', without: ['search', 'personId', 'followed'] },
    tool: 'list_runs',
    type: RunPage,
    args: {
      ...filterArguments(),
      ...orderArgument(),
      ...pageArguments(pages.runs),
    },
    resolve: (_, args, { caller }) => operations.listRuns(caller, args),
  }),
  runGroups: t.field({
    description: `The groups of the matching runs, largest first, at most ${maxGroups}. Only the newest ${groupedRuns.toLocaleString('en-GB')} matching runs are counted.`,
    scope: 'missions:read',
    complexity: 100,
    type: RunGroupsType,
    args: {
      by: t.arg({ type: Grouping.type, required: true, description: 'The value that the runs of a group share.' }),
      ...filterArguments(),
    },
    resolve: async (_, { by, ...filter }, { caller }) => ({ data: await operations.groupRuns(caller, by, filter) }),
  }),
  run: t.field({
    description: 'One run, with its sandboxes and artifacts.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}',
    tool: 'get_run',
    type: RunType,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: (_, { runId }, { caller }) => operations.findRun(caller, runId),
  }),
}));

builder.mutationField('cancelRun', (t) =>
  t.field({
    description: 'Ends an open run at once. Canceling it twice changes nothing.',
    scope: 'missions:run',
    rest: 'POST /runs/{runId}/cancel',
    tool: { name: 'cancel_run', destructive: true, idempotent: true },
    type: RunType,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: (_, { runId }, { caller }) => operations.cancelRun(caller, runId),
  }),
);

builder.subscriptionField('runUpdated', (t) =>
  t.field({
    description: 'Sends the run when the subscription begins, and after each change. Completes when the run has ended.',
    scope: 'missions:read',
    type: RunType,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    subscribe: (_, { runId }, { follow }) => operations.followRun(follow(runId), runId),
    resolve: (run) => run,
  }),
);
