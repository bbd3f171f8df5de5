// Failures during the soak: of a process of the service, of database connections, of a runner, of the bucket, and once of the primary.
import { setTimeout as wait } from 'node:timers/promises';
import { seconds } from '#foundation/clock.ts';
import type { Platform } from './platform.ts';

const terminating = `select count(pg_terminate_backend(pid))::int as count from (select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit 5) chosen`;

export interface Kills {
  counts: Record<string, number>;
  stop(): Promise<void>;
}

/** Causes the next kind of failure every `every` milliseconds. The primary fails `primaryAt` milliseconds after the start. */
export function startKills(platform: Platform, every: number, primaryAt: number): Kills {
  const counts: Record<string, number> = { services: 0, connections: 0, runners: 0, buckets: 0, primaries: 0 };
  const stopping = new AbortController();
  const begun = Date.now();
  const say = (what: string) => console.log(`${((Date.now() - begun) / 1_000).toFixed(0).padStart(5)} s: ${what}`);
  const { primary, standby } = platform.servers;

  const ways = [
    async () => {
      const n = 1 + (counts.services! % (platform.services.length - 1));
      counts.services!++;
      await platform.killService(n);
      say(`process ${n} of the service was killed and is back`);
    },
    async () => {
      const server = counts.primaries ? standby : primary;
      const [row] = await server.query(terminating);
      counts.connections! += row!.count as number;
      say(`${row!.count} connections to the database were ended`);
    },
    async () => {
      const n = counts.runners!++ % platform.runnerCount;
      await platform.killRunner(n);
      say(`runner ${n} was killed, and another one started`);
    },
    async () => {
      counts.buckets!++;
      await platform.bucket.stop();
      await wait(seconds(5));
      await platform.bucket.start();
      say('the bucket was away for five seconds');
    },
  ];

  async function kill(): Promise<void> {
    for (let n = 0; ; n++) {
      await wait(every, undefined, { signal: stopping.signal });
      if (!counts.primaries && Date.now() - begun >= primaryAt) {
        await primary.kill();
        await wait(seconds(1));
        await standby.promote();
        counts.primaries = 1;
        say('the primary was killed, and the standby promoted a second later');
      } else await ways[n % ways.length]!();
    }
  }
  const work = kill().catch((error) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    counts,
    async stop() {
      stopping.abort();
      await work;
    },
  };
}
