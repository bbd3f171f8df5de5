// Runs in rows, and the page of all of them.
import type { ComponentChildren } from 'preact';
import { type RunRowFragment, type RunStatus, runs } from './documents.ts';
import { Heading } from './heading.tsx';
import { may, now } from './page.ts';
import { Card, Meter, Pill, Shown, Skeleton } from './pieces.tsx';
import { ProjectChoice } from './project-choice.tsx';
import { type List, useBeat, useFilter, useList } from './reading.ts';
import { dollars, duration, Time } from './words.tsx';

/** Null before it has begun. */
export const lengthOf = ({ startedAt, finishedAt }: RunRowFragment): string | null =>
  startedAt === null ? null : duration((finishedAt ?? now()) - startedAt);

/** What it is at, or why it is not. */
export const remark = ({ status, missionActivity, reason, lastError }: RunRowFragment): string | null =>
  status === 'running' ? missionActivity : (reason ?? lastError);

export const titleOf = ({ missionTitle }: Pick<RunRowFragment, 'missionTitle'>): string =>
  missionTitle ?? 'Untitled run';

export const RunRows = ({ rows, within = false }: { rows: RunRowFragment[]; within?: boolean }) => (
  <ul class="rows">
    {rows.map((run) => (
      <li key={run.id} class="run-row">
        <Pill status={run.status} />
        <div class="grow">
          <a class="row-link" href={`/console/runs/${run.id}`}>
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

export function useRuns(variables: { projectId?: string | null; status?: RunStatus | null; limit: number }) {
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
  <Shown list={list} isExcerpt={isExcerpt} empty={empty} skeleton={<Skeleton rows={expected} height={54} />}>
    {(rows) => <RunRows rows={rows} within={within} />}
  </Shown>
);

const statuses: readonly RunStatus[] = ['running', 'dispatching', 'completed', 'failed', 'skipped', 'canceled'];

export function Runs() {
  const [status, setStatus] = useFilter('status');
  const [projectId, setProjectId] = useFilter('projectId');
  const known = statuses.find((one) => one === status) ?? null;
  const list = useRuns({ limit: 30, status: known, projectId });
  return (
    <>
      <Heading title="Missions">
        {may('missions:run') && (
          <a class="button slim" href="/console/runs/new">
            Start mission
          </a>
        )}
      </Heading>
      <div class="filters">
        <ProjectChoice value={projectId} choose={setProjectId} />
        <label>
          Status
          <select value={known ?? ''} onChange={(event) => setStatus(event.currentTarget.value)}>
            <option value="">Any</option>
            {statuses.map((one) => (
              <option key={one} value={one}>
                {one === 'dispatching' ? 'waiting' : one}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Card title="Missions, newest first">
        <RunList
          list={list}
          rows={12}
          empty={<p>{status || projectId ? 'No run is like that.' : 'Nothing has run yet.'}</p>}
        />
      </Card>
    </>
  );
}
