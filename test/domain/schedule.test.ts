// Occurrences of schedules (docs/decisions/0030-schedules-are-wall-times.md). Known difficult cases are tested one by one, each with a
// title. Then the occurrences of thousands of random schedules are compared with the results of luxon and croner, two libraries that
// compute occurrences by other methods than the platform.
import { Cron } from 'croner';
import { DateTime, IANAZone } from 'luxon';
import { describe, expect, it, test } from 'vitest';
import {
  isTimeZone,
  nextOccurrence,
  nextOccurrences,
  type Schedule,
  weekdays,
} from '#domain/work/recurring/schedule.ts';

const ms = (iso: string): number => Date.parse(iso);
const iso = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
const daily = (time: string, timezone: string): Schedule => ({ interval: 'daily', time, timezone });
const weekly = (weekday: Schedule['weekday'], time: string, timezone: string): Schedule => ({
  interval: 'weekly',
  weekday,
  time,
  timezone,
});
const monthly = (dayOfMonth: number, time: string, timezone: string): Schedule => ({
  interval: 'monthly',
  dayOfMonth,
  time,
  timezone,
});

type Case = [title: string, schedule: Schedule, after: string, occurrences: string[]];

describe('wall times of schedules', () => {
  it.each<Case>([
    [
      'a wall time that is skipped in spring runs an hour later, and once (New York, 02:30)',
      daily('02:30', 'America/New_York'),
      '2027-03-13T12:00:00Z',
      ['2027-03-14T07:30:00Z', '2027-03-15T06:30:00Z'],
    ],
    [
      'a wall time that occurs twice in autumn runs the first time only (New York, 01:30)',
      daily('01:30', 'America/New_York'),
      '2027-11-06T12:00:00Z',
      ['2027-11-07T05:30:00Z', '2027-11-08T06:30:00Z'],
    ],
    [
      'between the first and the second 01:30, the next occurrence is tomorrow',
      daily('01:30', 'America/New_York'),
      '2027-11-07T05:45:00Z',
      ['2027-11-08T06:30:00Z'],
    ],
    [
      'a wall time stays the same on the days after a clock change (New York, 02:30)',
      daily('02:30', 'America/New_York'),
      '2027-11-06T12:00:00Z',
      ['2027-11-07T07:30:00Z', '2027-11-08T07:30:00Z'],
    ],
    [
      'Monday 00:00 in Auckland changes by an hour in UTC when the clocks there change',
      weekly('monday', '00:00', 'Pacific/Auckland'),
      '2027-09-19T00:00:00Z',
      ['2027-09-19T12:00:00Z', '2027-09-26T11:00:00Z'],
    ],
    [
      'a midnight that does not exist becomes one o’clock (Cairo)',
      daily('00:00', 'Africa/Cairo'),
      '2027-04-29T12:00:00Z',
      ['2027-04-29T22:00:00Z', '2027-04-30T21:00:00Z'],
    ],
    [
      'a midnight that does not exist becomes one o’clock (Santiago)',
      daily('00:00', 'America/Santiago'),
      '2027-09-04T12:00:00Z',
      ['2027-09-05T04:00:00Z', '2027-09-06T03:00:00Z'],
    ],
    [
      'a clock change of half an hour moves an occurrence by half an hour (Lord Howe, 02:15)',
      daily('02:15', 'Australia/Lord_Howe'),
      '2027-10-02T12:00:00Z',
      ['2027-10-02T15:45:00Z', '2027-10-03T15:15:00Z'],
    ],
    [
      'a schedule on the 31st runs on the last day of a shorter month',
      monthly(31, '09:00', 'UTC'),
      '2027-01-31T09:00:00Z',
      ['2027-02-28T09:00:00Z', '2027-03-31T09:00:00Z', '2027-04-30T09:00:00Z', '2027-05-31T09:00:00Z'],
    ],
    [
      'a schedule on the 30th runs on 29 February of a leap year',
      monthly(30, '09:00', 'UTC'),
      '2028-02-01T00:00:00Z',
      ['2028-02-29T09:00:00Z'],
    ],
    [
      'the occurrence of a day that a zone skips runs together with the next one (Samoa, 30 December 2011)',
      daily('09:00', 'Pacific/Apia'),
      '2011-12-29T12:00:00Z',
      ['2011-12-29T19:00:00Z', '2011-12-30T19:00:00Z'],
    ],
    [
      'a weekly occurrence on a day that a zone skips runs on the next day (Samoa, 30 December 2011)',
      weekly('friday', '09:00', 'Pacific/Apia'),
      '2011-12-30T12:00:00Z',
      ['2011-12-30T19:00:00Z', '2012-01-05T19:00:00Z'],
    ],
    [
      'an occurrence at the given instant is not after it',
      weekly('monday', '09:00', 'UTC'),
      '2027-01-04T09:00:00Z',
      ['2027-01-11T09:00:00Z'],
    ],
    [
      'an occurrence a millisecond after the given instant is returned',
      weekly('monday', '09:00', 'UTC'),
      '2027-01-04T08:59:59.999Z',
      ['2027-01-04T09:00:00Z'],
    ],
    [
      'the date in the zone of the schedule counts (Kiritimati is 14 hours ahead)',
      monthly(1, '00:00', 'Pacific/Kiritimati'),
      '2027-01-31T09:59:00Z',
      ['2027-01-31T10:00:00Z'],
    ],
  ])('%s', (_title, schedule, after, occurrences) => {
    expect(nextOccurrences([schedule], ms(after), occurrences.length).map(iso)).toEqual(occurrences);
  });

  test('a mission with several schedules runs at the next time of any of them, and only once when two schedules share a time', () => {
    const schedules = [weekly('tuesday', '09:00', 'UTC'), daily('10:00', 'Europe/Berlin'), daily('12:00', 'UTC')];
    expect(nextOccurrences(schedules, ms('2027-01-04T12:00:00Z'), 4).map(iso)).toEqual([
      '2027-01-05T09:00:00Z',
      '2027-01-05T12:00:00Z',
      '2027-01-06T09:00:00Z',
      '2027-01-06T12:00:00Z',
    ]);
  });
});

