// `npm run soak [-- --minutes=30] [--services=3] [--every=20] [--missions=20] [--pauses=1]`: mixed load, while processes, connections,
// runners, the bucket and the primary are killed.
// It fails on an unexpected response, when something acknowledged is lost or duplicated, when something still hangs at the end, when the ledger does not balance, or when memory grows. Figures: bench/README.md.
import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { minutes, seconds } from '#foundation/clock.ts';
import { at } from '../measure.ts';
import { buildService } from '../the-service.ts';
import { countContents, findings, settle } from './checks.ts';
import { startKills } from './kills.ts';
import { startLoad } from './load.ts';
import { openPlatform } from './platform.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    services: { type: 'string', default: '3' },
    every: { type: 'string', default: '20' },
    missions: { type: 'string', default: '20' },
    pauses: { type: 'string', default: '1' },
  },
});
const duration = minutes(Number(options.minutes));
/** Permitted memory of a process at the end, as a multiple of its memory after the warm-up. */
const growth = 1.25;

buildService();
const platform = await openPlatform(Number(options.services));
console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${options.minutes} minutes\n`);
const memory: number[] = [];
const sampling = setInterval(() => {
  platform.survivor.rss().then(
    (bytes) => memory.push(bytes / 1e6),
    () => {},
  );
}, seconds(5));
const load = startLoad(platform, { missions: Number(options.missions), pauses: Number(options.pauses) });
const kills = startKills(platform, seconds(Number(options.every)), duration / 2);
await wait(duration);
await kills.stop();
await load.stop();
const settled = await settle();
const { contents, archives } = await countContents();
const found = [
  ...load.unexpected,
  ...platform.leavers,
  ...(await findings(load.acknowledged, platform.storedKeys())),
  ...(await platform.tree()),
];
await platform.close();
// Until here, only the timer keeps this process alive: the database servers do not.
clearInterval(sampling);
if (typeof settled === 'string') found.push(`five minutes after the load there were still ${settled}`);
const median = (values: number[]) =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );
const fifth = Math.ceil(memory.length / 5);
const [early, late] = [median(memory.slice(fifth, 2 * fifth)), median(memory.slice(-fifth))];
if (late > early * growth) found.push(`memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);

console.log(
  '\n| call | answered | 503, or still running | no answer | p50 ms | p99 ms |\n| --- | --- | --- | --- | --- | --- |',
);
for (const [name, { answered, refused, unanswered, times }] of load.tallies) {
  times.sort((a, b) => a - b);
  const [p50, p99] = [at(times, 0.5), at(times, 0.99)].map((ms) => ms.toFixed(0));
  console.log(`| ${name} | ${answered} | ${refused} | ${unanswered} | ${p50} | ${p99} |`);
}
const { projects, runs, tasks } = load.acknowledged;
console.log(
  `\nKilled: ${Object.entries(kills.counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')}.`,
);
console.log(
  `Acknowledged: ${projects.size} projects, ${runs.size} missions, ${tasks.size} scheduled tasks. In the bucket: ${contents} contents, ${archives} of them archives of logs.`,
);
if (typeof settled === 'number') console.log(`Everything had ended ${(settled / 1_000).toFixed(0)} s after the load.`);
console.log(`Memory of the process that was not killed: ${early.toFixed(0)} MB, ${late.toFixed(0)} MB at the end.`);
for (const one of found) console.error(one);
console.log(found.length === 0 ? '\nAll is well.' : `\n${found.length} findings.`);
process.exit(found.length === 0 ? 0 : 1);
