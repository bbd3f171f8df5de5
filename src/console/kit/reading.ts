// Reads for widgets: one record, or a list with further pages. One timer refreshes all values of the page, so that they share a request.
// While the page is hidden, nothing is refreshed.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Operation } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from './client.ts';

const refreshIntervalMs = 10_000;
const listeners = new Set<() => void>();
const refresh = () => {
  if (!document.hidden) for (const listener of listeners) listener();
};
setInterval(refresh, refreshIntervalMs);
document.addEventListener('visibilitychange', refresh);

/** Calls the listener at every refresh of the page. */
export function useRefresh(listener: () => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const call = () => latest.current();
    listeners.add(call);
    return () => void listeners.delete(call);
  }, []);
}

export interface Reading<Data> {
  /** Data of the last read; null before the first one. */
  data: Data | null;
  /** Error of the last read. */
  problem: ProblemBody | null;
  read(): void;
  /** Replaces the data, for example with the result of a mutation. */
  change(data: (before: Data | null) => Data): void;
}

export function useReading<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  options: { alone?: boolean } = {},
): Reading<Data> {
  type State = Pick<Reading<Data>, 'data' | 'problem'>;
  const [state, setState] = useState<State>({ data: null, problem: null });
  const key = JSON.stringify(variables);
  // A response is outdated when the variables have changed, the data was replaced, or a later read has answered.
  const present = useRef({ key, last: 0, shown: 0 });
  present.current.key = key;
  const read = useCallback(() => {
    const number = ++present.current.last;
    const settle = (to: (before: State) => State) => {
      if (present.current.key !== key || present.current.shown > number) return;
      present.current.shown = number;
      setState(to);
    };
    ask(operation, JSON.parse(key) as Variables, options).then(
      (data) => settle(() => ({ data, problem: null })),
      (error) => settle(({ data }) => ({ data, problem: problemOf(error) })),
    );
  }, [operation, key]);
  useEffect(read, [read]);
  const change = (to: (before: Data | null) => Data) => {
    present.current.shown = ++present.current.last;
    setState(({ data }) => ({ data: to(data), problem: null }));
  };
  return { ...state, read, change };
}

/** A value of `useReading` that is read again at every refresh of the page. */
export function usePolledReading<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
): Reading<Data> {
  const reading = useReading(operation, variables);
  useRefresh(reading.read);
  return reading;
}

export interface Page<Row> {
  data: Row[];
  nextCursor: string | null;
}

export interface List<Row> {
  rows: Row[] | null;
  problem: ProblemBody | null;
  /** Whether there are further pages. */
  hasMore: boolean;
  isReading: boolean;
  /** Reads the first page again. */
  read(): void;
  loadMore(): void;
}

interface ListState<Row> {
  rows: Row[] | null;
  cursor: string | null;
  problem: ProblemBody | null;
  isReading: boolean;
}

interface Paged {
  cursor?: string | null | undefined;
}

/** A list in pages: the first one at once, further ones on request. */
export function useList<Data, Variables extends Paged, Row extends { id: string }>(
  operation: Operation<Data, Variables>,
  variables: Omit<Variables, 'cursor'>,
  pageIn: (data: Data) => Page<Row>,
): List<Row>;
/** @param idOf Returns the id of a row that has no member `id` */
export function useList<Data, Variables extends Paged, Row>(
  operation: Operation<Data, Variables>,
  variables: Omit<Variables, 'cursor'>,
  pageIn: (data: Data) => Page<Row>,
  idOf: (row: Row) => string,
): List<Row>;
export function useList<Data, Variables extends Paged, Row>(
  operation: Operation<Data, Variables>,
  variables: Omit<Variables, 'cursor'>,
  pageIn: (data: Data) => Page<Row>,
  idOf = (row: Row) => (row as { id: string }).id,
): List<Row> {
  const empty: ListState<Row> = { rows: null, cursor: null, problem: null, isReading: true };
  const [state, setState] = useState(empty);
  const key = JSON.stringify(variables);
  // A first page is outdated when a later read has replaced it.
  const present = useRef({ key, last: 0, shown: 0 });
  present.current.key = key;

  const readFrom = useCallback(
    (cursor: string | null) => {
      const number = ++present.current.last;
      const isLate = () => present.current.key !== key || (cursor === null && present.current.shown > number);
      // While the first page of the list is refreshed, the list does not show that it is being read.
      if (cursor !== null) setState((before) => ({ ...before, isReading: true }));
      ask(operation, { ...JSON.parse(key), ...(cursor !== null && { cursor }) }).then(
        (data) => {
          if (isLate()) return;
          if (cursor === null) present.current.shown = number;
          setState((before) => ({ ...joined(before, pageIn(data), cursor, idOf), problem: null, isReading: false }));
        },
        (error) => isLate() || setState((before) => ({ ...before, problem: problemOf(error), isReading: false })),
      );
    },
    [operation, key],
  );
  useEffect(() => {
    setState(empty);
    readFrom(null);
  }, [readFrom]);
  return {
    rows: state.rows,
    problem: state.problem,
    hasMore: state.cursor !== null,
    isReading: state.isReading,
    read: () => readFrom(null),
    loadMore: () => readFrom(state.cursor),
  };
}

/** Merges a page into the list: at the end, or at the beginning for a refreshed first page. */
function joined<Row>(
  { rows, cursor }: ListState<Row>,
  page: Page<Row>,
  from: string | null,
  idOf: (row: Row) => string,
): Pick<ListState<Row>, 'rows' | 'cursor'> {
  const firstPage = { rows: page.data, cursor: page.nextCursor };
  if (rows === null) return firstPage;
  if (from !== null) return { rows: [...rows, ...page.data], cursor: page.nextCursor };
  // A first page without a next one is the whole list, even when its last row was deleted.
  if (page.nextCursor === null) return firstPage;
  const ids = new Set(page.data.map(idOf));
  const last = rows.findLastIndex((row) => ids.has(idOf(row)));
  // If the two pages have no row in common, there may be more rows between them.
  return last < 0 || rows.length - last === 1 ? firstPage : { rows: [...page.data, ...rows.slice(last + 1)], cursor };
}

/** The result of a single read, as a complete list. */
export const listFrom = <Data, Row>(
  { data, problem, read }: Reading<Data>,
  rowsIn: (data: Data) => Row[],
): List<Row> => ({
  rows: data && rowsIn(data),
  problem,
  hasMore: false,
  isReading: false,
  read,
  loadMore: read,
});

/** Changes several filters in the URL of the page at once. */
export function useFilters(): (changes: Record<string, string | null>) => void {
  const { path, route } = useLocation();
  return (changes) => {
    const parameters = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value) parameters.set(name, value);
      else parameters.delete(name);
    }
    route(`${path}${parameters.size > 0 ? `?${parameters}` : ''}`, true);
  };
}

/** A filter in the URL of the page. */
export function useFilter(name: string): [value: string | null, set: (value: string | null) => void] {
  const { query } = useLocation();
  const set = useFilters();
  return [query[name] || null, (value) => set({ [name]: value })];
}
