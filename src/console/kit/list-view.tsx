// Lists in any state: loading, empty, with an error, or with further pages.
import type { ComponentChildren } from 'preact';
import { Empty, ErrorNote } from './pieces.tsx';
import type { List } from './reading.ts';

interface ListViewProperties<Row> {
  list: List<Row>;
  /** Shown when the list is empty. */
  empty: ComponentChildren;
  skeleton: ComponentChildren;
  /** Whether the list is an excerpt, with a link to the whole list on another page. */
  isExcerpt?: boolean;
  children: (rows: Row[]) => ComponentChildren;
}

/** A list in any state. Its rows stay visible when a refresh fails. */
export function ListView<Row>({ list, empty, skeleton, isExcerpt = false, children }: ListViewProperties<Row>) {
  const { rows, problem } = list;
  return (
    <>
      {problem && <ErrorNote problem={problem} retry={list.read} />}
      {rows === null ? !problem && skeleton : rows.length === 0 ? <Empty>{empty}</Empty> : children(rows)}
      {rows !== null && list.hasMore && !isExcerpt && (
        <div class="more-row">
          <button type="button" class="quiet slim" disabled={list.isReading} onClick={list.loadMore}>
            {list.isReading ? 'Loading …' : 'Load more'}
          </button>
        </div>
      )}
    </>
  );
}

/** A list as rows. `children` returns the row for one element, with its key. */
export const RowList = <Row,>({
  children,
  ...list
}: Omit<ListViewProperties<Row>, 'children'> & { children: (row: Row) => ComponentChildren }) => (
  <ListView {...list}>{(rows) => <ul class="rows">{rows.map((row) => children(row))}</ul>}</ListView>
);
