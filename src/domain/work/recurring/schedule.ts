// When a mission comes again: a wall time in an IANA zone (docs/decisions/0030-schedules-are-wall-times.md). Pure: no database, no
// clock. Temporal's 'compatible' is the rule for clock changes: a time that is skipped runs as much later, one that comes twice
// runs the first time (TC39 Temporal, DisambiguatePossibleEpochNanoseconds; RFC 5545 §3.3.5 says the same).
import { Temporal } from 'temporal-polyfill';

export const intervals = ['daily', 'weekly', 'monthly'] as const;
/** In the order of ISO 8601: Monday is the first. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export interface Schedule {
  interval: (typeof intervals)[number];
  /** HH:MM on the clocks of the zone. */
  time: string;
  timezone: string;
  /** Of a weekly schedule. */
  weekday?: (typeof weekdays)[number] | null | undefined;
  /** Of a monthly schedule, 1 to 31. A month that is shorter runs on its last day. */
  dayOfMonth?: number | null | undefined;
}

export const timePattern = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Whether this machine knows a zone of that name; an offset such as +02:00 is none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** The first instant after `after` at which any of the schedules is due; epoch milliseconds. */
export const nextOccurrence = (schedules: readonly Schedule[], after: number): number =>
  Math.min(...schedules.map((schedule) => nextOf(schedule, after)));

/** The first `count` instants after `after`, each once. */
export function nextOccurrences(schedules: readonly Schedule[], after: number, count: number): number[] {
  const instants: number[] = [];
  for (let at = after; instants.length < count; instants.push(at)) at = nextOccurrence(schedules, at);
  return instants;
}

function nextOf(schedule: Schedule, after: number): number {
  const { timezone: timeZone } = schedule;
  const today = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(timeZone).toPlainDate();
  const plainTime = Temporal.PlainTime.from(schedule.time);
  // From one period back: where a whole day is skipped (Samoa, 30 December 2011), what was yesterday's is still ahead.
  for (let period = -1; ; period++) {
    const at = dateOf(schedule, today, period).toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;
    if (at > after) return at;
  }
}

/** The schedule's date in the period of `today`, or so many periods later. Later periods never have earlier dates. */
function dateOf(schedule: Schedule, today: Temporal.PlainDate, period: number): Temporal.PlainDate {
  switch (schedule.interval) {
    case 'daily':
      return today.add({ days: period });
    case 'weekly': {
      const ahead = (weekdays.indexOf(schedule.weekday!) + 1 - today.dayOfWeek + 7) % 7;
      return today.add({ days: ahead + 7 * period });
    }
    case 'monthly':
      // `with` constrains the day to the length of the month.
      return today.with({ day: 1 }).add({ months: period }).with({ day: schedule.dayOfMonth! });
  }
}
