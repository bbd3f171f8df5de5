// Missions in groups: sections of a list, or the columns of a board. Each group reads its own rows.
import { useState } from 'preact/hooks';
import { type RunGrouping, type RunGroupsQuery, type RunRowFragment, runGroups } from '../generated/documents.ts';
import { useOrder } from '../kit/filters.tsx';
import { ListView } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { ErrorNote, Meter, Pill, Skeleton } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { dollars, Time } from '../kit/words.tsx';
import { type Filters, statuses } from './run-filters.tsx';
import { stateOf } from './run-state.tsx';
import { lengthOf, RunRows, remark, titleOf, useRuns } from './runs.tsx';

type Group = RunGroupsQuery['runGroups']['data'][number];

const columnsOf = { status: 'status', project: 'projectId', agent: 'agentId', person: 'personId' } as const;
const nameless = { status: '', project: '', agent: 'Any agent', person: 'Nobody' } as const;

const titleOfGroup = (by: RunGrouping, { key, name }: Group): string =>
  key === null ? nameless[by] : (name ?? (key === 'dispatching' ? 'waiting' : key));

/** Sorts groups by status in the order of `statuses`. Other groups stay sorted by size. */
const inOrder = (by: RunGrouping, groups: Group[]): Group[] =>
  by === 'status'
    ? groups.toSorted((a, b) => statuses.indexOf(a.key as never) - statuses.indexOf(b.key as never))
    : groups;

interface GroupsProperties {
  by: RunGrouping;
  filters: Filters;
  isBoard: boolean;
}

export function RunGroups({ by, filters, isBoard }: GroupsProperties) {
  const { data, problem, read } = usePolledReading(runGroups, { by, ...filters });
  if (problem && !data) return <ErrorNote problem={problem} retry={read} />;
  if (!data) return <Skeleton rows={12} height={36} />;
  const groups = inOrder(by, data.runGroups.data);
  if (groups.length === 0) return <p>No mission matches the filters.</p>;
  return (
    <div class={isBoard ? 'board' : 'run-groups dense'}>
      {groups.map((group, i) => (
        <RunGroup key={group.key} by={by} group={group} filters={filters} isBoard={isBoard} opens={isBoard || i < 6} />
      ))}
    </div>
  );
}

interface GroupProperties extends GroupsProperties {
  group: Group;
  /** Whether the group is expanded when the page opens. */
  opens: boolean;
}

function RunGroup({ by, group, filters, isBoard, opens }: GroupProperties) {
  const [isOpen, setOpen] = useState(opens);
  const title = titleOfGroup(by, group);
  return (
    <section class="group" aria-label={title}>
      <h2>
        <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {by === 'status' ? <Pill status={title} /> : <bdi>{title}</bdi>}
          <span class="muted">{group.count}</span>
        </button>
      </h2>
      {isOpen && <GroupRows by={by} group={group} filters={filters} isBoard={isBoard} />}
    </section>
  );
}

function GroupRows({ by, group, filters, isBoard }: Omit<GroupProperties, 'opens'>) {
  const own = { ...filters, [columnsOf[by]]: group.key ?? 'none' };
  const list = useRuns({ limit: isBoard ? 20 : 10, ...own, order: useOrder() });
  return (
    <ListView
      list={list}
      skeleton={<Skeleton rows={Math.min(group.count, 10)} height={36} />}
      empty={<p>No mission.</p>}
    >
      {(rows) => (isBoard ? <Cards rows={rows} by={by} /> : <RunRows rows={rows} within={by === 'project'} />)}
    </ListView>
  );
}

const Cards = ({ rows, by }: { rows: RunRowFragment[]; by: RunGrouping }) => (
  <ul class="cards">
    {rows.map((run) => (
      <li key={run.id} class="mission-card">
        <a class="row-link" href={pageAt(`/runs/${run.id}`)}>
          {titleOf(run)}
        </a>
        {remark(run) && <div class={`small ${run.needs ? '' : 'muted'} clamp`}>{remark(run)}</div>}
        {run.status === 'running' && run.missionProgress !== null && (
          <Meter value={run.missionProgress} label={`Progress of ${titleOf(run)}`} />
        )}
        <div class="row-top small muted">
          {(by !== 'status' || run.needs) && <Pill status={stateOf(run)} />}
          <span class="grow cut">{[run.project?.name, run.personName].filter(Boolean).join(' · ')}</span>
        </div>
        <div class="row-top small muted">
          <span class="grow">
            {lengthOf(run) ?? '–'} · {dollars(run.missionCostUsd)}
          </span>
          <Time at={run.createdAt} />
        </div>
      </li>
    ))}
  </ul>
);
