// Scheduled tasks on every surface (specification, Scheduled tasks and automations). What they do is written in ../recurring.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { pages, shown } from '#limits.ts';
import { ProjectType } from '../projects/schema.ts';
import {
  CreateRequest,
  RunNowResponse,
  recurringFields,
  runFields,
  runType,
  TemplateList,
  templateList,
  UpdateRequest,
  verbsOf,
} from '../recurring/fields.ts';
import { ScheduledTask, scheduledTasks } from './model.ts';

const verbs = verbsOf(scheduledTasks);

export const ScheduledTaskType = builder.modelType(ScheduledTask, 'ScheduledTask');
const ScheduledTaskRunType = runType('ScheduledTaskRun');

ScheduledTaskType.implement({
  description: 'A mission that starts again and again.',
  fields: (t) => ({
    ...recurringFields(t),
    createdByUserId: t.exposeString('createdByUserId'),
    runs: t.hasMany('runs', {
      link: 'scheduled-tasks:read',
      description: 'The newest 20; `scheduledTaskRuns` pages through them all.',
      limit: shown.perParent,
      type: ScheduledTaskRunType,
    }),
  }),
});

ScheduledTaskRunType.implement({
  description: 'One run of a scheduled task.',
  fields: (t) => ({
    id: t.exposeString('id'),
    scheduledTaskId: t.string({ resolve: (run) => run.scheduledTaskId! }),
    ...runFields(t),
    billingActorUserId: t.exposeString('billingActorUserId', {
      nullable: true,
      description: 'Who pressed "run now", else who last set what the task runs.',
    }),
    missionCostIncomplete: t.exposeBoolean('missionCostIncomplete', {
      description: 'Whether costs are known to be missing from the sum.',
    }),
    scheduledTask: t.belongsTo('scheduledTask', { link: 'scheduled-tasks:read' }),
  }),
});

builder.objectField(ProjectType, 'scheduledTasks', (t) =>
  t.hasMany('scheduledTasks', { description: 'The newest 20.', link: 'scheduled-tasks:read', limit: shown.perParent }),
);

const ScheduledTaskPage = pageOf('ScheduledTaskPage', ScheduledTaskType);
const ScheduledTaskRunPage = pageOf('ScheduledTaskRunPage', ScheduledTaskRunType);
const DeleteScheduledTaskResponse = okIdAnswer('DeleteScheduledTaskResponse');

builder.queryFields((t) => ({
  scheduledTasks: t.field({
    description: 'Scheduled tasks, newest first; of one project, or of all.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks',
    tool: 'list_scheduled_tasks',
    type: ScheduledTaskPage,
    args: { ...pageArguments(pages.other), projectId: t.arg.string(filter) },
    resolve: (_, args, { caller }) => verbs.list(caller, args),
  }),
  scheduledTaskTemplates: t.field({
    description: 'Ready-made missions to begin a scheduled task from.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks/templates',
    tool: 'list_scheduled_task_templates',
    type: TemplateList,
    resolve: () => templateList,
  }),
  scheduledTask: t.field({
    description: 'One scheduled task.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks/{id}',
    tool: 'get_scheduled_task',
    type: ScheduledTaskType,
    args: { id: t.arg.string(pathId) },
    resolve: (_, { id }, { caller }) => verbs.find(caller, id),
  }),
  scheduledTaskRuns: t.field({
    description: 'The runs of a scheduled task, newest first.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks/{id}/runs',
    tool: 'list_scheduled_task_runs',
    type: ScheduledTaskRunPage,
    args: { id: t.arg.string(pathId), ...pageArguments(pages.runs) },
    resolve: (_, { id, ...page }, { caller }) => verbs.runs(caller, id, page),
  }),
}));

builder.mutationFields((t) => ({
  createScheduledTask: t.field({
    description: 'Creates a mission that starts again and again, on a schedule. Takes the scope `missions:run` too.',
    scope: 'scheduled-tasks:write',
    rest: { route: 'POST /scheduled-tasks', status: 201, errors: [404] },
    tool: 'create_scheduled_task',
    type: ScheduledTaskType,
    args: { input: t.arg({ type: CreateRequest, required: true }) },
    resolve: (_, { input }, { caller }) => verbs.create(caller, input),
  }),
  updateScheduledTask: t.field({
    description:
      'Changes a scheduled task. A member that is left out stays. The next run moves only with the triggers. Enabling it, or ' +
      'changing its prompt, triggers or project, takes the scope `missions:run` too.',
    scope: 'scheduled-tasks:write',
    rest: 'PATCH /scheduled-tasks/{id}',
    tool: { name: 'update_scheduled_task', idempotent: true },
    type: ScheduledTaskType,
    args: { id: t.arg.string(pathId), input: t.arg({ type: UpdateRequest, required: true }) },
    resolve: (_, { id, input }, { caller }) => verbs.change(caller, id, input),
  }),
  deleteScheduledTask: t.field({
    description: 'Deletes a scheduled task and cancels what it has not begun; missions under way go on.',
    scope: 'scheduled-tasks:write',
    rest: 'DELETE /scheduled-tasks/{id}',
    tool: { name: 'delete_scheduled_task', destructive: true, idempotent: true },
    type: DeleteScheduledTaskResponse,
    args: { id: t.arg.string(pathId) },
    resolve: (_, { id }, { caller }) => verbs.remove(caller, id),
  }),
  runScheduledTask: t.field({
    description: 'Runs a scheduled task now, also a disabled one.',
    scope: 'missions:run',
    rest: { route: 'POST /scheduled-tasks/{id}/run', errors: [402] },
    tool: { name: 'run_scheduled_task', openWorld: true },
    type: RunNowResponse,
    args: { id: t.arg.string(pathId) },
    resolve: (_, { id }, { caller }) => verbs.runNow(caller, id),
  }),
}));