test('a time zone is an IANA name in any letter case; an offset is not a time zone', () => {
  expect(
    ['Europe/Berlin', 'europe/berlin', 'UTC', 'US/Eastern', 'Etc/GMT+5'].filter((name) => !isTimeZone(name)),
  ).toEqual([]);
  expect(['Mars/Olympus', '+02:00', 'Z', '', 'Europe/Berlin ', '2027-01-01[UTC]'].filter(isTimeZone)).toEqual([]);
});

/** The same numbers in every run: mulberry32. */
function dice(seed: number) {
  let state = seed;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    upTo: (n: number): number => Math.floor(roll() * n),
    between: (a: number, b: number) => a + roll() * (b - a),
  };
}

const hour = 3_600_000;
const day = 24 * hour;

/** The instants of a year at which the clocks of a zone are changed. */
function clockChanges(zone: string, year: number): number[] {
  const zoneOf = IANAZone.create(zone);
  const offset = (at: number) => zoneOf.offset(at);
  const changes: number[] = [];
  const step = 10 * day;
  for (let low = Date.UTC(year, 0, 1); low < Date.UTC(year + 1, 0, 1); low += step) {
    let [before, after] = [low, low + step];
    if (offset(before) === offset(after)) continue;
    while (after - before > 60_000) {
      const middle = Math.floor((before + after) / 120_000) * 60_000;
      if (offset(middle) === offset(before)) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

const clock = (at: number, zone: string): string => DateTime.fromMillis(at, { zone }).toFormat('HH:mm');

interface Question {
  schedule: Schedule;
  after: number;
}

/**
 * For each zone, chooses a year and creates schedules with times near each clock change of that year, and schedules with times near one
 * random instant of that year.
 */
function questions(seed: number, years: [first: number, last: number], zones: readonly string[]): Question[] {
  const { upTo, between } = dice(seed);
  const list: Question[] = [];
  for (const timezone of zones) {
    const year = years[0] + upTo(years[1] - years[0] + 1);
    const anywhere = between(Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
    for (const around of [...clockChanges(timezone, year), anywhere]) {
      // A wall time just before, within or just after the skipped or repeated hour, on that day.
      const wanted = DateTime.fromMillis(Math.floor(around + between(-2 * hour, 2 * hour)), { zone: timezone });
      const time = wanted.toFormat('HH:mm');
      const after = () => Math.floor(around + between(-3 * day, 2 * day));
      list.push({ schedule: daily(time, timezone), after: after() });
      list.push({ schedule: weekly(weekdays[wanted.weekday - 1], time, timezone), after: after() });
      list.push({ schedule: monthly(wanted.day, time, timezone), after: after() });
      list.push({ schedule: monthly(28 + upTo(4), time, timezone), after: after() });
    }
  }
  return list;
}

/** Instants of a wall time according to luxon: one, or two if the time occurs twice. */
function instants(date: Date, time: string, zone: string): number[] {
  const [hours, minutes] = time.split(':').map(Number);
  const [year, month, ofMonth] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const wall = { year, month, day: ofMonth, hour: hours!, minute: minutes! };
  return DateTime.fromObject(wall, { zone })
    .getPossibleOffsets()
    .map((one) => one.toMillis());
}

/** Returns the calendar date that the zone has at the instant `at`, as midnight UTC of the same calendar date. */
function dateIn(at: number, zone: string): Date {
  const { year, month, day: ofMonth } = DateTime.fromMillis(at, { zone });
  return new Date(Date.UTC(year, month - 1, ofMonth));
}

/**
 * The next occurrence according to luxon: the first instant after `after` among the dates that match the schedule. The search begins before
 * `after`, so that it misses no date.
 */
function byLuxon({ interval, time, timezone, weekday, dayOfMonth }: Schedule, after: number): number {
  const date = dateIn(after, timezone);
  date.setUTCDate(date.getUTCDate() - { daily: 2, weekly: 8, monthly: 32 }[interval]);
  for (; ; date.setUTCDate(date.getUTCDate() + 1)) {
    if (interval === 'weekly' && weekdays[(date.getUTCDay() + 6) % 7] !== weekday) continue;
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    if (interval === 'monthly' && date.getUTCDate() !== Math.min(dayOfMonth!, length)) continue;
    // luxon does not specify which instant it returns for a wall time that occurs twice (for New York's 01:30, the second), so both
    // instants are considered.
    const at = Math.min(...instants(date, time, timezone));
    if (at > after) return at;
  }
}

function byCroner({ interval, time, timezone, weekday, dayOfMonth }: Schedule, after: number): number {
  const [hours, minutes] = time.split(':').map(Number);
  const days = interval === 'monthly' ? dayOfMonth : '*';
  const ofWeek = interval === 'weekly' ? weekdays.indexOf(weekday!) + 1 : '*';
  return new Cron(`${minutes} ${hours} ${days} * ${ofWeek}`, { timezone }).nextRun(new Date(after))!.getTime();
}

const told = ({ schedule, after }: Question, ours: number, theirs: number) =>
  `${JSON.stringify(schedule)} after ${iso(after)}: ${iso(ours)}, not ${iso(theirs)}`;

/**
 * Whether croner 10.0.1 may return a wrong instant for the schedule. Three errors of croner are known. It skips months that do not have the
 * day of the month. If a clock change lets a wall time occur twice, croner may return the second occurrence in place of the first (in the
 * zone Antarctica/Troll, whose clock changes by two hours). If the search begins between the two occurrences, croner may return the first
 * occurrence, although it is in the past (America/Sitka).
 */
function isBeyondCroner({ time, timezone, dayOfMonth = 1 }: Schedule, around: number[]): boolean {
  return dayOfMonth! > 28 || around.some((at) => instants(dateIn(at, timezone), time, timezone).length > 1);
}

describe('schedules compared with other libraries', () => {
  const zones = Intl.supportedValuesOf('timeZone');

  it('luxon finds the same instants around the clock changes of every zone', () => {
    const asked = questions(1, [1980, 2037], zones);
    const differ = asked.flatMap((question) => {
      const { schedule, after } = question;
      const [ours, theirs] = [nextOccurrence([schedule], after), byLuxon(schedule, after)];
      return ours === theirs ? [] : [told(question, ours, theirs)];
    });
    expect(differ).toEqual([]);
    expect(asked.length).toBeGreaterThan(2_000);
  });

  it('croner finds the same instants, except for its known differences', () => {
    let asked = 0;
    const differ = questions(
      2,
      [2000, 2037],
      zones.filter((_, n) => n % 4 === 0),
    ).flatMap((question) => {
      const { schedule, after } = question;
      const ours = nextOccurrence([schedule], after);
      if (isBeyondCroner(schedule, [after, ours])) return [];
      asked++;
      const theirs = byCroner(schedule, after);
      return ours === theirs ? [] : [told(question, ours, theirs)];
    });
    expect(differ).toEqual([]);
    expect(asked).toBeGreaterThan(400);
  });

  it('an occurrence is the first after the given instant, at the wanted time unless the clocks skipped it', () => {
    const wrong = questions(
      3,
      [1980, 2037],
      zones.filter((_, n) => n % 2 === 1),
    ).flatMap(({ schedule, after }) => {
      const { timezone, time } = schedule;
      const at = nextOccurrence([schedule], after);
      const offset = (instant: number) => IANAZone.create(timezone).offset(instant);
      const shown = clock(at, timezone) === time || offset(at - day / 2) !== offset(at + day / 2);
      const first = nextOccurrence([schedule], at - 1) === at;
      return at > after && first && shown ? [] : [`${JSON.stringify(schedule)} after ${iso(after)}: ${iso(at)}`];
    });
    expect(wrong).toEqual([]);
  });
});
