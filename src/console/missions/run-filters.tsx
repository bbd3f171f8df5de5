// The filters of missions, kept in the URL of the page, and their controls.
import {
  memberNames,
  type RunGrouping,
  type RunKind,
  type RunStatus,
  type RunsQueryVariables,
} from '../generated/documents.ts';
import { AgentFilter, FilterChoice, OrderFilter, ProjectFilter, type useOrder, useWord } from '../kit/filters.tsx';
import { may, org as orgId } from '../kit/page.ts';
import { PeriodFilter, usePeriod } from '../kit/period.tsx';
import { useFilter, useReading } from '../kit/reading.ts';

export const statuses: readonly RunStatus[] = ['running', 'dispatching', 'completed', 'failed', 'skipped', 'canceled'];
const kinds: readonly RunKind[] = ['manual', 'scheduled'];
export const groupings: readonly RunGrouping[] = ['status', 'project', 'agent', 'person'];

export type Filters = Omit<RunsQueryVariables, 'limit' | 'cursor' | 'order'>;

export function useRunFilters(): Filters {
  const [projectId] = useFilter('projectId');
  const [agentId] = useFilter('agentId');
  const [personId] = useFilter('personId');
  const [needsMe] = useFilter('needsPerson');
  const [followed] = useFilter('followed');
  const [search] = useFilter('search');
  return {
    status: useWord('status', statuses),
    needsPerson: needsMe ? true : null,
    followed: followed ? true : null,
    search,
    projectId,
    agentId,
    personId,
    kind: useWord('kind', kinds),
    ...usePeriod(),
  };
}

export const isNarrowed = (filters: Filters): boolean => Object.values(filters).some((value) => value !== null);

export function queryOf(filters: Filters, order: ReturnType<typeof useOrder>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, order })) if (value != null) query.set(name, String(value));
  return query;
}

function PersonFilter() {
  const { data } = useReading(memberNames, { orgId });
  const options =
    data?.memberships.memberships.map(({ userId, person }) => [userId, person?.name ?? userId] as const) ?? [];
  return <FilterChoice name="personId" label="Person" any="Anybody" options={options} />;
}

const kindWords = [
  ['manual', 'A person'],
  ['scheduled', 'The schedule'],
] as const;

/** The filters that are hidden until somebody opens them or chooses one. */
export function MoreFilters() {
  return (
    <div class="filters">
      <ProjectFilter />
      <FilterChoice
        name="status"
        label="Status"
        options={statuses.map((one) => [one, one === 'dispatching' ? 'waiting' : one] as const)}
      />
      {may('agents:read') && <AgentFilter />}
      {may('members:read') && <PersonFilter />}
      <FilterChoice name="kind" label="Started by" any="Anybody" options={kindWords} />
      <PeriodFilter />
      <OrderFilter />
    </div>
  );
}

/** A filter that is on or off. */
export function FilterToggle({ name, label }: { name: 'needsPerson' | 'followed'; label: string }) {
  const [isOn, choose] = useFilter(name);
  return (
    <button
      type="button"
      class="quiet slim toggle"
      aria-pressed={isOn !== null}
      onClick={() => choose(isOn ? null : 'true')}
    >
      {label}
    </button>
  );
}
