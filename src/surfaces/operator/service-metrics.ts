// Metrics about all organizations for Prometheus, for example about missions, their queue, runtimes and model connectors.
import { Gauge } from 'prom-client';
import { readBackups } from '#domain/lifecycle/backups/state.ts';
import { countChanges } from '#domain/organization/audit-changes/changes.ts';
import { countRuntimes } from '#domain/projects/agents/runtime-harnesses.ts';
import { countModelConnectors } from '#domain/projects/integrations/operations.ts';
import { countWaitingEvents } from '#domain/work/inbound/retry.ts';
import { countModelCalls } from '#domain/work/mission-costs/model-calls.ts';
import { countParkedRuns, countRunsByStatus } from '#domain/work/runs/counts.ts';
import { countPlaces, readQueueByLabels } from '#domain/work/runs/demand.ts';
import { hours, now, seconds } from '#foundation/clock.ts';
import { registers } from '#foundation/metrics.ts';
import { database } from '#foundation/postgres/database.ts';

const windowMs = hours(1);
/** How long figures are reused, so that several gauges, and scrapes in quick succession, share their queries. */
const cachedMs = seconds(5);

const read = async () => {
  const [runs, runtimes, connectors, parked, calls, events, changes, backups, places, queue] = await Promise.all([
    countRunsByStatus(now() - windowMs),
    countRuntimes(),
    countModelConnectors(),
    countParkedRuns(),
    countModelCalls(),
    countWaitingEvents(),
    countChanges(),
    readBackups(),
    countPlaces(),
    readQueueByLabels(),
  ]);
  return { ...runs, runtimes, connectors, parked, calls, events, changes, backups, places, queue };
};
type Figures = Awaited<ReturnType<typeof read>>;

let cached: { of: unknown; until: number; figures: Promise<Figures | null> } | undefined;

/** The figures; null while the database is unavailable, so that the other metrics remain available. */
function readFigures(): Promise<Figures | null> {
  const of = database();
  if (cached?.of === of && now() < cached.until) return cached.figures;
  const figures = read().catch(() => null);
  cached = { of, until: now() + cachedMs, figures };
  return figures;
}

/** Creates a gauge with a single value, or with one value per value of a label. */
function gauge<Label extends string>(
  name: string,
  help: string,
  select: (figures: Figures) => number | Record<string, number> | null,
  labelNames: Label[] = [],
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers,
    // All workers report the same figures, so the first worker's are used.
    aggregator: 'first',
    async collect() {
      this.reset();
      const figures = await readFigures();
      // `reset` has set a gauge without labels to 0. While the figures are unavailable, 0 would be wrong, so the gauge is removed.
      if (!figures) return labelNames.length === 0 ? this.remove() : undefined;
      const value = select(figures);
      if (value === null) return this.remove();
      if (typeof value === 'number') return this.set(value);
      for (const [label, count] of Object.entries(value)) this.set({ [labelNames[0]!]: label } as never, count);
    },
  });
}

gauge(
  'runs_open',
  'Missions that wait for a runtime or a person (dispatching) or are being worked on (running).',
  ({ dispatching, running }) => ({ dispatching, running }),
  ['status'],
);
gauge(
  'runs_ended_last_hour',
  'Missions that ended within the last hour.',
  ({ completed, failed, canceled }) => ({ completed, failed, canceled }),
  ['status'],
);
gauge(
  'runs_waiting_for_person',
  'Open missions whose plan needs an approval, or whose agent has asked a question.',
  (figures) => figures.waitingForPerson,
);
gauge(
  'run_queue_age_seconds',
  'Time that the oldest mission has waited for a runtime; 0 when none waits.',
  ({ waitingSince }) => (waitingSince === null ? 0 : Math.max(0, now() - waitingSince) / seconds(1)),
);
gauge(
  'runtimes_connected',
  'Runtimes that claimed a mission or sent a heartbeat within the last two minutes.',
  ({ runtimes }) => runtimes,
);
gauge(
  'runs_waiting_for_runtime',
  'Missions that wait for a runtime, by the labels that they ask for: the 50 most frequent sets, and all other sets together.',
  ({ queue }) => queue.waiting,
  ['labels'],
);
gauge(
  'runs_waiting_for_runtime_age_seconds',
  'Time that the oldest mission has waited for a runtime, by the labels that it asks for.',
  ({ queue }) => queue.age,
  ['labels'],
);
gauge('runtime_places', 'Places of connected runtimes for missions.', ({ places }) => ({ ...places }), ['state']);
gauge(
  'model_connectors',
  'Model connectors in use, by whether their vendor accepts the credentials.',
  ({ connectors }) => ({ ...connectors }),
  ['credentials'],
);
gauge(
  'runs_parked',
  'Open missions that wait because they have reached a limit: a budget, credits, the daily cap, time, calls or tokens.',
  ({ parked }) => parked,
  ['limit'],
);
gauge('model_calls_open', 'Model calls in progress, whose highest price is reserved.', ({ calls }) => calls.calls);
gauge(
  'model_calls_reserved_usd',
  'Highest price of the model calls in progress, in US dollars.',
  ({ calls }) => calls.amount / 1e6,
);
gauge(
  'inbound_events_waiting',
  'Events of hooks that wait for capacity or credits of their organization, or for a retry.',
  ({ events }) => ({ place: events.forPlace, time: events.forTime }),
  ['for'],
);
gauge(
  'audit_changes_waiting',
  'Changes that have no number in the audit log yet, at most 100,000.',
  ({ changes }) => changes,
);
gauge('backup_age_seconds', 'Time since the start of the newest complete backup at BACKUP_URL.', ({ backups }) =>
  backups?.newestComplete ? (now() - backups.newestComplete.startedAt) / seconds(1) : null,
);
gauge('backup_failing', '1 if the latest backup to BACKUP_URL failed, else 0.', ({ backups }) =>
  backups ? Number(Boolean(backups.latest.find(({ endedAt }) => endedAt !== null)?.error)) : null,
);
