// `npm run soak:cluster [-- --missions=500 --at-once=40 --every=5 --warm=4 --jobs]`: missions in the stand-in cluster of the tests, while
// nodes, the runner with the relay, the API server and processes of the service are killed one after the other. It fails when a mission
// does not end exactly once, when the ledger or the tree of the audit log is wrong, or when a lease, a sandbox or an object of the cluster
// is left over. Figures: bench/README.md.
import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { minutes, seconds } from '#foundation/clock.ts';
import { leftIn, startClusterKills } from '../../test/support/missions-under-kills.ts';
import { at } from '../measure.ts';
import { findings, settle } from '../soak/checks.ts';
import { buildService } from '../the-service.ts';
import { openClusterPlatform } from './platform.ts';

const { values: options } = parseArgs({
  options: {
    missions: { type: 'string', default: '500' },
    'at-once': { type: 'string', default: '40' },
    every: { type: 'string', default: '5' },
    warm: { type: 'string', default: '4' },
    /** Whether the runner creates Jobs instead of SandboxClaims. */
    jobs: { type: 'boolean', default: false },
    build: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const count = Number(options.missions);
/** Time after which missions count as hanging. */
const mostMs = minutes(30);

if (options.build) buildService();
const warm = options.jobs ? 0 : Number(options.warm);
const platform = await openClusterPlatform({ atOnce: Number(options['at-once']), warm, hasSandboxes: !options.jobs });
console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${count} missions\n`);
const begun = performance.now();
const passed = () => ((performance.now() - begun) / 1_000).toFixed(0).padStart(5);

const runIds = new Set<string>();
async function startMissions(): Promise<void> {
  for (let n = 0; n < count; n++) runIds.add(await platform.startMission(n, String(500 + 500 * (n % 5))));
}
const starting = startMissions();
const kills = startClusterKills(
  {
    ...platform,
    killed: (what) => console.log(`${passed()} s: killed ${what}; ${platform.nodes.running().length} pods`),
  },
  seconds(Number(options.every)),
);
const found: string[] = [];
await starting;
for (let last = 0; ; await wait(500)) {
  const { open, ended } = await platform.counts();
  if (open === 0 && ended === count) break;
  if (ended >= last + 50) {
    console.log(`${passed()} s: ${ended} missions have ended`);
    last = ended;
  }
  if (performance.now() - begun < mostMs) continue;
  found.push(`after ${mostMs / minutes(1)} minutes, ${open} missions have not ended`);
  break;
}
const took = (performance.now() - begun) / 1_000;
await kills.stop();
const settled = await settle();
if (typeof settled === 'string') found.push(`five minutes after the missions there were still ${settled}`);
for (let tries = 0; leftIn(platform.cluster) !== '' && tries < 120; tries++) await wait(500);
if (leftIn(platform.cluster)) found.push(`there are still ${leftIn(platform.cluster)} in the cluster`);
found.push(
  ...(await platform.endings(runIds)),
  ...(await findings({ projects: new Set(), runs: runIds, tasks: new Map() })),
);
found.push(...(await platform.tree()), ...platform.leavers);
const starts = await platform.startTimes();
const times = await platform.figures();
await platform.close();

const { counts } = kills;
console.log(`\n${count} missions in ${took.toFixed(0)} s, each with a ${options.jobs ? 'Job' : 'SandboxClaim'}.`);
console.log(
  `Killed: ${counts.nodes} nodes with ${counts.pods} pods, ${counts.runners} runners with the relay, the API server ${counts.apiServers} times, ${counts.services} processes of the service.`,
);
console.log(`Claims of runs: ${times.claims}; runs that were claimed again: ${times.again}.`);
for (const [kind, values] of Object.entries(starts)) {
  values.sort((a, b) => a - b);
  if (values.length > 0)
    console.log(
      `From the claim to the pod of a mission, ${kind}: ${values.length}, p50 ${at(values, 0.5)} ms, p99 ${at(values, 0.99)} ms.`,
    );
}
for (const one of found) console.error(one);
console.log(found.length === 0 ? '\nAll is well.' : `\n${found.length} findings.`);
process.exit(found.length === 0 ? 0 : 1);
