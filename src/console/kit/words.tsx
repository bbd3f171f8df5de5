// Formats times, durations, money, sizes and schedules.
import { useEffect, useState } from 'preact/hooks';
import type { ScheduleWordsFragment } from '../generated/documents.ts';
import { now } from './page.ts';
import { useRefresh } from './reading.ts';

export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Dates have the day, month and year in the order that is usual in the person's language. The month is a word, so that no date is ambiguous. */
const exact = new Intl.DateTimeFormat(navigator.language, { dateStyle: 'medium', timeStyle: 'medium' });
const shortDay = new Intl.DateTimeFormat(navigator.language, { day: 'numeric', month: 'short', year: 'numeric' });
export const dayWords = (at: number): string => shortDay.format(at);
const weekdayTime = new Intl.DateTimeFormat(navigator.language, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** Formats an age: `just now`, `3 min ago`, `5 h ago`, `2 d ago`; the date from 30 days on. */
export function ago(age: number, at: number): string {
  if (age < 10 * second) return 'just now';
  if (age < minute) return `${Math.floor(age / second)} s ago`;
  if (age < hour) return `${Math.floor(age / minute)} min ago`;
  if (age < 2 * day) return `${Math.floor(age / hour)} h ago`;
  return age < 30 * day ? `${Math.floor(age / day)} d ago` : shortDay.format(at);
}

function ahead(left: number, at: number): string {
  if (left < minute) return 'now';
  if (left < hour) return `in ${Math.floor(left / minute)} min`;
  if (left < day) return `in ${Math.floor(left / hour)} h ${Math.floor((left % hour) / minute)} min`;
  return left < 7 * day ? weekdayTime.format(at) : shortDay.format(at);
}

/** A relative time, kept up to date, with the exact time as its tooltip. */
export function Time({ at }: { at: number | string }) {
  const moment = typeof at === 'string' ? Date.parse(at) : at;
  const [, setCount] = useState(0);
  useRefresh(() => setCount((count) => count + 1));
  const age = now() - moment;
  return (
    <time dateTime={new Date(moment).toISOString()} title={exact.format(moment)}>
      {age >= 0 ? ago(age, moment) : ahead(-age, moment)}
    </time>
  );
}

/** The time of a row, shown at the end of the row. */
export const When = ({ at }: { at: number | string }) => (
  <div class="when">
    <Time at={at} />
  </div>
);

const utcDay = new Intl.DateTimeFormat(navigator.language, { dateStyle: 'medium', timeZone: 'UTC' });

/** The day in UTC, as receipts have it, such as `23 Nov 2026`, with the exact time as its tooltip. */
export const Day = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
    {utcDay.format(at)}
  </time>
);

/** Formats a duration: `8 s`, `3 min 20 s`, `1 h 5 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < minute) return `${Math.max(0, Math.floor(milliseconds / second))} s`;
  if (milliseconds < hour)
    return `${Math.floor(milliseconds / minute)} min ${Math.floor((milliseconds % minute) / second)} s`;
  return `${Math.floor(milliseconds / hour)} h ${Math.floor((milliseconds % hour) / minute)} min`;
}

/** The duration from a beginning to an end; it counts up while there is no end. */
export function Lasted({ from, to }: { from: number | null; to: number | null }) {
  const [, setCount] = useState(0);
  const counts = from !== null && to === null;
  useEffect(() => {
    if (!counts) return;
    const counting = setInterval(() => setCount((count) => count + 1), second);
    return () => clearInterval(counting);
  }, [counts]);
  return <>{from === null ? '–' : duration((to ?? now()) - from)}</>;
}

/** Formats US dollars with two decimals, or four for small amounts. */
export const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} kB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export const megabytes = (mb: number): string =>
  mb < 1_024 ? `${Math.round(mb)} MB` : `${(mb / 1_024).toFixed(1)} GB`;

/** CPU usage, at most 100 %: older runners reported percent of one core. */
export const cpuPercent = (value: number): string => percent(Math.min(100, value));

export const percent = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;

/** Replaces characters that are invisible, such as line ends and direction marks in the name of a file, by their codes. */
export const visible = (text: string, marks = /[\p{Cc}\p{Cf}]/gu): string =>
  text.replace(marks, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** Formats a schedule, such as `Mondays 09:00, Pacific/Auckland`. */
export function scheduleWords(triggers: readonly ScheduleWordsFragment[]): string {
  const [first, ...others] = triggers;
  if (!first) return 'No schedule';
  const { interval, time, timezone, weekday, dayOfMonth } = first.schedule;
  const days = weekday ? `${capital(weekday)}s` : dayOfMonth ? `Monthly on day ${dayOfMonth}` : capital(interval);
  return `${days} ${time}, ${timezone}${others.length > 0 ? `, and ${others.length} more` : ''}`;
}
