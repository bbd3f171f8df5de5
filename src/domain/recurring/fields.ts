// What both kinds show alike: triggers, templates, the fields of a record and of its runs, request bodies, and the verbs with
// their kind filled in. Names, routes and tools stand in each noun's own schema.ts.
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import type { BaseModel, Row } from '#foundation/base-model.ts';
import type { PageRequest } from '#foundation/cursor.ts';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { recurring, text } from '#limits.ts';
import { type Kind, type Recurring, Run, runKinds, runStatuses, type Trigger, triggerKinds } from './model.ts';
import * as operations from './operations.ts';
import { intervals, isTimeZone, type Schedule, timePattern, weekdays } from './schedule.ts';
import { type Template, templateKeys, templates } from './templates.ts';

type Types = typeof builder.$inferSchemaTypes;
type FieldsOf<M extends BaseModel> = PothosSchemaTypes.ObjectFieldBuilder<Types, Row<M>>;

const TriggerKind = wordSet('TriggerKind', triggerKinds, 'What starts a mission.');
const ScheduleInterval = wordSet('ScheduleInterval', intervals, 'How often.');
const Weekday = wordSet('Weekday', weekdays, 'A day of the week.');
const RunKind = wordSet('RunKind', runKinds, 'Whether the schedule started it, or somebody.');
export const RunStatus = wordSet('RunStatus', runStatuses, 'How far a run is; open while dispatching or running.');

const ScheduleType = builder.objectRef<Schedule>('Schedule').implement({
  description:
    'A wall time. Where a clock change skips it, it runs as much later; where it comes twice, the first time; ' +
    'where the month has no such day, on the last.',
  fields: (t) => ({
    interval: t.expose('interval', { type: ScheduleInterval.type }),
    time: t.exposeString('time', { description: 'HH:MM on the clocks of the zone.' }),
    timezone: t.exposeString('timezone', { description: 'An IANA time zone.' }),
    weekday: t.expose('weekday', { type: Weekday.type, nullable: true, absent: true }),
    dayOfMonth: t.exposeInt('dayOfMonth', { nullable: true, absent: true }),
  }),
});
const TriggerType = builder.objectRef<Trigger>('Trigger').implement({
  fields: (t) => ({
    kind: t.expose('kind', { type: TriggerKind.type }),
    schedule: t.expose('schedule', { type: ScheduleType }),
  }),
});

const TemplateType = builder.objectRef<Template>('ScheduledTaskTemplate').implement({
  description: 'A ready-made mission to begin from.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Goes into `templateKey`.' }),
    name: t.exposeString('name'),
    blurb: t.exposeString('blurb'),
    prompt: t.exposeString('prompt', { complexity: weightOf(text.prompt.max) }),
    suggestedSchedule: t.expose('suggestedSchedule', { type: ScheduleType }),
  }),
});
export const TemplateList = builder.objectRef<{ data: readonly Template[] }>('ScheduledTaskTemplateList').implement({
  fields: (t) => ({ data: t.expose('data', { type: [TemplateType] }) }),
});
export const templateList = { data: templates };

export const RunNowResponse = builder.objectRef<operations.StartedRun>('RunNowResponse').implement({
  fields: (t) => ({
    ok: t.expose('ok', { type: 'True' }),
    runId: t.exposeString('runId'),
    issueId: t.exposeString('issueId', { nullable: true, description: 'Null while the tracker has not taken it.' }),
    status: t.expose('status', { type: RunStatus.type }),
  }),
});

/** A graph type of runs: of all kinds, or of one. */
export const runType = (name: string) => builder.modelType(Run, name);

export const recurringFields = (t: FieldsOf<Recurring>) => ({
  id: t.exposeString('id'),
  orgId: t.exposeString('orgId'),
  projectId: t.exposeString('projectId'),
  name: t.exposeString('name'),
  prompt: t.exposeString('prompt', { complexity: weightOf(text.prompt.max), description: 'What the agent is told.' }),
  templateKey: t.exposeString('templateKey', { nullable: true, description: 'The template it was begun from.' }),
  triggers: t.expose('triggers', { type: [TriggerType] }),
  labels: t.exposeStringList('labels', { description: 'Put on each issue.' }),
  skipIfPreviousOpen: t.exposeBoolean('skipIfPreviousOpen', {
    description: 'Whether a run is skipped while an earlier one is dispatching or running.',
  }),
  enabled: t.exposeBoolean('enabled', { description: 'Whether its schedule counts. "Run now" works all the same.' }),
  nextRunAt: t.expose('nextRunAt', { type: 'EpochMs', nullable: true, description: 'Null while it is disabled.' }),
  lastRunAt: t.expose('lastRunAt', { type: 'EpochMs', nullable: true, description: 'When a mission last began.' }),
  createdAt: t.expose('createdAt', { type: 'EpochMs' }),
  updatedAt: t.expose('updatedAt', { type: 'EpochMs' }),
  updatedByUserId: t.string({
    link: 'open',
    description: 'Who last set what runs, where or when: scheduled runs are billed to them.',
    resolve: ({ updatedByUserId, createdByUserId }) => updatedByUserId ?? createdByUserId,
  }),
  upcoming: t.field({
    link: 'open',
    description: 'The next occurrences; none while it is disabled.',
    type: ['EpochMs'],
    complexity: { field: 1, multiplier: recurring.upcoming.max },
    args: {
      count: t.arg.int({
        required: true,
        defaultValue: recurring.upcoming.default,
        description: `${recurring.upcoming.min} to ${recurring.upcoming.max}.`,
        validate: { schema: z.int().min(recurring.upcoming.min).max(recurring.upcoming.max) },
      }),
    },
    resolve: (one, { count }) => operations.upcoming(one, count),
  }),
  project: t.belongsTo('project', { link: 'projects:read' }),
});

