// Runs each periodic job repeatedly until it is stopped.
import type { Log } from '#foundation/log.ts';
import type { Job } from './jobs.ts';

export interface Scheduler {
  /** Starts no further job; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

export function startScheduler(jobs: readonly Job[], log: Log): Scheduler {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();

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

  async function attempt({ name, run }: Job): Promise<void> {
    try {
      await run();
    } catch (error) {
      // The next run tries again: a failing job must not end the process.
      log.error({ job: name, err: error }, 'job failed');
    }
  }

  for (const job of jobs) schedule(job);
  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
