// Triggers of recurring missions: the GraphQL type of a schedule, and its validation in requests.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { intOrNull, members, string, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, range } from '#graph/validation.ts';
import { recurring, text } from '#limits.ts';
import { type Trigger, triggerKinds } from './model.ts';
import { intervals, isTimeZone, type Schedule, timePattern, weekdays } from './schedule.ts';

const TriggerKind = wordSet('TriggerKind', triggerKinds, 'Kind of trigger that starts missions.', {
  schedule: 'A schedule: each occurrence starts a mission.',
});
const ScheduleInterval = wordSet('ScheduleInterval', intervals, 'Interval of a schedule.', {
  daily: 'Every day at `time`.',
  weekly: 'Every week on `weekday` at `time`.',
  monthly: 'Every month on `dayOfMonth` at `time`.',
});
const ordinals = Object.fromEntries(weekdays.map((day, index) => [day, `Day ${index + 1} of the week (ISO 8601).`]));
const Weekday = wordSet(
  'Weekday',
  weekdays,
  'A day of the week.',
  ordinals as Record<(typeof weekdays)[number], string>,
);

export const ScheduleType = builder.objectRef<Schedule>('Schedule').implement({
  description:
    'A wall-clock time in a time zone. If a clock change skips the time, the mission starts later by the length of the change. If ' +
    'the time occurs twice, the mission starts at the first occurrence. In a month without the day, the mission starts on the last ' +
    'day.',
  fields: (t) =>
    members(t, {
      interval: typed(ScheduleInterval.type, 'Interval between occurrences.'),
      time: string('Time of day HH:MM, 00:00 to 23:59, in the time zone.'),
      timezone: string('An IANA time zone such as Europe/Berlin.'),
      weekday: typedOrNull(Weekday.type, 'Day of the week; present when `interval` is weekly.', { absent: true }),
      dayOfMonth: intOrNull('Day of the month, 1 to 31; present when `interval` is monthly.', { absent: true }),
    }),
});
export const TriggerType = builder.objectRef<Trigger>('Trigger').implement({
  description: 'A trigger of a recurring mission: each occurrence of its schedule starts a mission.',
  fields: (t) =>
    members(t, {
      kind: typed(TriggerKind.type, 'Always `schedule`.'),
      schedule: typed(ScheduleType, 'The times at which missions start.'),
    }),
});

const schedule = z
  .object({
    interval: ScheduleInterval.zod.describe('Interval between occurrences.'),
    time: z.string().regex(timePattern, 'must be HH:MM, 00:00 to 23:59').describe('Time of day HH:MM, 00:00 to 23:59.'),
    timezone: boundedText(text.timeZone)
      .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
      .describe('An IANA time zone such as Europe/Berlin.'),
    weekday: Weekday.zod.nullish().describe('Required when `interval` is weekly.'),
    dayOfMonth: z
      .int()
      .min(1)
      .max(31)
      .nullish()
      .describe('Day of the month, 1 to 31; required when `interval` is monthly.'),
  })
  .superRefine(({ interval, weekday, dayOfMonth }, issues) => {
    const lacks = (member: string) =>
      issues.addIssue({ code: 'custom', path: [member], message: `is required when interval is ${interval}` });
    if (interval === 'weekly' && weekday == null) lacks('weekday');
    if (interval === 'monthly' && dayOfMonth == null) lacks('dayOfMonth');
  });
const kind = TriggerKind.zod.describe('Always `schedule`.');
export const triggers = z
  .array(
    z
      .object({ kind, schedule: schedule.describe('The times at which missions start.') })
      .describe('A schedule that starts missions.'),
  )
  .max(recurring.triggers.max)
  .describe(
    `${range(recurring.triggers)} schedules; each occurrence of any of them starts a mission. The list may be empty only if there are event triggers.`,
  );
