// Computes the next times of schedules before they are saved, in the same way as the service does (domain/work/recurring/schedule.ts). The
// times are in the time zone of each schedule. In a month that is too short, the last day is used. A time that a clock change skips is moved
// one hour later.

export interface Schedule {
  interval: 'daily' | 'weekly' | 'monthly';
  time: string;
  timezone: string;
  weekday?: string | null | undefined;
  dayOfMonth?: number | null | undefined;
}

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const day = 86_400_000;

/** Times in milliseconds since 1970; an incomplete schedule has none. */
export function nextTimes(schedules: readonly Schedule[], after: number, count: number): number[] {
  const times = schedules.flatMap((schedule) => {
    try {
      return timesOf(schedule, after, count);
    } catch {
      // An invalid time zone or time has no next times; the service reports it when the form is sent.
      return [];
    }
  });
  return [...new Set(times)].sort((one, other) => one - other).slice(0, count);
}

function timesOf(schedule: Schedule, after: number, count: number): number[] {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(schedule.time) ?? [];
  if (!hours || !minutes) return [];
  const timeOfDay = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const offset = offsetsOf(schedule.timezone);
  const local = after + offset(after);
  const today = local - mod(local, day);
  const found: number[] = [];
  for (let period = -1; found.length < count && period < count + 3; period++) {
    const date = dateOf(schedule, today, period);
    if (Number.isNaN(date)) return [];
    const at = instantOf(date + timeOfDay, offset);
    if (at > after && !found.includes(at)) found.push(at);
  }
  return found;
}

/** Midnight of the schedule's day, as if it were UTC. */
function dateOf({ interval, weekday, dayOfMonth }: Schedule, today: number, period: number): number {
  if (interval === 'daily') return today + period * day;
  const date = new Date(today);
  if (interval === 'weekly') {
    const wanted = weekdays.indexOf(weekday as (typeof weekdays)[number]);
    return today + mod(wanted - mod(date.getUTCDay() - 1, 7), 7) * day + 7 * period * day;
  }
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + period];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(Number(dayOfMonth), last));
}

function instantOf(local: number, offset: (at: number) => number): number {
  const [before, later] = [offset(local - day), offset(local + day)];
  const early = local - before;
  if (early + offset(early) === local) return early;
  const late = local - later;
  return late + offset(late) === local ? late : early;
}

/** The offset of a zone from UTC at a time, in milliseconds. */
function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day: date, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, date, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  };
}

const mod = (value: number, by: number): number => ((value % by) + by) % by;
