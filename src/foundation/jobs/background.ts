// Background jobs: a job is written in the transaction of the change that needs it and executed at least once, by any process. The queues
// are those of pg-boss (tables: migrations/20261121_15_background.sql), over the service's own pool. Jobs are fetched here, because
// pg-boss' own `work` does not wait for its last statement: an unreachable database would end the process.
import PgBoss from 'pg-boss';
import { days, seconds } from '../clock.ts';
import type { Log } from '../log.ts';
import { database, isDatabaseAway, sql, type Transaction } from '../postgres/database.ts';
import { outermost } from '../postgres/enclosing.ts';
import { type Queue, queues } from './queues.ts';
import { withTrace } from './traced-job.ts';
import { type JobHandler, openWorker, type Worker } from './worker.ts';

const pollIntervalMs = seconds(1);
/** Interval at which jobs of a lost process are returned to their queue. */
const maintenanceIntervalMs = seconds(30);
export const jobRetentionMs = { waiting: days(14), failed: days(7) } as const;

/** The handler of each queue. A job whose handler throws runs again later; a vendor's rate limit does not count as an attempt. */
export type Handlers = Readonly<Partial<Record<Queue, JobHandler>>>;

export interface BackgroundSettings {
  log: Log;
  /** Milliseconds between two searches for due jobs (`look`), and between two rounds of maintenance (`tidy`). */
  look?: number;
  tidy?: number;
}

export interface Background {
  /** Resolves when no job is due and none is running in this process. */
  settled(): Promise<void>;
  /** Starts no further job; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

const inSeconds = (milliseconds: number): number => milliseconds / 1_000;

const open = (db: PgBoss.Db): PgBoss =>
  new PgBoss({
    db,
    schema: 'background',
    migrate: false,
    supervise: false,
    schedule: false,
    // Completed jobs are deleted at once; failed ones stay in the job table for a while, so the archive table of pg-boss is not used.
    archiveFailedAfterSeconds: inSeconds(jobRetentionMs.failed),
    deleteAfterMinutes: 1,
  });

const over = (trx?: Transaction): PgBoss.Db => ({
  executeSql: async (text, values) => ({ rows: values ? await sql(text, values, trx) : await script(text) }),
});

/** Sends several statements at once, which only the simple protocol accepts. They begin and end a transaction themselves. */
async function script(text: string): Promise<never[]> {
  const { client } = database();
  const connection = await client.acquireConnection();
  try {
    await connection.query(text);
  } catch (error) {
    await connection.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.releaseConnection(connection);
  }
  return [];
}

const sender = open(over());
/** The workers of this process. */
const workers = new Set<Worker>();

/** Writes a job, which is due when the transaction commits. The payload is stored unencrypted: seal secrets in it. */
export async function enqueue(trx: Transaction, queue: Queue, payload: object): Promise<void> {
  const { retries, delayMs, timeoutMs } = queues[queue];
  const id = await sender.send(queue, withTrace(payload), {
    db: over(trx),
    retryLimit: retries,
    retryDelay: inSeconds(delayMs),
    retryBackoff: true,
    expireInSeconds: inSeconds(timeoutMs),
    retentionSeconds: inSeconds(jobRetentionMs.waiting),
  });
  if (id === null) throw new Error(`there is no queue ${queue} in the database`);
  const look = () => {
    for (const worker of workers) if (worker.queue === queue) worker.look();
  };
  outermost(trx).executionPromise.then(look, () => {});
}

/** Executes the jobs of all processes until stopped. Several processes may do so concurrently. */
export function startBackground(handlers: Handlers, settings: BackgroundSettings): Background {
  const { log, look = pollIntervalMs, tidy = maintenanceIntervalMs } = settings;
  const db = reporting(over(), log);
  const boss = open(db);
  const startedWorkers = (Object.keys(handlers) as Queue[]).map((queue) =>
    openWorker(boss, queue, handlers[queue]!, log),
  );
  let [looking, tidying]: (Promise<void> | null)[] = [null, null];
  const timers = [
    setInterval(() => {
      looking ??= lookForJobs(db, startedWorkers).finally(() => {
        looking = null;
      });
    }, look),
    setInterval(() => {
      tidying ??= tidyUp(boss, log).finally(() => {
        tidying = null;
      });
    }, tidy),
  ];
  for (const worker of startedWorkers) {
    workers.add(worker);
    worker.look();
  }
  const settled = async () => void (await Promise.all(startedWorkers.map((worker) => worker.settled())));
  return {
    settled,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      for (const worker of startedWorkers) {
        workers.delete(worker);
        worker.stop();
      }
      await looking;
      await Promise.all([settled(), tidying]);
    },
  };
}

// One fetch per queue would use a connection for each queue at the same time, and PostgreSQL would spend more time on planning than on execution.
const dueQueuesSql = `select name from background.queue q
  where exists (select from background.job j where j.name = q.name and j.state < 'active' and j.start_after < now())`;

/** Wakes the workers of the queues that have a due job. */
async function lookForJobs(db: PgBoss.Db, from: readonly Worker[]): Promise<void> {
  const due = await db.executeSql(dueQueuesSql, []).catch(() => ({ rows: [] }));
  const names = new Set(due.rows.map(({ name }) => name));
  for (const worker of from) if (names.has(worker.queue)) worker.look();
}

/** Logs failed fetches, which pg-boss swallows: one line per outage. */
function reporting(db: PgBoss.Db, log: Log): PgBoss.Db {
  let failing = false;
  return {
    async executeSql(text, values) {
      try {
        const result = await db.executeSql(text, values);
        failing = false;
        return result;
      } catch (err) {
        if (!failing && !isDatabaseAway()) log.error({ err }, 'cannot fetch background jobs');
        failing = true;
        throw err;
      }
    },
  };
}

/** Returns the jobs of lost processes to their queues, and deletes old ones. */
async function tidyUp(boss: PgBoss, log: Log): Promise<void> {
  try {
    const lost = await sql<{ name: string; id: string }>(
      `select name, id from background.job
        where state = 'active' and started_on + expire_in < now() and retry_count >= retry_limit`,
    );
    for (const { name, id } of lost) {
      log.error({ queue: name, job: id }, 'job failed: its worker was lost at every attempt');
    }
    await boss.maintain();
  } catch (err) {
    if (!isDatabaseAway()) log.error({ err }, 'background maintenance failed');
  }
}
