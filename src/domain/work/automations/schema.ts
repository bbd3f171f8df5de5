// Defines how all APIs show automations (docs/contract.md#scheduled-tasks-and-automations). ../recurring implements automations.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { filter, ifUpdatedAt, pathId } from '#graph/input.ts';
import { belongsTo, members, string } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { pages, previewSizes } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import {
  AutomationType,
  CreateRequest,
  automationOperations as operations,
  RunNowResponse,
  recurringFields,
  TemplateList,
  templateList,
  UpdateRequest,
} from '../recurring/schema-common.ts';
import { runFields, runType } from '../runs/schema-common.ts';

const AutomationRunType = runType('AutomationRun');

AutomationType.implement({
  description: 'A recurring mission of the organization: it starts on a schedule or manually.',
  fields: (t) => ({
    ...recurringFields(t),
    runs: t.hasMany('runs', {
      link: 'automations:read',
      description: `The newest ${previewSizes.perParent} runs; \`automationRuns\` pages through them all.`,
      limit: previewSizes.perParent,
      type: AutomationRunType,
    }),
  }),
});

AutomationRunType.implement({
  description: 'One run of an automation.',
  fields: (t) =>
    members(t, {
      id: string('The id, which is unique and never changes.'),
      automationId: t.string({
        description: 'The automation of this run.',
        resolve: (run) => run.recurringId!,
      }),
      ...runFields(t),
      automation: belongsTo('automations:read', 'The automation of this run.'),
    }),
});

builder.objectField(ProjectType, 'automations', (t) =>
  t.hasMany('automations', {
    description: `The newest ${previewSizes.perParent} automations; the query of the same name pages through all.`,
    link: 'automations:read',
    limit: previewSizes.perParent,
  }),
);

const AutomationPage = pageOf('AutomationPage', AutomationType);
const AutomationRunPage = pageOf('AutomationRunPage', AutomationRunType);
const DeleteAutomationResponse = okIdAnswer('DeleteAutomationResponse');

builder.queryFields((t) => ({
  automations: t.field({
    description: 'Automations, newest first; `projectId` limits them to one project.',
    scope: 'automations:read',
    rest: 'GET /automations',
    tool: 'list_automations',
    type: AutomationPage,
    args: {
      ...pageArguments(pages.other),
      projectId: t.arg.string({ ...filter, description: 'Only automations of this project.' }),
    },
    resolve: (_, args, { caller }) => operations.list(caller, args),
  }),
  automationTemplates: t.field({
    description: 'Ready-made missions to create an automation from.',
    scope: 'automations:read',
    rest: 'GET /automations/templates',
    tool: 'list_automation_templates',
    type: TemplateList,
    resolve: () => templateList,
  }),
  automation: t.field({
    description: 'An automation by its id.',
    scope: 'automations:read',
    rest: 'GET /automations/{automationId}',
    tool: 'get_automation',
    type: AutomationType,
    args: { automationId: t.arg.string({ ...pathId, description: 'The id of the automation.' }) },
    resolve: (_, { automationId }, { caller }) => operations.find(caller, automationId),
  }),
  automationRuns: t.field({
    description: 'The runs of an automation, newest first.',
    scope: 'automations:read',
    rest: 'GET /automations/{automationId}/runs',
    tool: 'list_automation_runs',
    type: AutomationRunPage,
    args: {
      automationId: t.arg.string({ ...pathId, description: 'The id of the automation.' }),
      ...pageArguments(pages.runs),
    },
    resolve: (_, { automationId, ...page }, { caller }) => operations.runs(caller, automationId, page),
  }),
}));

builder.mutationFields((t) => ({
  createAutomation: t.field({
    description:
      'Creates a mission that starts on a schedule. Because it will start, the call requires `missions:run` in addition to its own scope.',
    scope: 'automations:write',
    rest: { route: 'POST /automations', status: 201, errors: [404] },
    tool: 'create_automation',
    type: AutomationType,
    args: { input: t.arg({ type: CreateRequest, required: true, description: 'The new automation.' }) },
    resolve: (_, { input }, { caller }) => operations.create(caller, input),
  }),
  updateAutomation: t.field({
    description:
      'Changes an automation. Omitted fields keep their value. The time of the next run changes only if the triggers or `enabled` change. Enabling it, or ' +
      'changing its prompt, triggers, project or agent, requires the scope `missions:run`.',
    scope: 'automations:write',
    rest: { route: 'PATCH /automations/{automationId}', without: ['ifUpdatedAt'] },
    tool: { name: 'update_automation', idempotent: true },
    type: AutomationType,
    args: {
      automationId: t.arg.string({ ...pathId, description: 'The id of the automation.' }),
      input: t.arg({ type: UpdateRequest, required: true, description: 'The fields to change.' }),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { automationId, input, ifUpdatedAt: seen }, { caller }) =>
      operations.change(caller, automationId, input, seen),
  }),
  deleteAutomation: t.field({
    description: 'Deletes an automation and cancels its waiting runs; running missions continue.',
    scope: 'automations:write',
    rest: 'DELETE /automations/{automationId}',
    tool: { name: 'delete_automation', destructive: true, idempotent: true },
    type: DeleteAutomationResponse,
    args: { automationId: t.arg.string({ ...pathId, description: 'The id of the automation.' }) },
    resolve: (_, { automationId }, { caller }) => operations.remove(caller, automationId),
  }),
  runAutomation: t.field({
    description: 'Runs an automation now, even a disabled one.',
    scope: 'missions:run',
    rest: { route: 'POST /automations/{automationId}/run', errors: [402] },
    tool: { name: 'run_automation', openWorld: true, startsRun: true },
    type: RunNowResponse,
    args: { automationId: t.arg.string({ ...pathId, description: 'The id of the automation.' }) },
    resolve: (_, { automationId }, { caller }) => operations.runNow(caller, automationId),
  }),
}));