export const runFields = (t: FieldsOf<Run>) => ({
  projectId: t.exposeString('projectId'),
  scheduledFor: t.expose('scheduledFor', {
    type: 'EpochMs',
    description: 'The occurrence; the first of those that were missed and are run as one.',
  }),
  kind: t.expose('kind', { type: RunKind.type }),
  status: t.expose('status', { type: RunStatus.type }),
  issueId: t.exposeString('issueId', { nullable: true, description: 'As the project’s tracker names it.' }),
  issueUrl: t.exposeString('issueUrl', { nullable: true }),
  reason: t.exposeString('reason', {
    nullable: true,
    description: 'Why it was skipped, was canceled or has failed; while it is dispatching, what it waits for.',
  }),
  lastError: t.exposeString('lastError', { nullable: true }),
  createdAt: t.expose('createdAt', { type: 'EpochMs' }),
  updatedAt: t.expose('updatedAt', { type: 'EpochMs' }),
  missionProgress: t.exposeInt('missionProgress', { nullable: true, description: 'Percent.' }),
  missionActivity: t.exposeString('missionActivity', { nullable: true, description: 'What it is at.' }),
  missionCostUsd: t.exposeFloat('missionCostUsd'),
  missionTitle: t.exposeString('missionTitle', { nullable: true }),
  project: t.belongsTo('project', { link: 'projects:read' }),
  issue: t.belongsTo('issue', {
    link: 'missions:read',
    description: 'Of the built-in tracker; null when another tracker keeps it.',
  }),
});

const name = nameText(text.recurringName).describe('1 to 120 characters.');
const prompt = boundedText(text.prompt).describe('What the agent is told: 1 to 20,000 characters.');
const templateKey = z.enum(templateKeys).nullable().describe('The key of a template.');
const labels = z.array(nameText(text.label)).max(recurring.labels).describe('At most 20, put on each issue.');
const schedule = z
  .object({
    interval: ScheduleInterval.zod,
    time: z.string().regex(timePattern, 'must be HH:MM, 00:00 to 23:59').describe('HH:MM, 00:00 to 23:59.'),
    timezone: boundedText(text.timeZone)
      .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
      .describe('An IANA time zone such as Europe/Berlin.'),
    weekday: Weekday.zod.nullish().describe('Required when `interval` is weekly.'),
    dayOfMonth: z.int().min(1).max(31).nullish().describe('1 to 31; required when `interval` is monthly.'),
  })
  .superRefine(({ interval, weekday, dayOfMonth }, issues) => {
    const lacks = (member: string) =>
      issues.addIssue({ code: 'custom', path: [member], message: `is required when interval is ${interval}` });
    if (interval === 'weekly' && weekday == null) lacks('weekday');
    if (interval === 'monthly' && dayOfMonth == null) lacks('dayOfMonth');
  });
const triggers = z
  .array(z.object({ kind: TriggerKind.zod, schedule }))
  .min(recurring.triggers.min)
  .max(recurring.triggers.max)
  .describe('1 to 10; each occurrence of any of them starts a mission.');

export const CreateRequest = request(
  'CreateScheduledTaskRequest',
  z
    .object({
      projectId: boundedText(text.pathId),
      name,
      prompt,
      templateKey: templateKey.optional(),
      triggers,
      labels: labels.default([]),
      skipIfPreviousOpen: z.boolean().default(false),
      enabled: z.boolean().default(true),
    })
    .meta({
      examples: [
        {
          projectId: 'prj_019f2c1e4a00d2b9c5e7f1a3b4c6',
          name: 'Dependency updates',
          prompt: templates[0].prompt,
          triggers: [{ kind: 'schedule', schedule: templates[0].suggestedSchedule }],
        },
      ],
    }),
);
export const UpdateRequest = request(
  'UpdateScheduledTaskRequest',
  z
    .object({
      projectId: boundedText(text.pathId).optional(),
      name: name.optional(),
      prompt: prompt.optional(),
      templateKey: templateKey.optional(),
      triggers: triggers.optional(),
      labels: labels.optional(),
      skipIfPreviousOpen: z.boolean().optional(),
      enabled: z.boolean().optional(),
    })
    .meta({ examples: [{ enabled: false }] }),
);

/** The operations of one kind. */
export const verbsOf = (kind: Kind) => ({
  list: (caller: Caller, filter: operations.RecurringFilter) => operations.listRecurring(kind, caller, filter),
  find: (caller: Caller, id: string) => operations.findRecurring(kind, caller, id),
  create: (caller: Caller, input: operations.NewRecurring) => operations.createRecurring(kind, caller, input),
  change: (caller: Caller, id: string, changes: operations.RecurringChanges) =>
    operations.changeRecurring(kind, caller, id, changes),
  remove: (caller: Caller, id: string) => operations.removeRecurring(kind, caller, id),
  runs: (caller: Caller, id: string, page: PageRequest) => operations.listRuns(kind, caller, id, page),
  runNow: (caller: Caller, id: string) => operations.runNow(kind, caller, id),
});
