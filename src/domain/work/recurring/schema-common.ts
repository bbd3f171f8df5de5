// The GraphQL types, fields, request bodies and operations common to scheduled tasks and automations. Names, routes and tools are in the
// schema of each.
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import type { PageRequest } from '#foundation/postgres/cursor.ts';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import {
  belongsTo,
  boolean,
  epochMs,
  epochMsOrNull,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { recurring, text } from '#limits.ts';
import { AgentType, loadAgent } from '../../projects/agents/schema.ts';
import { EffectPolicyType, effectPolicy } from '../../projects/effects/schema-policy.ts';
import { RunStatus } from '../runs/schema-common.ts';
import { Automation, type Kind, type RecurringMission, ScheduledTask } from './model.ts';
import * as operations from './operations.ts';
import { EventTriggerType, eventTriggers, eventTriggersShown } from './schema-event-triggers.ts';
import { ScheduleType, TriggerType, triggers } from './schema-triggers.ts';
import { type Template, templateKeys, templates } from './templates.ts';
import { upcoming } from './upcoming.ts';

type FieldsOfRecurring = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, RecurringMission>;

const TemplateType = builder.objectRef<Template>('ScheduledTaskTemplate').implement({
  description: 'A ready-made mission to create a scheduled task or an automation from.',
  fields: (t) =>
    members(t, {
      key: string('The value for `templateKey`.'),
      name: string('A title to show.'),
      blurb: string('The purpose of the mission, in one sentence.'),
      prompt: string('The task for the agent, ready to be used or changed.', { complexity: weightOf(text.prompt.max) }),
      suggestedSchedule: typed(ScheduleType, 'A schedule that suits the mission, in UTC.'),
      agentId: t.string({
        graphOnly: true,
        nullable: true,
        description: 'The agent of missions that do not name an agent; null means any agent that has a model.',
        resolve: ({ agentId }) => agentId ?? null,
      }),
    }),
});
export const TemplateList = builder.objectRef<{ data: readonly Template[] }>('ScheduledTaskTemplateList').implement({
  description: 'All templates, on one page.',
  fields: (t) => members(t, { data: typed([TemplateType], 'All templates.') }),
});
export const templateList = { data: templates };

export const RunNowResponse = builder.objectRef<operations.StartedRun>('RunNowResponse').implement({
  description: 'The run that was started manually.',
  fields: (t) =>
    members(t, {
      ok: typed('True', 'Always true.'),
      runId: string('The id of the new run.'),
      issueId: stringOrNull('The issue’s id in the project’s tracker; null until the tracker has created it.'),
      status: typed(RunStatus.type, 'Status of the run: `skipped` while an earlier run is open.'),
    }),
});

/** The GraphQL types of both kinds. The schema file of each kind defines the fields. */
export const ScheduledTaskType = builder.modelType(ScheduledTask, 'ScheduledTask');
export const AutomationType = builder.modelType(Automation, 'Automation');

export const recurringFields = (t: FieldsOfRecurring) =>
  members(t, {
    id: string('The id, which is unique and never changes.'),
    orgId: string('The organization of the recurring mission.'),
    projectId: string('The project in whose repository the missions work.'),
    name: string(`The name, ${range(text.recurringName)} characters; the title of each issue.`),
    prompt: string(`The task for the agent: ${range(text.prompt)} characters.`, {
      complexity: weightOf(text.prompt.max),
    }),
    templateKey: stringOrNull('The template of the recurring mission; null without one.'),
    triggers: typed(
      [TriggerType],
      `${range(recurring.triggers)} schedules; each occurrence of any of them starts a mission.`,
    ),
    eventTriggers: typed([EventTriggerType], eventTriggersShown, { beyondRest: true }),
    labels: strings('Labels that each issue gets, at most 20.'),
    skipIfPreviousOpen: boolean('Whether an occurrence is skipped while an earlier run is dispatching or running.'),
    enabled: boolean('Whether the schedule is active; "run now" works for an inactive one too.'),
    agentId: stringOrNull('The only agent that may work on the runs; null means any agent that has a model.', {
      beyondRest: true,
    }),
    effectPolicy: typedOrNull(
      EffectPolicyType,
      'Policy that decides which outside effects of its missions wait for approval, in addition to those of the project; null means none.',
      { beyondRest: true },
    ),
    nextRunAt: epochMsOrNull('The next occurrence; null while the recurring mission is disabled.'),
    lastRunAt: epochMsOrNull('When a mission last started; a skipped run does not count. Null before the first.'),
    createdAt: epochMs('When the recurring mission was created.'),
    updatedAt: epochMs('When a person last changed the recurring mission.'),
    updatedByUserId: t.string({
      graphOnly: true,
      description:
        'The person who last changed the task, project, agent or schedule: scheduled runs are billed to them.',
      resolve: ({ updatedByUserId, createdByUserId }) => updatedByUserId ?? createdByUserId,
    }),
    upcoming: t.field({
      graphOnly: true,
      description: 'The next occurrences; none while the recurring mission is disabled.',
      type: ['EpochMs'],
      complexity: { field: 1, multiplier: recurring.upcoming.max },
      args: {
        count: t.arg.int({
          required: true,
          defaultValue: recurring.upcoming.default,
          description: `Number of occurrences, ${recurring.upcoming.min} to ${recurring.upcoming.max}.`,
          validate: { schema: z.int().min(recurring.upcoming.min).max(recurring.upcoming.max) },
        }),
      },
      resolve: (one, { count }) => upcoming(one, count),
    }),
    agent: t.field({
      link: 'agents:read',
      type: AgentType,
      nullable: true,
      description: 'The agent of `agentId`; null without one, and once it is deleted.',
      resolve: ({ agentId }, _, context) => (agentId === null ? null : loadAgent(context).load(agentId)),
    }),
    project: belongsTo('projects:read', 'The project whose repository the missions work in.'),
  });

const name = nameText(text.recurringName).describe(`The name, ${range(text.recurringName)} characters.`);
const prompt = boundedText(text.prompt).describe(`The task for the agent: ${range(text.prompt)} characters.`);
const templateKey = z
  .enum(templateKeys)
  .nullable()
  .describe('The key of a template. With `script` the prompt is a POSIX shell script, and no model is used.');
const agentId = boundedText(text.pathId)
  .nullish()
  .describe(
    'The only agent that may work on the runs: an agent of the organization, or a built-in one. Null means any agent that ' +
      'has a model; a prompt that is a script names an agent with the harness `shell`. Absent means the agent of the template.',
  );
const policyOfMissions = effectPolicy
  .nullish()
  .describe('Policy that decides which outside effects of its missions wait for approval; null means that none waits.');
const labels = z.array(nameText(text.label)).max(recurring.labels).describe('Labels that each issue gets, at most 20.');
export const CreateRequest = request(
  'CreateScheduledTaskRequest',
  z
    .object({
      projectId: boundedText(text.pathId).describe('The project in whose repository the missions work.'),
      name,
      prompt,
      templateKey: templateKey.optional(),
      triggers,
      eventTriggers: eventTriggers.optional(),
      labels: labels.default([]),
      skipIfPreviousOpen: z
        .boolean()
        .default(false)
        .describe('Whether an occurrence is skipped while an earlier run is open.'),
      enabled: z.boolean().default(true).describe('Whether the schedule is active.'),
      agentId,
      effectPolicy: policyOfMissions,
    })
    .meta({
      description: 'A new scheduled task or automation.',
      examples: [
        {
          projectId: 'prj_019f2c1e4a00d2b9c5e7f1a3b4c6',
          name: 'Dependency updates',
          prompt: templates[0].prompt,
          triggers: [{ kind: 'schedule', schedule: templates[0].suggestedSchedule }],
        },
      ],
    }),
  { beyondRest: ['agentId', 'eventTriggers', 'effectPolicy'] },
);
export const UpdateRequest = request(
  'UpdateScheduledTaskRequest',
  z
    .object({
      projectId: boundedText(text.pathId)
        .optional()
        .describe('Moves the mission to this project; its earlier runs stay in their project.'),
      name: name.optional(),
      prompt: prompt.optional(),
      templateKey: templateKey.optional(),
      triggers: triggers.optional(),
      eventTriggers: eventTriggers.optional(),
      labels: labels.optional(),
      skipIfPreviousOpen: z
        .boolean()
        .optional()
        .describe('Whether an occurrence is skipped while an earlier run is open.'),
      enabled: z.boolean().optional().describe('Whether the schedule is active.'),
      agentId,
      effectPolicy: policyOfMissions,
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ enabled: false }] }),
  { beyondRest: ['agentId', 'eventTriggers', 'effectPolicy'] },
);

/** The operations of one kind of recurring mission. */
const operationsOf = (missions: Kind) => ({
  list: (caller: Caller, filter: operations.RecurringFilter) => operations.listRecurring(missions, caller, filter),
  find: (caller: Caller, id: string) => operations.findRecurring(missions, caller, id),
  create: (caller: Caller, input: operations.NewRecurring) => operations.createRecurring(missions, caller, input),
  change: (caller: Caller, id: string, changes: operations.RecurringChanges, seen?: number | null) =>
    operations.changeRecurring(missions, caller, id, changes, seen),
  remove: (caller: Caller, id: string) => operations.removeRecurring(missions, caller, id),
  runs: (caller: Caller, id: string, page: PageRequest) => operations.listRunsOf(missions, caller, id, page),
  runNow: (caller: Caller, id: string) => operations.runNow(missions, caller, id),
});
export const scheduledTaskOperations = operationsOf(ScheduledTask);
export const automationOperations = operationsOf(Automation);
