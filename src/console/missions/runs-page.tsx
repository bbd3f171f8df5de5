// All missions as a list, in groups or on a board, filtered by the URL of the page; several can be canceled or run again at once.

import { useState } from 'preact/hooks';
import type { MissionViewLayout } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { FilterChoice, SearchFilter, useOrder, useWord } from '../kit/filters.tsx';
import { CreateLink, Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { may } from '../kit/page.ts';
import { Skeleton } from '../kit/pieces.tsx';
import { useFilter } from '../kit/reading.ts';
import { Bulk, SelectAll, useSelection } from '../kit/selection.tsx';
import { FirstSteps } from '../overview/first-steps.tsx';
import {
  type Filters,
  FilterToggle,
  groupings,
  isNarrowed,
  MoreFilters,
  queryOf,
  useRunFilters,
} from './run-filters.tsx';
import { RunGroups } from './run-groups.tsx';
import { RunRows, useRuns } from './runs.tsx';
import { Views } from './views.tsx';

const layouts: readonly MissionViewLayout[] = ['list', 'board'];

export function Runs() {
  const filters = useRunFilters();
  const order = useOrder();
  const layout = useWord('layout', layouts) ?? 'list';
  const groupBy = useWord('groupBy', groupings);
  const by = groupBy ?? (layout === 'board' ? 'status' : null);
  const { search: _, needsPerson: __, followed: ___, ...hidden } = filters;
  const [isOpen, setOpen] = useState(order !== null || isNarrowed(hidden));
  const query = queryOf(filters, order);
  const { status, projectId } = filters;
  return (
    <>
      <Heading title="Missions">
        <CopyAs
          path={`/runs${query.size > 0 ? `?${query}` : ''}`}
          client={`client.runs(${JSON.stringify(Object.fromEntries(query))})`}
          cli={`aep runs${status ? ` --status ${status}` : ''}${projectId ? ` --project ${projectId}` : ''}`}
          graphql="{ runs(limit: 30) { data { id status missionTitle } nextCursor } }"
        />
        <CreateLink scope="missions:run" path="/runs/new" label="Start mission" />
      </Heading>
      <div class="toolbar">
        <Views shown={{ filters, layout, groupBy }} />
        <div class="filters">
          <FilterToggle name="needsPerson" label="Needs me" />
          <FilterToggle name="followed" label="Followed" />
          <SearchFilter name="search" label="Search" />
          <LayoutChoice layout={layout} />
          <FilterChoice
            name="groupBy"
            label="Group by"
            any={layout === 'board' ? 'status' : 'None'}
            options={groups(layout)}
          />
          <button type="button" class="quiet slim toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Filters
          </button>
        </div>
      </div>
      {isOpen && <MoreFilters />}
      {by ? (
        <RunGroups by={by} filters={filters} isBoard={layout === 'board'} />
      ) : (
        <RunTable filters={filters} order={order} />
      )}
    </>
  );
}

const groups = (layout: MissionViewLayout) =>
  groupings.filter((one) => layout === 'list' || one !== 'status').map((one) => [one, one] as const);

function LayoutChoice({ layout }: { layout: MissionViewLayout }) {
  const [, choose] = useFilter('layout');
  return (
    <div class="layouts">
      {layouts.map((one) => (
        <button
          key={one}
          type="button"
          class="quiet slim toggle"
          aria-pressed={layout === one}
          onClick={() => choose(one === 'list' ? null : one)}
        >
          {one === 'list' ? 'List' : 'Board'}
        </button>
      ))}
    </div>
  );
}

function RunTable({ filters, order }: { filters: Filters; order: ReturnType<typeof useOrder> }) {
  const list = useRuns({ limit: 30, ...filters, order });
  const selection = useSelection(list.rows?.map(({ id }) => id) ?? []);
  const { selected, clear } = selection;
  const title = filters.needsPerson ? 'Missions that wait for a person to act' : 'All missions';
  return (
    <section class="panel list" aria-label={title}>
      <ListView
        list={list}
        skeleton={<Skeleton rows={25} height={28} />}
        empty={
          filters.needsPerson ? (
            <p>No mission waits for a person to act.</p>
          ) : isNarrowed(filters) ? (
            <p>No mission matches the filters.</p>
          ) : (
            <FirstSteps />
          )
        }
      >
        {(rows) => (
          <>
            <div class="list-head">
              {may('missions:run') && <SelectAll shown={rows.length} selection={selection} />}
              {selected.length > 0 ? (
                <Bulk selected={selected} clear={clear} read={list.read} />
              ) : (
                <>
                  <span class="numbers" aria-hidden="true">
                    <span>Duration</span>
                    <span>Cost</span>
                  </span>
                  <span class="when" aria-hidden="true">
                    Created
                  </span>
                </>
              )}
            </div>
            <div class="dense">
              <RunRows rows={rows} {...(may('missions:run') && { selection })} />
            </div>
          </>
        )}
      </ListView>
    </section>
  );
}
