// Time is a caller too: runs each job of the list again and again until it is stopped.
import type { Log } from '#foundation/log.ts';
import type { Job } from './jobs.ts';

export interface Scheduler {
  /** No job begins any more; resolves when those under way have ended. */
  stop(): Promise<void>;
}

export function startScheduler(jobs: readonly Job[], log: Log): Scheduler {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();

  function later(job: Job): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const run = once(job).finally(() => {
        underWay.delete(run);
        later(job);
      });
      underWay.add(run);
    }, job.every);
    timers.add(timer);
  }

  async function once({ name, run }: Job): Promise<void> {
    try {
      await run();
    } catch (error) {
      // The next run tries again: a job that fails must not take the process with it.
      log.error({ job: name, err: error }, 'job failed');
    }
  }

  for (const job of jobs) later(job);
  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}
