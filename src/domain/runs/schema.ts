// Runs of all kinds, in the graph and as tools: the specification shows no route that reads or steers missions themselves.
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { pages, shown } from '#limits.ts';
import { ProjectType } from '../projects/schema.ts';
import { RunStatus, runFields, runType } from '../recurring/fields.ts';
import { SandboxType } from '../sandboxes/schema.ts';
import * as operations from './operations.ts';

export const RunType = runType('Run').implement({
  description: 'One run of a scheduled task or an automation: a mission.',
  fields: (t) => ({
    id: t.exposeString('id'),
    orgId: t.exposeString('orgId'),
    scheduledTaskId: t.exposeString('scheduledTaskId', { nullable: true }),
    automationId: t.exposeString('automationId', { nullable: true }),
    ...runFields(t),
    missionCostIncomplete: t.exposeBoolean('missionCostIncomplete', {
      description: 'Whether costs are known to be missing from the sum.',
    }),
    startedAt: t.expose('startedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When a runtime first took it.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'EpochMs', nullable: true }),
    scheduledTask: t.belongsTo('scheduledTask', { link: 'scheduled-tasks:read' }),
    automation: t.belongsTo('automation', { link: 'automations:read' }),
    sandboxes: t.hasMany('sandboxes', {
      description: 'The newest 20.',
      link: 'sandboxes:read',
      limit: shown.perParent,
    }),
    artifacts: t.hasMany('artifacts', {
      description: 'The newest 20 of its issue.',
      link: 'artifacts:read',
      limit: shown.perParent,
    }),
  }),
});

builder.objectField(SandboxType, 'run', (t) => t.belongsTo('run', { link: 'missions:read' }));
builder.objectField(ProjectType, 'runs', (t) =>
  t.hasMany('runs', { description: 'The newest 20.', link: 'missions:read', limit: shown.perParent }),
);

const RunPage = pageOf('RunPage', RunType);

builder.queryFields((t) => ({
  runs: t.field({
    description: 'The runs of the organization, newest first; of one project, or in one status.',
    scope: 'missions:read',
    tool: 'list_runs',
    type: RunPage,
    args: {
      projectId: t.arg.string(filter),
      status: t.arg({ type: RunStatus.type }),
      ...pageArguments(pages.runs),
    },
    resolve: (_, args, { caller }) => operations.listRuns(caller, args),
  }),
  run: t.field({
    description: 'One run, with what it left behind.',
    scope: 'missions:read',
    tool: 'get_run',
    type: RunType,
    args: { runId: t.arg.string(pathId) },
    resolve: (_, { runId }, { caller }) => operations.findRun(caller, runId),
  }),
}));

builder.mutationField('cancelRun', (t) =>
  t.field({
    description: 'Ends an open run at once. Canceling it twice changes nothing.',
    scope: 'missions:run',
    tool: { name: 'cancel_run', destructive: true, idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(pathId) },
    resolve: (_, { runId }, { caller }) => operations.cancelRun(caller, runId),
  }),
);

builder.subscriptionField('runUpdated', (t) =>
  t.field({
    description: 'One run as it is, and again after each change; complete when it has come to its end.',
    scope: 'missions:read',
    type: RunType,
    args: { runId: t.arg.string(pathId) },
    subscribe: (_, { runId }, { follow }) => operations.followRun(follow(runId), runId),
    resolve: (run) => run,
  }),
);
