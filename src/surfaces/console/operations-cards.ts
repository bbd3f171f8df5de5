// Cards of the page about the installation. Each card shows a table or figures, with durations and counts formatted for people.
import { durationOf } from '#domain/lifecycle/installation/findings.ts';
import { seconds } from '#foundation/clock.ts';
import { type Html, type HtmlValue, html } from '#foundation/http/html.ts';

type Column<T> = readonly [title: string, show: (row: T) => HtmlValue, isNumber?: boolean];

interface TableCard<T> {
  title: string;
  /** Rows of the table; null when they were not read in time. */
  rows: readonly T[] | null;
  columns: readonly Column<T>[];
  /** A sentence in place of a table without rows. */
  empty: string;
  below?: HtmlValue;
}

export function tableCard<T>({ title, rows, columns, empty, below }: TableCard<T>): Html {
  const sentence = rows === null ? 'This part could not be read in time.' : rows.length === 0 ? empty : null;
  return html`<section class="card"><h2>${title}</h2>${
    sentence ? html`<p class="muted">${sentence}</p>` : tableOf(title, rows!, columns)
  }${below}</section>`;
}

const classOf = (isNumber: boolean | undefined): HtmlValue => isNumber && html` class="number"`;

/**
 * A table in a box of its own: if the table is wider than the screen, this box scrolls and not the page. The box can also be scrolled by
 * keyboard.
 */
const tableOf = <T>(title: string, rows: readonly T[], columns: readonly Column<T>[]): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table>
  <thead><tr>${columns.map(([name, , isNumber]) => html`<th scope="col"${classOf(isNumber)}>${name}</th>`)}</tr></thead>
  <tbody>${rows.map(
    (row) => html`<tr>${columns.map(([, show, isNumber]) => html`<td${classOf(isNumber)}>${show(row)}</td>`)}</tr>`,
  )}</tbody></table></div>`;

/** An age in seconds; nothing for null. */
export const age = (amount: number | null): string => (amount === null ? '' : durationOf(seconds(amount)));

/** A number for display; zeros are muted, so that other values stand out. */
export const count = (value: number): HtmlValue => (value === 0 ? html`<span class="muted">0</span>` : String(value));

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size in its largest unit, such as `12 MiB`. */
export function size(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** power;
  return `${power > 0 && amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`;
}
