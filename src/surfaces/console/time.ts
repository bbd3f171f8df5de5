// Times for display. The server does not know a visitor's time zone, so a page shows days or ages; the exact instant is in the element's
// `datetime`, and in UTC in its title.
import { hours, isoTime, minutes, now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/http/html.ts';

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const distance = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const element = (epochMs: number, words: string): Html =>
  html`<time datetime="${isoTime(epochMs)}" title="${instant.format(epochMs)} UTC">${words}</time>`;

/** Formats an instant in UTC to the second, such as `23 Nov 2026, 09:14:02 UTC`. */
export const instantOf = (epochMs: number): Html => element(epochMs, `${exact.format(epochMs)} UTC`);

/** Formats a day, such as `23 Nov 2026`. */
export const day = (epochMs: number): Html => element(epochMs, date.format(epochMs));

/** Formats an age: `just now`, `5 minutes ago`, `3 hours ago`; the date for times more than a day ago. */
export function ago(epochMs: number): Html {
  const age = now() - epochMs;
  if (age < minutes(2)) return element(epochMs, 'just now');
  if (age < hours(1)) return element(epochMs, distance.format(-Math.floor(age / minutes(1)), 'minute'));
  if (age < hours(24)) return element(epochMs, distance.format(-Math.floor(age / hours(1)), 'hour'));
  return day(epochMs);
}
