// Filters a list by period: a preset, or from one day to another. Both days are in the URL.
import { useState } from 'preact/hooks';
import { now } from './page.ts';
import { useFilter, useFilters } from './reading.ts';
import { day, dayWords } from './words.tsx';

/** Converts a day of the page’s URL to midnight in the time zone of the browser. */
const startOf = (date: string | null): number | null => {
  const at = date ? new Date(`${date}T00:00`).getTime() : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

/** The day `count` days ago, in the format of the URL. */
function daysAgo(count: number): string {
  const at = new Date(now());
  at.setDate(at.getDate() - count);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Converts the first and the last day of the period, which the URL of the page contains, to arguments of API requests. */
export function usePeriod() {
  const [from] = useFilter('from');
  const [to] = useFilter('to');
  const last = startOf(to);
  return { createdFrom: startOf(from), createdBefore: last === null ? null : last + day };
}

const presets: readonly (readonly [days: number, words: string])[] = [
  [0, 'Today'],
  [6, 'Last 7 days'],
  [29, 'Last 30 days'],
];

export function PeriodFilter() {
  const [from] = useFilter('from');
  const [to] = useFilter('to');
  const set = useFilters();
  const known = to === null ? presets.find(([days]) => from === daysAgo(days)) : undefined;
  const [isCustom, setCustom] = useState((from ?? to) !== null && !known);
  const value = isCustom ? 'custom' : known ? String(known[0]) : '';
  const choose = (next: string) => {
    setCustom(next === 'custom');
    if (next !== 'custom') set({ from: next === '' ? null : daysAgo(Number(next)), to: null });
  };
  return (
    <>
      <label>
        Period
        <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value="">Any time</option>
          {presets.map(([days, words]) => (
            <option key={days} value={String(days)}>
              {words}
            </option>
          ))}
          <option value="custom">Between two days</option>
        </select>
      </label>
      {isCustom && (
        <>
          <DayField label="From" value={from} set={(next) => set({ from: next })} />
          <DayField label="To" value={to} set={(next) => set({ to: next })} />
        </>
      )}
    </>
  );
}

/** The day is also shown in words, because browsers show dates in digits, whose order depends on the country. */
const DayField = ({ label, value, set }: { label: string; value: string | null; set(next: string | null): void }) => {
  const at = startOf(value);
  return (
    <label>
      {label} {at !== null && <span class="day-words">{dayWords(at)}</span>}
      <input type="date" value={value ?? ''} onChange={({ currentTarget }) => set(currentTarget.value || null)} />
    </label>
  );
};
