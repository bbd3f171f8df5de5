// A runtime on one machine: takes dispatched runs whose agent has the shell harness, and executes them as child processes.
// It knows nothing of the platform but its public GraphQL schema. README.md tells what a runtime must do, in order.
//   PLATFORM_TOKEN=srv_… node --import tsx src/runner/runner.ts
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { type Claimed, carryOut, claimed, type Pace } from './mission.ts';
import { connect, Refusal } from './platform.ts';

const { PLATFORM_URL = 'http://localhost:4000', PLATFORM_TOKEN, EXIT_WITH_PARENT } = process.env;
const runsAtOnce = setting('RUNS_AT_ONCE', 2);
const poll = setting('POLL_MS', 1_000);
const pace: Pace = {
  heartbeat: setting('HEARTBEAT_MS', 10_000),
  sample: setting('SAMPLE_MS', 1_000),
  flush: setting('FLUSH_MS', 250),
  grace: setting('GRACE_MS', 5_000),
  timeout: setting('TIMEOUT_MS', 30 * 60_000),
};
if (!PLATFORM_TOKEN)
  quit('PLATFORM_TOKEN: a service token is required; `npm run admin -- service-token:create` makes one.');

const leaving = new AbortController();
const platform = connect(PLATFORM_URL, PLATFORM_TOKEN, leaving.signal);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort());
// Who was started by the platform itself ends with it, however that ended.
if (EXIT_WITH_PARENT) process.stdin.on('end', () => leaving.abort()).resume();

const runtime = `local-runner ${hostname()}:${process.pid}`;
const underWay = new Set<Promise<void>>();
let away = false;
let claimId = randomUUID();
console.log(`${runtime} takes runs from ${PLATFORM_URL}`);
while (!leaving.signal.aborted) {
  const run = underWay.size < runsAtOnce ? await claim() : null;
  if (run) {
    console.log(`${run.runId} ${run.missionTitle ?? ''}`);
    const mission = carryOut(platform, run, pace, leaving.signal)
      .then(() => console.log(`${run.runId} is done`))
      .catch((error) => console.error(`${run.runId}: ${error.message}`))
      .finally(() => underWay.delete(mission));
    underWay.add(mission);
  } else await wait(poll, undefined, { signal: leaving.signal }).catch(() => {});
}
await Promise.all(underWay);
process.exit();

/** A claim that got no answer is made again under its name: if it took a run, that is the answer. */
async function claim(): Promise<Claimed | null> {
  try {
    const run = await platform.say<Claimed | null>(
      'claimRun',
      { runtime, harnesses: ['shell'], claimId },
      claimed,
      true,
    );
    claimId = randomUUID();
    if (away) console.log('The platform is back');
    away = false;
    return run;
  } catch (error) {
    if (error instanceof Refusal) quit(`The platform refuses this runner: ${error.message}`);
    if (!away) console.error(`The platform is away: ${(error as Error).message}`);
    away = true;
    return null;
  }
}

function setting(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual);
  // A timer can't be set for longer.
  return Number.isInteger(value) && value > 0 && value < 2 ** 31 ? value : quit(`${name}: must be a positive integer.`);
}

function quit(why: string): never {
  console.error(why);
  process.exit(1);
}
