// The next occurrence of a mission: a wall time in an IANA zone (docs/decisions/0030-schedules-are-wall-times.md). The functions use
// neither the database nor the clock. Clock changes follow Temporal's disambiguation `compatible`: the occurrence at a skipped time is
// later by the length of the gap, and the occurrence at a repeated time is the first of the two instants (TC39 Temporal,
// DisambiguatePossibleEpochNanoseconds; RFC 5545 §3.3.5 says the same).
import { Temporal } from 'temporal-polyfill';

export const intervals = ['daily', 'weekly', 'monthly'] as const;
/** Weekdays in the order of ISO 8601: Monday is the first. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export interface Schedule {
  interval: (typeof intervals)[number];
  /** Local time in the time zone, as HH:MM. */
  time: string;
  timezone: string;
  /** Weekday of a weekly schedule; absent for other schedules. */
  weekday?: (typeof weekdays)[number] | null | undefined;
  /** Day of a monthly schedule, 1 to 31. In a month without this day, the mission starts on the last day of the month. */
  dayOfMonth?: number | null | undefined;
}

export const timePattern = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Whether Node knows a time zone with that name; an offset such as +02:00 is not a time zone. */
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
  Math.min(...schedules.map((schedule) => firstAfter(schedule, after)));

/** The first `count` instants after `after`, each once. */
export function nextOccurrences(schedules: readonly Schedule[], after: number, count: number): number[] {
  const instants: number[] = [];
  for (let at = after; instants.length < count; instants.push(at)) at = nextOccurrence(schedules, at);
  return instants;
}

function firstAfter(schedule: Schedule, after: number): number {
  const { timezone: timeZone } = schedule;
  const today = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(timeZone).toPlainDate();
  const plainTime = Temporal.PlainTime.from(schedule.time);
  // The search begins with the period before `today`, because a time zone may skip a whole day, as Samoa skipped 30 December 2011. An
  // occurrence on the skipped day is moved to the same time of the next day, and may still be in the future when `today` is that next day.
  for (let period = -1; ; period++) {
    const at = dateOf(schedule, today, period).toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;
    if (at > after) return at;
  }
}

/**
 * Returns the date on which the schedule falls in a period, which is a day, the seven days that begin with `today`, or a month. The number `period`
 * is 0 for the period of `today`, 1 for the next period and -1 for the previous one. A later period never has an earlier date.
 */
function dateOf(schedule: Schedule, today: Temporal.PlainDate, period: number): Temporal.PlainDate {
  switch (schedule.interval) {
    case 'daily':
      return today.add({ days: period });
    case 'weekly': {
      const ahead = (weekdays.indexOf(schedule.weekday!) + 1 - today.dayOfWeek + 7) % 7;
      return today.add({ days: ahead + 7 * period });
    }
    case 'monthly':
      // The method `with` limits the day to the length of the month.
      return today.with({ day: 1 }).add({ months: period }).with({ day: schedule.dayOfMonth! });
  }
}
