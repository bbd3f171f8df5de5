// A runtime on one machine: takes dispatched runs whose agent has the shell harness, and executes them as child processes.
// It knows nothing of the platform but its public GraphQL schema. README.md tells what a runtime must do, in order.
//   PLATFORM_TOKEN=srv_… node --import tsx examples/local-runner/runner.ts
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { type Claimed, carryOut, claimed, type Pace } from './mission.ts';
import { connect, Refusal } from './platform.ts';

const { PLATFORM_URL = 'http://localhost:4000', PLATFORM_TOKEN, RUNS_AT_ONCE = '2', EXIT_WITH_PARENT } = process.env;
const milliseconds = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const poll = milliseconds('POLL_MS', 1_000);
const pace: Pace = {
  heartbeat: milliseconds('HEARTBEAT_MS', 10_000),
  sample: milliseconds('SAMPLE_MS', 1_000),
  flush: milliseconds('FLUSH_MS', 250),
  grace: milliseconds('GRACE_MS', 5_000),
  timeout: milliseconds('TIMEOUT_MS', 30 * 60_000),
};
if (!PLATFORM_TOKEN)
  quit('PLATFORM_TOKEN: a service token is required; `npm run admin -- service-token:create` makes one.');

const platform = connect(PLATFORM_URL, PLATFORM_TOKEN);
const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort());
// Who was started by the platform itself ends with it, however that ended.
if (EXIT_WITH_PARENT) process.stdin.on('end', () => leaving.abort()).resume();

const runtime = `local-runner ${hostname()}:${process.pid}`;
const underWay = new Set<Promise<void>>();
console.log(`${runtime} takes runs from ${PLATFORM_URL}`);
while (!leaving.signal.aborted) {
  const run = underWay.size < Number(RUNS_AT_ONCE) ? await claim() : null;
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

async function claim(): Promise<Claimed | null> {
  try {
    return await platform.say<Claimed | null>('claimRun', { runtime, harnesses: ['shell'] }, claimed);
  } catch (error) {
    if (error instanceof Refusal) quit(`The platform refuses this runner: ${error.message}`);
    console.error(`The platform is away: ${(error as Error).message}`);
    return null;
  }
}

function quit(why: string): never {
  console.error(why);
  process.exit(1);
}
