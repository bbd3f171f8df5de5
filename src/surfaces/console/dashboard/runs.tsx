// Runs in rows.
import type { ComponentChildren } from 'preact';
import { type RunRowFragment, type RunsQueryVariables, runs } from './documents.ts';
import { now, pageAt } from './page.ts';
import { ListView, Meter, Pill, Skeleton } from './pieces.tsx';
import { type List, useBeat, useList } from './reading.ts';
import { dollars, duration, Time } from './words.tsx';

/** Null before it has begun. */
export const lengthOf = ({ startedAt, finishedAt }: RunRowFragment): string | null =>
  startedAt === null ? null : duration((finishedAt ?? now()) - startedAt);

/** What it is at, or why it is not. */
export const remark = ({ status, missionActivity, reason, lastError }: RunRowFragment): string | null =>
  status === 'running' ? missionActivity : (reason ?? lastError);

export const titleOf = ({ missionTitle }: Pick<RunRowFragment, 'missionTitle'>): string =>
  missionTitle ?? 'Untitled run';

interface RowsProperties {
  rows: RunRowFragment[];
  within?: boolean;
  /** Of rows that are acted on together. */
  selection?: { has(id: string): boolean; select(id: string, isSelected: boolean): void };
}

export const RunRows = ({ rows, within = false, selection }: RowsProperties) => (
  <ul class="rows">
    {rows.map((run) => (
      <li key={run.id} class="run-row">
        {selection && (
          <input
            type="checkbox"
            class="select-row"
            aria-label={`Select ${titleOf(run)}`}
            checked={selection.has(run.id)}
            onChange={({ currentTarget }) => selection.select(run.id, currentTarget.checked)}
          />
        )}
        <Pill status={run.status} />
        <div class="grow">
          <a class="row-link" href={pageAt(`/runs/${run.id}`)}>
            {titleOf(run)}
          </a>
          <div class="muted small clip">
            {[within ? null : run.project?.name, run.kind === 'manual' ? 'by hand' : 'by schedule', remark(run)]
              .filter(Boolean)
              .join(' · ')}
          </div>
        </div>
        {run.status === 'running' && run.missionProgress !== null && (
          <Meter value={run.missionProgress} label={`Progress of ${titleOf(run)}`} />
        )}
        <div class="numbers">
          <span>{lengthOf(run) ?? '–'}</span>
          <span>{dollars(run.missionCostUsd)}</span>
        </div>
        <div class="when">
          <Time at={run.createdAt} />
        </div>
      </li>
    ))}
  </ul>
);

export function useRuns(variables: Omit<RunsQueryVariables, 'cursor'>) {
  const list = useList(
    runs,
    variables,
    (data) => data.runs,
    (run) => run.id,
  );
  useBeat(list.read);
  return list;
}

interface RunListProperties {
  list: List<RunRowFragment>;
  empty: ComponentChildren;
  within?: boolean;
  /** Where a link leads to the rest. */
  isExcerpt?: boolean;
  rows?: number;
}

export const RunList = ({ list, empty, within = false, isExcerpt = false, rows: expected = 6 }: RunListProperties) => (
  <ListView list={list} isExcerpt={isExcerpt} empty={empty} skeleton={<Skeleton rows={expected} height={54} />}>
    {(rows) => <RunRows rows={rows} within={within} />}
  </ListView>
);
