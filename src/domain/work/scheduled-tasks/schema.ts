// Scheduled tasks in all APIs (docs/contract.md#scheduled-tasks-and-automations). ../recurring implements them.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { filter, ifUpdatedAt, pathId } from '#graph/input.ts';
import { belongsTo, boolean, hasMany, members, string, stringOrNull } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { pages, previewSizes } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import {
  CreateRequest,
  scheduledTaskOperations as operations,
  RunNowResponse,
  recurringFields,
  ScheduledTaskType,
  TemplateList,
  templateList,
  UpdateRequest,
} from '../recurring/schema-common.ts';
import { runFields, runType } from '../runs/schema-common.ts';

const ScheduledTaskRunType = runType('ScheduledTaskRun');

ScheduledTaskType.implement({
  description: 'A recurring mission of a person: it starts on a schedule or manually.',
  fields: (t) =>
    members(t, {
      ...recurringFields(t),
      createdByUserId: string('The person who created the scheduled task.'),
      runs: hasMany(
        'scheduled-tasks:read',
        `The newest ${previewSizes.perParent} runs; \`scheduledTaskRuns\` pages through them all.`,
        { limit: previewSizes.perParent, type: ScheduledTaskRunType },
      ),
    }),
});

ScheduledTaskRunType.implement({
  description: 'One run of a scheduled task.',
  fields: (t) =>
    members(t, {
      id: string('The id, which is unique and never changes.'),
      scheduledTaskId: t.string({
        description: 'The scheduled task of the run.',
        resolve: (run) => run.recurringId!,
      }),
      ...runFields(t),
      billingActorUserId: stringOrNull(
        'The person to whom the mission is billed: the person who started it manually, else the person who last changed the task or its schedule.',
      ),
      missionCostIncomplete: boolean('Whether the recorded cost of the run is known to be incomplete.'),
      scheduledTask: belongsTo('scheduled-tasks:read', 'The scheduled task of the run.'),
    }),
});

builder.objectField(ProjectType, 'scheduledTasks', (t) =>
  t.hasMany('scheduledTasks', {
    description: `The newest ${previewSizes.perParent} scheduled tasks; the query of the same name pages through all.`,
    link: 'scheduled-tasks:read',
    limit: previewSizes.perParent,
  }),
);

const ScheduledTaskPage = pageOf('ScheduledTaskPage', ScheduledTaskType);
const ScheduledTaskRunPage = pageOf('ScheduledTaskRunPage', ScheduledTaskRunType);
const DeleteScheduledTaskResponse = okIdAnswer('DeleteScheduledTaskResponse');

builder.queryFields((t) => ({
  scheduledTasks: t.field({
    description: 'Scheduled tasks, newest first; `projectId` limits them to one project.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks',
    tool: 'list_scheduled_tasks',
    type: ScheduledTaskPage,
    args: {
      ...pageArguments(pages.other),
      projectId: t.arg.string({ ...filter, description: 'Only scheduled tasks of this project.' }),
    },
    resolve: (_, args, { caller }) => operations.list(caller, args),
  }),
  scheduledTaskTemplates: t.field({
    description: 'Ready-made missions to create a scheduled task from.',
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
    args: { id: t.arg.string({ ...pathId, description: 'The id of the scheduled task.' }) },
    resolve: (_, { id }, { caller }) => operations.find(caller, id),
  }),
  scheduledTaskRuns: t.field({
    description: 'The runs of a scheduled task, newest first.',
    scope: 'scheduled-tasks:read',
    rest: 'GET /scheduled-tasks/{id}/runs',
    tool: 'list_scheduled_task_runs',
    type: ScheduledTaskRunPage,
    args: {
      id: t.arg.string({ ...pathId, description: 'The id of the scheduled task.' }),
      ...pageArguments(pages.runs),
    },
    resolve: (_, { id, ...page }, { caller }) => operations.runs(caller, id, page),
  }),
}));

builder.mutationFields((t) => ({
  createScheduledTask: t.field({
    description:
      'Creates a mission that starts on a schedule. Because it will start, the call requires `missions:run` in addition to its own scope.',
    scope: 'scheduled-tasks:write',
    rest: { route: 'POST /scheduled-tasks', status: 201, errors: [404] },
    tool: 'create_scheduled_task',
    type: ScheduledTaskType,
    args: { input: t.arg({ type: CreateRequest, required: true, description: 'The new scheduled task.' }) },
    resolve: (_, { input }, { caller }) => operations.create(caller, input),
  }),
  updateScheduledTask: t.field({
    description:
      'Changes a scheduled task. Omitted fields keep their value. The time of the next run changes only if the triggers or `enabled` change. ' +
      'Without the scope `missions:run`, a caller cannot enable the task, or change its prompt, triggers, project or agent.',
    scope: 'scheduled-tasks:write',
    rest: { route: 'PATCH /scheduled-tasks/{id}', without: ['ifUpdatedAt'] },
    tool: { name: 'update_scheduled_task', idempotent: true },
    type: ScheduledTaskType,
    args: {
      id: t.arg.string({ ...pathId, description: 'The id of the scheduled task.' }),
      input: t.arg({ type: UpdateRequest, required: true, description: 'The fields to change.' }),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { id, input, ifUpdatedAt: seen }, { caller }) => operations.change(caller, id, input, seen),
  }),
  deleteScheduledTask: t.field({
    description: 'Deletes a scheduled task and cancels its waiting runs; running missions continue.',
    scope: 'scheduled-tasks:write',
    rest: 'DELETE /scheduled-tasks/{id}',
    tool: { name: 'delete_scheduled_task', destructive: true, idempotent: true },
    type: DeleteScheduledTaskResponse,
    args: { id: t.arg.string({ ...pathId, description: 'The id of the scheduled task.' }) },
    resolve: (_, { id }, { caller }) => operations.remove(caller, id),
  }),
  runScheduledTask: t.field({
    description: 'Runs a scheduled task now, even a disabled one.',
    scope: 'missions:run',
    rest: { route: 'POST /scheduled-tasks/{id}/run', errors: [402] },
    tool: { name: 'run_scheduled_task', openWorld: true, startsRun: true },
    type: RunNowResponse,
    args: { id: t.arg.string({ ...pathId, description: 'The id of the scheduled task.' }) },
    resolve: (_, { id }, { caller }) => operations.runNow(caller, id),
  }),
}));
