// All missions, filtered by the address of the page; several can be canceled or run again at once.

import type { RunKind, RunStatus } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import {
  AgentFilter,
  FilterChoice,
  OrderFilter,
  ProjectFilter,
  SearchFilter,
  useOrder,
  useWord,
} from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { PeriodFilter, usePeriod } from '../kit/period.tsx';
import { Card, ListView, Skeleton } from '../kit/pieces.tsx';
import { useFilter } from '../kit/reading.ts';
import { Bulk, SelectAll, useSelection } from '../kit/selection.tsx';
import { RunRows, useRuns } from './runs.tsx';

const statuses: readonly RunStatus[] = ['running', 'dispatching', 'completed', 'failed', 'skipped', 'canceled'];
const kinds: readonly RunKind[] = ['manual', 'scheduled'];

export function Runs() {
  const status = useWord('status', statuses);
  const [projectId] = useFilter('projectId');
  const [agentId] = useFilter('agentId');
  const [needsMe, setNeedsMe] = useFilter('needsPerson');
  const [search] = useFilter('search');
  const order = useOrder();
  const filters = {
    status,
    needsPerson: needsMe ? true : null,
    search,
    projectId,
    agentId,
    kind: useWord('kind', kinds),
    ...usePeriod(),
  };
  const list = useRuns({ limit: 30, ...filters, order });
  const selection = useSelection(list.rows?.map(({ id }) => id) ?? []);
  const { selected, clear } = selection;
  const isNarrowed = Object.values(filters).some((value) => value !== null);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, order })) if (value !== null) query.set(name, String(value));
  return (
    <>
      <Heading title="Missions">
        <CopyAs
          path={`/runs${query.size > 0 ? `?${query}` : ''}`}
          client={`client.runs(${JSON.stringify(Object.fromEntries(query))})`}
          cli={`aep runs${status ? ` --status ${status}` : ''}${projectId ? ` --project ${projectId}` : ''}`}
          graphql="{ runs(limit: 30) { data { id status missionTitle } nextCursor } }"
        />
        {may('missions:run') && (
          <a class="button slim" href={pageAt('/runs/new')}>
            Start mission
          </a>
        )}
      </Heading>
      <div class="filters">
        <button
          type="button"
          class="quiet slim toggle"
          aria-pressed={needsMe !== null}
          onClick={() => setNeedsMe(needsMe ? null : 'true')}
        >
          Needs me
        </button>
        <SearchFilter name="search" label="Search" />
        <ProjectFilter />
        <FilterChoice
          name="status"
          label="Status"
          options={statuses.map((one) => [one, one === 'dispatching' ? 'waiting' : one] as const)}
        />
        {may('agents:read') && <AgentFilter />}
        <FilterChoice
          name="kind"
          label="Started by"
          any="Anybody"
          options={[
            ['manual', 'A person'],
            ['scheduled', 'The schedule'],
          ]}
        />
        <PeriodFilter />
        <OrderFilter />
      </div>
      <Card
        title={needsMe ? 'Missions that wait for a person' : 'All missions'}
        aside={selected.length > 0 && <Bulk selected={selected} clear={clear} read={list.read} />}
      >
        <ListView
          list={list}
          skeleton={<Skeleton rows={20} height={36} />}
          empty={
            <p>
              {needsMe
                ? 'No mission waits for a person.'
                : isNarrowed
                  ? 'No mission matches the filters.'
                  : 'No missions yet.'}
            </p>
          }
        >
          {(rows) => (
            <>
              {may('missions:run') && <SelectAll shown={rows.length} selection={selection} />}
              <RunRows rows={rows} {...(may('missions:run') && { selection })} />
            </>
          )}
        </ListView>
      </Card>
    </>
  );
}
