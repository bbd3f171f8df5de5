// All recurring missions of the organization, the one that starts next first.
import { asOptions, FilterChoice, ProjectFilter, useWord } from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { may } from '../kit/page.ts';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useFilter } from '../kit/reading.ts';
import { RecurringRows, useRecurring } from './recurring.tsx';
import { type Kind, kinds } from './recurring-kinds.ts';

const states = ['active', 'paused'] as const;

export function Schedules() {
  const [projectId] = useFilter('projectId');
  const state = useWord('state', states);
  const tasks = useRecurring(kinds.tasks, projectId);
  const automations = useRecurring(kinds.automations, projectId);
  const both = [tasks, automations];
  const rowsOf = (kind: Kind, { rows }: typeof tasks) => rows?.map((row) => [kind, row] as const);
  const [all, others] = [rowsOf(kinds.tasks, tasks), rowsOf(kinds.automations, automations)];
  const list = {
    rows:
      all && others
        ? [...all, ...others]
            .filter(([, { enabled }]) => state === null || enabled === (state === 'active'))
            .sort(([, one], [, other]) => (one.nextRunAt ?? Infinity) - (other.nextRunAt ?? Infinity) || 0)
        : null,
    problem: tasks.problem ?? automations.problem,
    hasMore: both.some(({ hasMore }) => hasMore),
    isReading: both.some(({ isReading }) => isReading),
    read() {
      for (const { read } of both) read();
    },
    loadMore() {
      for (const { hasMore, loadMore } of both) if (hasMore) loadMore();
    },
  };
  return (
    <>
      <Heading title="Schedules">
        {Object.values(kinds).map(
          ({ base, one, writes }) =>
            may(writes) && (
              <a key={base} class="button quiet slim" href={`${base}/new${projectId ? `?projectId=${projectId}` : ''}`}>
                Create {one}
              </a>
            ),
        )}
      </Heading>
      <div class="filters">
        <ProjectFilter />
        <FilterChoice name="state" label="State" options={asOptions(states)} />
      </div>
      <Card title="Recurring missions">
        <ListView
          list={list}
          skeleton={<Skeleton rows={6} height={64} />}
          empty={
            <p>
              {projectId || state
                ? 'No recurring mission matches the filters.'
                : 'No schedules yet. A scheduled task or an automation starts missions on a schedule.'}
            </p>
          }
        >
          {(rows) => <RecurringRows rows={rows} />}
        </ListView>
      </Card>
    </>
  );
}
