// Automations on every surface (specification, Scheduled tasks and automations). What they do is written in ../recurring.
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
import { Automation, automations } from './model.ts';

const verbs = verbsOf(automations);

export const AutomationType = builder.modelType(Automation, 'Automation');
const AutomationRunType = runType('AutomationRun');

AutomationType.implement({
  description: 'A mission that starts again and again.',
  fields: (t) => ({
    ...recurringFields(t),
    runs: t.hasMany('runs', {
      link: 'automations:read',
      description: 'The newest 20; `automationRuns` pages through them all.',
      limit: shown.perParent,
      type: AutomationRunType,
    }),
  }),
});

AutomationRunType.implement({
  description: 'One run of an automation.',
  fields: (t) => ({
    id: t.exposeString('id'),
    automationId: t.string({ resolve: (run) => run.automationId! }),
    ...runFields(t),
    automation: t.belongsTo('automation', { link: 'automations:read' }),
  }),
});

builder.objectField(ProjectType, 'automations', (t) =>
  t.hasMany('automations', { description: 'The newest 20.', link: 'automations:read', limit: shown.perParent }),
);

const AutomationPage = pageOf('AutomationPage', AutomationType);
const AutomationRunPage = pageOf('AutomationRunPage', AutomationRunType);
const DeleteAutomationResponse = okIdAnswer('DeleteAutomationResponse');

builder.queryFields((t) => ({
  automations: t.field({
    description: 'Automations, newest first; of one project, or of all.',
    scope: 'automations:read',
    rest: 'GET /automations',
    tool: 'list_automations',
    type: AutomationPage,
    args: { ...pageArguments(pages.other), projectId: t.arg.string(filter) },
    resolve: (_, args, { caller }) => verbs.list(caller, args),
  }),
  automationTemplates: t.field({
    description: 'Ready-made missions to begin an automation from.',
    scope: 'automations:read',
    rest: 'GET /automations/templates',
    tool: 'list_automation_templates',
    type: TemplateList,
    resolve: () => templateList,
  }),
  automation: t.field({
    description: 'One automation.',
    scope: 'automations:read',
    rest: 'GET /automations/{automationId}',
    tool: 'get_automation',
    type: AutomationType,
    args: { automationId: t.arg.string(pathId) },
    resolve: (_, { automationId }, { caller }) => verbs.find(caller, automationId),
  }),
  automationRuns: t.field({
    description: 'The runs of an automation, newest first.',
    scope: 'automations:read',
    rest: 'GET /automations/{automationId}/runs',
    tool: 'list_automation_runs',
    type: AutomationRunPage,
    args: { automationId: t.arg.string(pathId), ...pageArguments(pages.runs) },
    resolve: (_, { automationId, ...page }, { caller }) => verbs.runs(caller, automationId, page),
  }),
}));

builder.mutationFields((t) => ({
  createAutomation: t.field({
    description: 'Creates a mission that starts again and again, on a schedule. Takes the scope `missions:run` too.',
    scope: 'automations:write',
    rest: { route: 'POST /automations', status: 201, errors: [404] },
    tool: 'create_automation',
    type: AutomationType,
    args: { input: t.arg({ type: CreateRequest, required: true }) },
    resolve: (_, { input }, { caller }) => verbs.create(caller, input),
  }),
  updateAutomation: t.field({
    description:
      'Changes an automation. A member that is left out stays. The next run moves only with the triggers. Enabling it, or ' +
      'changing its prompt, triggers or project, takes the scope `missions:run` too.',
    scope: 'automations:write',
    rest: 'PATCH /automations/{automationId}',
    tool: { name: 'update_automation', idempotent: true },
    type: AutomationType,
    args: { automationId: t.arg.string(pathId), input: t.arg({ type: UpdateRequest, required: true }) },
    resolve: (_, { automationId, input }, { caller }) => verbs.change(caller, automationId, input),
  }),
  deleteAutomation: t.field({
    description: 'Deletes an automation and cancels what it has not begun; missions under way go on.',
    scope: 'automations:write',
    rest: 'DELETE /automations/{automationId}',
    tool: { name: 'delete_automation', destructive: true, idempotent: true },
    type: DeleteAutomationResponse,
    args: { automationId: t.arg.string(pathId) },
    resolve: (_, { automationId }, { caller }) => verbs.remove(caller, automationId),
  }),
  runAutomation: t.field({
    description: 'Runs an automation now, also a disabled one.',
    scope: 'missions:run',
    rest: { route: 'POST /automations/{automationId}/run', errors: [402] },
    tool: { name: 'run_automation', openWorld: true },
    type: RunNowResponse,
    args: { automationId: t.arg.string(pathId) },
    resolve: (_, { automationId }, { caller }) => verbs.runNow(caller, automationId),
  }),
}));
