// Missions in rows: one line each, and the whole row is a link.
import type { ComponentChildren } from 'preact';
import { type RunRowFragment, type RunsQueryVariables, runs } from '../generated/documents.ts';
import { ListView } from '../kit/list-view.tsx';
import { now, pageAt } from '../kit/page.ts';
import { Meter, Pill, Skeleton } from '../kit/pieces.tsx';
import { type List, useList, useRefresh } from '../kit/reading.ts';
import { dollars, duration, Time } from '../kit/words.tsx';
import { needWords, outcomeWords, stateOf } from './run-state.tsx';

/** Duration of the mission; null before it has begun. */
export const lengthOf = ({ startedAt, finishedAt }: RunRowFragment): string | null =>
  startedAt === null ? null : duration((finishedAt ?? now()) - startedAt);

/** A short text: what the mission needs from a person, else its current activity or its outcome. */
export const remark = (run: RunRowFragment): string | null => {
  const { status, needs, missionActivity, reason, lastError } = run;
  if (needs) return needWords[needs];
  if (status === 'running') return missionActivity;
  // The label of such a mission already says that there are no changes.
  if (status === 'completed') return run.outcome?.result === 'no_changes' ? reason : (outcomeWords(run) ?? reason);
  return status === 'failed' ? (lastError ?? reason) : reason;
};

export const titleOf = ({ missionTitle }: Pick<RunRowFragment, 'missionTitle'>): string =>
  missionTitle ?? 'Untitled mission';

const startOf = ({ kind, startedBy }: RunRowFragment): string =>
  startedBy ?? (kind === 'manual' ? 'Started manually' : 'Scheduled');

interface RowsProperties {
  rows: RunRowFragment[];
  within?: boolean;
  /** Selection for bulk actions. `isRange`: includes all rows between this one and the one last chosen. */
  selection?: { has(id: string): boolean; select(id: string, isSelected: boolean, isRange: boolean): void };
}

export const RunRows = ({ rows, within = false, selection }: RowsProperties) => (
  <ul class="rows run-rows">
    {rows.map((run) => (
      <li key={run.id} class="run-row">
        {selection && (
          <input
            type="checkbox"
            class="select-row"
            aria-label={`Select ${titleOf(run)}`}
            checked={selection.has(run.id)}
            onClick={({ currentTarget, shiftKey }) => selection.select(run.id, currentTarget.checked, shiftKey)}
          />
        )}
        <Pill status={stateOf(run)} />
        <a class="row-link" href={pageAt(`/runs/${run.id}`)}>
          {titleOf(run)}
        </a>
        <span class={`remark small ${run.needs ? 'uncut' : ''}`}>{remark(run)}</span>
        {run.status === 'running' && run.missionProgress !== null && (
          <Meter value={run.missionProgress} label={`Progress of ${titleOf(run)}`} />
        )}
        <span class="belongs muted small">
          {[within ? null : run.project?.name, startOf(run)].filter(Boolean).join(' · ')}
        </span>
        <span class="numbers">
          <span>{lengthOf(run) ?? '–'}</span>
          <span>{dollars(run.missionCostUsd)}</span>
        </span>
        <span class="when">
          <Time at={run.createdAt} />
        </span>
      </li>
    ))}
  </ul>
);

export function useRuns(variables: Omit<RunsQueryVariables, 'cursor'>) {
  const list = useList(runs, variables, (data) => data.runs);
  useRefresh(list.read);
  return list;
}

interface RunListProperties {
  list: List<RunRowFragment>;
  empty: ComponentChildren;
  within?: boolean;
  /** Whether the list is an excerpt, with a link to the whole list on another page. */
  isExcerpt?: boolean;
  rows?: number;
}

export const RunList = ({ list, empty, within = false, isExcerpt = false, rows: expected = 6 }: RunListProperties) => (
  <ListView list={list} isExcerpt={isExcerpt} empty={empty} skeleton={<Skeleton rows={expected} height={36} />}>
    {(rows) => <RunRows rows={rows} within={within} />}
  </ListView>
);
