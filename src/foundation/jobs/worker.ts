// A worker executes the jobs of one queue in this process, several at a time.
import type PgBoss from 'pg-boss';
import type { Log } from '../log.ts';
import { sql } from '../postgres/database.ts';
import { isMovingError } from '../postgres/database-errors.ts';
import { organizationMoving, Problem } from '../problem.ts';
import { untraced } from '../tracing/tracing.ts';
import type { Queue } from './queues.ts';
import { runJob } from './traced-job.ts';

/** Number of jobs of one queue that a process executes concurrently. */
export const concurrency = 5;

export type JobHandler = (payload: never) => Promise<void>;

export interface Worker {
  queue: Queue;
  /** Starts due jobs, as far as the concurrency allows. */
  look(): void;
  settled(): Promise<void>;
  stop(): void;
}

export function openWorker(boss: PgBoss, queue: Queue, handle: JobHandler, log: Log): Worker {
  const runningJobs = new Set<Promise<void>>();
  let [stopped, looking, again] = [false, false, false];
  let latest = Promise.resolve();

  function look(): void {
    again = true;
    if (looking) return;
    looking = true;
    latest = untraced(take);
  }

  async function take(): Promise<void> {
    while (again && !stopped && runningJobs.size < concurrency) {
      again = false;
      const room = concurrency - runningJobs.size;
      const jobs = await boss.fetch<object>(queue, { batchSize: room, includeMetadata: true });
      // The jobs are sorted here, because `update … returning` returns rows in no particular order.
      for (const job of jobs.sort((a, b) => a.createdOn.getTime() - b.createdOn.getTime())) {
        const work = once(job).finally(() => {
          runningJobs.delete(work);
          look();
        });
        runningJobs.add(work);
      }
    }
    looking = false;
  }

  async function once({ id, data, retryCount, retryLimit }: PgBoss.JobWithMetadata<object>): Promise<void> {
    const about = { queue, job: id, try: retryCount + 1 };
    try {
      try {
        await runJob(about, data, handle);
      } catch (err) {
        if (await postpone(err, queue, id))
          return log.info({ ...about, err }, 'job waits for the end of a rate limit, or of a move of its organization');
        if (retryCount < retryLimit) log.warn({ ...about, err }, 'job failed and will be retried');
        else log.error({ ...about, err }, 'job failed and is not retried');
        await boss.fail(queue, id);
        return;
      }
      await boss.deleteJob(queue, id);
    } catch (err) {
      log.error({ ...about, err }, 'could not record the outcome of a job: it will run again');
    }
  }

  return {
    queue,
    look,
    async settled() {
      while (looking || runningJobs.size > 0) await Promise.all([latest, ...runningJobs]);
    },
    stop() {
      stopped = true;
    },
  };
}

// Sets the state back to `retry` without counting the attempt, as if pg-boss had not started the job.
const waitSql = `update background.job set state = 'retry', started_on = null, start_after = now() + make_interval(secs => $3)
  where name = $1 and id = $2 and state = 'active'`;

/** Delays a job whose organization is moving, or that has reached a vendor's rate limit. Returns false for any other error. */
async function postpone(error: unknown, queue: Queue, id: string): Promise<boolean> {
  const problem = isMovingError(error) ? organizationMoving() : error;
  if (!(problem instanceof Problem) || !/^(upstream_busy|organization_moving)$/.test(problem.body.code ?? ''))
    return false;
  await sql(waitSql, [queue, id, problem.details.retryAfterSeconds ?? 0]);
  return true;
}
