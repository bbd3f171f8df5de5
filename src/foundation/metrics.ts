// Metrics for Prometheus: requests, the process, the database pool. Labels come from bounded sets, such as a route's template, never a
// path: otherwise a scanner would fill the memory with series.
import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { capacities } from './http/capacity.ts';
import type { Exchange } from './http/http.ts';
import { countJobs, type QueueFigures } from './jobs/figures.ts';
import { statusOf } from './log.ts';
import { database } from './postgres/database.ts';
import { replicaState } from './postgres/replica.ts';
import { tooBusy } from './problem.ts';

// A registry of its own instead of prom-client's global one: tests load several copies of this module, and names must be unique.
const registry = new Registry();
/** Registries of the metrics, including those of other modules. */
export const registers = [registry];
const labelNames = ['surface', 'method', 'route', 'status'] as const;

collectDefaultMetrics({ register: registry });

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the head of a request to the end of its response.',
  labelNames,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers,
});

// Requests are counted by the histogram, whose count is exported as the counter.
new Counter({
  name: 'http_requests_total',
  help: 'Requests that have ended.',
  labelNames,
  registers,
  async collect() {
    this.reset();
    const { values } = await duration.get();
    for (const { metricName, labels, value } of values) if (metricName?.endsWith('_count')) this.inc(labels, value);
  },
});

new Gauge({
  name: 'database_pool_connections',
  help: 'Connections of the pool that are used or free, and the statements that wait for one.',
  labelNames: ['state'],
  registers,
  collect() {
    const { pool } = database().client;
    this.set({ state: 'used' }, pool.numUsed());
    this.set({ state: 'free' }, pool.numFree());
    this.set({ state: 'waiting' }, pool.numPendingAcquires());
  },
});

new Gauge({
  name: 'database_replica_connections',
  help: 'Connections to the replica that are used or free, and the statements that wait for one; none without a replica.',
  labelNames: ['state'],
  registers,
  collect() {
    this.reset();
    const pool = replicaState()?.pool;
    if (!pool) return;
    this.set({ state: 'used' }, pool.numUsed());
    this.set({ state: 'free' }, pool.numFree());
    this.set({ state: 'waiting' }, pool.numPendingAcquires());
  },
});

new Gauge({
  name: 'database_replica_in_use',
  help: 'Whether reads go to the replica at present (1) or not (0); with several workers, how many of them read there.',
  registers,
  collect() {
    this.set(Number(replicaState()?.isInUse ?? false));
  },
});

new Counter({
  name: 'database_reads_total',
  help: 'Operations that only read, by the server that answered them. Counted only with a replica.',
  labelNames: ['server'],
  registers,
  collect() {
    this.reset();
    const { reads } = replicaState() ?? {};
    if (!reads) return;
    this.inc({ server: 'replica' }, reads.replica);
    this.inc({ server: 'primary' }, reads.primary);
  },
});

export const slowStatements = new Counter({
  name: 'database_slow_statements_total',
  help: 'Statements that took at least SLOW_STATEMENT_MS; each is in the log.',
  registers,
});

export const traceSpans = new Counter({
  name: 'trace_spans_total',
  help: 'Spans that have ended, that the collector has accepted (sent), and that it has not (lost).',
  labelNames: ['outcome'],
  registers,
});

/** Number of open subscriptions. */
export const openSubscriptions = new Gauge({
  name: 'graphql_subscriptions_open',
  help: 'Subscriptions whose events are being sent.',
  registers,
});

export const planFailures = new Counter({
  name: 'graphql_plan_failures_total',
  help: 'Plans of queries that failed, after which yoga executed the query; unexpected ones are logged.',
  labelNames: ['expected'],
  registers,
});

export const modelCalls = new Counter({
  name: 'model_calls_total',
  help: 'Model calls of agents by vendor and class of the HTTP status (none: no answer came), as runtimes report them.',
  labelNames: ['vendor', 'status'],
  registers,
});

export const missionCost = new Counter({
  name: 'mission_cost_usd_total',
  help: 'Costs of missions that were recorded, in US dollars.',
  registers,
});

let counting: Promise<QueueFigures[]> | undefined;
/** Figures of the queues, which two metrics share; empty while the database is unavailable, so that all other metrics remain available. */
function countQueues(): Promise<QueueFigures[]> {
  counting ??= countJobs()
    .catch(() => [])
    .finally(() => {
      counting = undefined;
    });
  return counting;
}

new Gauge({
  name: 'background_jobs',
  help: 'Background jobs that are pending, and that have failed permanently.',
  labelNames: ['queue', 'state'],
  registers,
  // All workers count the same jobs, so the first count is used.
  aggregator: 'first',
  async collect() {
    this.reset();
    for (const { queue, waiting, failed } of await countQueues()) {
      this.set({ queue, state: 'waiting' }, waiting);
      this.set({ queue, state: 'failed' }, failed);
    }
  },
});

new Gauge({
  name: 'background_job_age_seconds',
  help: 'Time that the oldest due job of a queue has waited; 0 when none is due.',
  labelNames: ['queue'],
  registers,
  aggregator: 'first',
  async collect() {
    this.reset();
    for (const { queue, oldestDueSeconds } of await countQueues()) this.set({ queue }, oldestDueSeconds ?? 0);
  },
});

new Gauge({
  name: 'capacity',
  help: 'Capacity of a process that callers share: used, its limit, and callers that wait. GraphQL executions are in points of cost.',
  labelNames: ['name', 'state'],
  registers,
  collect() {
    for (const [name, figures] of capacities)
      for (const [state, value] of Object.entries(figures())) this.set({ name, state }, value);
  },
});

/** Counts a request that has ended. `exchange.route` must be a template. */
export function observeRequest(surface: string, exchange: Exchange, milliseconds: number): void {
  const { req, route = 'none' } = exchange;
  duration.observe({ surface, method: req.method!, route, status: statusOf(exchange) }, milliseconds / 1_000);
}

/**
 * When a worker of this process requests metrics, collects the metrics of all workers and sends them to the worker that requested them. Sends
 * null instead if one of the workers does not respond.
 */
export function collectFromWorkers(): void {
  const ofWorkers = new AggregatorRegistry();
  cluster.on('message', (worker, message: unknown) => {
    if (message !== question) return;
    const answer = (metrics: string | null) => void (worker.isConnected() && worker.send({ metrics }));
    ofWorkers.clusterMetrics().then(answer, () => answer(null));
  });
}

const question = 'metrics of all workers';

if (cluster.isWorker) {
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}

/** The metrics of all workers. @throws 503 when one does not respond within five seconds */
const textOfAll = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const receive = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('metrics' in message)) return;
      process.off('message', receive);
      if (message.metrics === null) reject(tooBusy('A worker process does not respond.', 5));
      else resolve(message.metrics as string);
    };
    process.on('message', receive).send!(question);
  });

/** The metrics in Prometheus' text format (exposition format 0.0.4). */
export const metricsText = (): Promise<string> => (cluster.isWorker ? textOfAll() : registry.metrics());
export const metricsType = registry.contentType;
