// WORKERS: several processes that serve one port on one machine (node's cluster). The process that starts them runs the embedded
// database, the scheduler, the local runner and the counts of limits, and serves no requests itself.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { seconds } from './clock.ts';
import { shareThrottles } from './http/throttle.ts';
import type { Log } from './log.ts';
import { collectFromWorkers } from './metrics.ts';
import type { DatabaseConnection } from './postgres/embedded/database.ts';

/** Pause before a worker that ended is replaced. */
const restartPauseMs = seconds(1);

export interface RunningService {
  /** Closes the service once its open requests are finished. */
  close(): Promise<void>;
}

export interface WorkersSettings {
  log: Log;
  /** The embedded database that this process runs for the workers; null with a DATABASE_URL. */
  embedded: { connection: DatabaseConnection } | null;
}

/** Resolves when all workers serve. @throws when a worker ends before that; the worker has printed the reason */
export async function startWorkers(count: number, { log, embedded }: WorkersSettings): Promise<RunningService> {
  let closing = false;
  shareThrottles();
  collectFromWorkers();
  cluster.setupPrimary({ args: ['serve'] });
  const environment = {
    SCHEDULER: 'off',
    LOCAL_RUNNER: 'off',
    ...(embedded && { DATABASE_URL: addressOf(embedded.connection) }),
  };
  async function start(): Promise<void> {
    const worker = cluster.fork(environment);
    const exit = once(worker, 'exit');
    const early = exit.then(() => {
      throw new Error('A worker process ended before it could serve requests.');
    });
    await Promise.race([once(worker, 'listening'), early]);
    void exit.then(([code, signal]) => replace({ worker: worker.process.pid, code, signal }));
  }
  function replace(ended: object): void {
    if (closing) return;
    log.warn(ended, 'a worker ended: starting another one');
    setTimeout(() => !closing && start().catch(replace), restartPauseMs);
  }
  await Promise.all(Array.from({ length: count }, start)).catch(async (error) => {
    await end();
    throw error;
  });

  async function end(): Promise<void> {
    closing = true;
    await Promise.all(
      Object.values(cluster.workers ?? {}).map(async (worker: Worker | undefined) => {
        if (!worker || worker.isDead()) return;
        const ended = once(worker, 'exit');
        worker.process.kill('SIGTERM');
        await ended;
      }),
    );
  }
  return { close: end };
}

const addressOf = ({ host, port, user, password, database }: DatabaseConnection): string =>
  `postgresql://${user}:${encodeURIComponent(password)}@${encodeURIComponent(host)}:${port}/${database}`;
