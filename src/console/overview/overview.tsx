// Shows the organization at a glance. Every widget declares its own query, but all queries of a refresh are sent in one request.

import { busySandboxes, endedRuns, openRuns, type SpendQuery, setup, spend, upcoming } from '../generated/documents.ts';
import { Chart } from '../kit/chart.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView, RowList } from '../kit/list-view.tsx';
import { may, now, pageAt } from '../kit/page.ts';
import { Card, Loaded, Meter, Skeleton } from '../kit/pieces.tsx';
import { listFrom, type Page, usePolledReading } from '../kit/reading.ts';
import { dollars, When } from '../kit/words.tsx';
import { RunList, RunRows } from '../missions/runs.tsx';
import { SandboxRows } from '../sandboxes/sandboxes.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Lead } from './setup.tsx';

export const Overview = () => (
  <>
    <Heading title="Overview" />
    {may('setup:read') ? <WithLead /> : <Widgets />}
  </>
);

/** The widgets load at once, but appear together with the part above them, so that nothing shifts. */
function WithLead() {
  const { data, problem, read } = usePolledReading(setup, {});
  const isKnown = data !== null || problem !== null;
  return (
    <>
      {data ? <Lead data={data} read={read} /> : !problem && <Skeleton rows={6} height={96} />}
      <Widgets hidden={!isKnown} />
    </>
  );
}

const Widgets = ({ hidden = false }: { hidden?: boolean }) => (
  <div class="columns" hidden={hidden}>
    <div class="column">
      <Open />
      <Recent />
    </div>
    <div class="column">
      <CostToday />
      <Sandboxes />
      <Next />
    </div>
  </div>
);

function Open() {
  const reading = usePolledReading(openRuns, {});
  const { running, waiting } = reading.data ?? {};
  return (
    <Card
      title="Missions in progress"
      aside={running && waiting && `${countOf(running)} running, ${countOf(waiting)} waiting`}
    >
      <ListView
        list={listFrom(reading, (data) => [...data.running.data, ...data.waiting.data])}
        skeleton={<Skeleton rows={2} height={36} />}
        empty={
          <>
            <p>No mission is in progress.</p>
            {may('missions:run') && (
              <a class="button quiet slim" href={pageAt('/runs/new')}>
                Start mission
              </a>
            )}
          </>
        }
      >
        {(rows) => <RunRows rows={rows} />}
      </ListView>
    </Card>
  );
}

/** The number of rows, with a plus if there are more than were read. */
const countOf = ({ data, nextCursor }: Page<unknown>): string => `${data.length}${nextCursor ? '+' : ''}`;

/** Number of ended missions that are shown. */
const recent = 12;

function Recent() {
  const reading = usePolledReading(endedRuns, {});
  const list = listFrom(reading, ({ completed, failed, canceled, skipped }) =>
    [completed, failed, canceled, skipped]
      .flatMap(({ data }) => data)
      .sort((a, b) => b.createdAt - a.createdAt)
      .slice(0, recent),
  );
  return (
    <Card title="Recent missions" aside={<a href={pageAt('/runs')}>All missions</a>}>
      <RunList list={list} isExcerpt rows={8} empty={<FirstSteps />} />
    </Card>
  );
}

function CostToday() {
  const { data, problem, read } = usePolledReading(spend, {});
  return (
    <Card title="Cost today" aside="UTC">
      <Loaded value={data} problem={problem} retry={read} rows={1} height={238}>
        {(data) => <Spend orchestrator={data.orchestrator} />}
      </Loaded>
    </Card>
  );
}

const hour = 3_600_000;

function Spend({ orchestrator }: SpendQuery) {
  const { dailySpendUsd: spent, effectiveDailyCostCapUsd: cap, atDailyCostCap, spendByHour } = orchestrator;
  const present = now();
  const midnight = present - (present % (24 * hour));
  const costs = new Map(spendByHour.map(({ t, usd }) => [t, usd]));
  // The chart shows what was spent up to each full hour from midnight to now; the cap extends to the next midnight.
  const times = [midnight];
  const sums: (number | null)[] = [0];
  let sum = 0;
  for (let t = midnight; t < present; t += hour) {
    sum += costs.get(t) ?? 0;
    times.push(Math.min(t + hour, present));
    sums.push(sum);
  }
  times.push(midnight + 24 * hour);
  sums.push(null);
  const share = cap > 0 ? (spent / cap) * 100 : 100;
  const tone = atDailyCostCap ? 'bad' : share >= 80 ? 'warn' : '';
  const words = `${dollars(spent)} of ${dollars(cap)} spent since midnight UTC`;
  return (
    <>
      <p class="big">
        {dollars(spent)} <span class="muted">of {dollars(cap)}</span>
      </p>
      <Meter value={share} label={words} tone={tone} />
      {atDailyCostCap && <p class="small bad-text">The daily cap is reached: no mission starts until midnight UTC.</p>}
      <Chart
        height={132}
        times={times}
        range={[midnight, midnight + 24 * hour]}
        curves={[
          { label: 'Spent', color: '--accent', values: sums, area: true },
          ...(spent === 0 || spent >= cap / 4
            ? [{ label: 'Cap', color: '--danger' as const, values: times.map(() => cap), dashed: true }]
            : []),
        ]}
        unit={(usd) => (usd === 0 || usd >= 10 ? `$${usd}` : `$${usd.toFixed(2)}`)}
        top={spent}
        words={words}
      />
    </>
  );
}

function Sandboxes() {
  const reading = usePolledReading(busySandboxes, { limit: 8, status: 'running' });
  return (
    <Card title="Sandboxes" aside={reading.data && `${countOf(reading.data.sandboxes)} running`}>
      <ListView
        list={listFrom(reading, (data) => data.sandboxes.data)}
        skeleton={<Skeleton rows={2} height={74} />}
        empty={<p>No sandbox is running. Each mission gets its own.</p>}
      >
        {(rows) => <SandboxRows rows={rows} />}
      </ListView>
    </Card>
  );
}

function Next() {
  const reading = usePolledReading(upcoming, {});
  return (
    <Card title="Next" aside={<a href={pageAt('/schedules')}>All schedules</a>}>
      <RowList
        list={listFrom(reading, (data) => data.upcomingOccurrences.data)}
        skeleton={<Skeleton rows={4} height={46} />}
        empty={<p>Nothing is scheduled.</p>}
      >
        {({ at, name, scheduledTaskId, automationId, project }) => (
          <li key={scheduledTaskId ?? automationId} class="next-row">
            <div class="grow">
              <a
                class="row-link"
                href={pageAt(scheduledTaskId ? `/tasks/${scheduledTaskId}` : `/automations/${automationId}`)}
              >
                {name}
              </a>
              <div class="muted small clip">{project?.name}</div>
            </div>
            <When at={at} />
          </li>
        )}
      </RowList>
    </Card>
  );
}
