// Runs each periodic job repeatedly until stopped.
import { minutes, now, seconds } from '#foundation/clock.ts';
import type { Log } from '#foundation/log.ts';
import { isDatabaseAway } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { traced } from '#foundation/tracing/tracing.ts';
import type { Job } from './jobs.ts';

export interface Scheduler {
  /** Starts no further job; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** Maximum time that a job waits for more urgent work, and the time between two checks for that work, in milliseconds. */
const yielding = { maxMs: seconds(3), lookMs: 200 };

export function startScheduler(jobs: readonly Job[], log: Log): Scheduler {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  /** Time of the last logged failure of each job: a long database outage must not fill the log. */
  const loggedAt = new Map<string, number>();

  function schedule(job: Job): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const run = attempt(job).finally(() => {
        running.delete(run);
        schedule(job);
      });
      running.add(run);
    }, job.intervalMs);
    timers.add(timer);
  }

  async function attempt({ name, run, yieldsWhile }: Job): Promise<void> {
    const { lookMs, maxMs } = yielding;
    try {
      for (let waited = 0; waited < maxMs && (await yieldsWhile?.()); waited += lookMs) {
        await new Promise((resolve) => setTimeout(resolve, lookMs));
        if (stopped) return;
      }
      await traced(
        () => ({ name, parent: {}, attributes: { 'aep.job': name } }),
        () => asService('system', 'scheduler', name, run),
      );
      if (loggedAt.delete(name)) log.info({ job: name }, 'job works again');
    } catch (error) {
      // The next run retries: a failing job must not end the process.
      if (isDatabaseAway() || now() < (loggedAt.get(name) ?? 0) + minutes(1)) return;
      loggedAt.set(name, now());
      log.error({ job: name, err: error }, 'job failed; it is retried, and logged once a minute at most');
    }
  }

  for (const job of jobs) schedule(job);
  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
      await Promise.all(jobs.map((job) => job.stop?.()));
    },
  };
}
