#!/usr/bin/env node
// A runtime on one machine: claims runs for its harnesses, and executes their steps as child processes. Depends only on the platform's
// public GraphQL schema. README.md lists the duties of a runtime, in order. The token is the first line of standard input: scripts of the
// same user can read environment variables. With the argument `install`, installs harnesses instead.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type Claimed, type Limits, type Pace, vendors } from './contract.ts';
import { claimRun } from './generated/operations.ts';
import { describe, discover, type Found, notOffered, type Probe } from './harness/discovery.ts';
import { runInstall, usage } from './harness/install-command.ts';
import { installationFolder, startInstaller } from './harness/installer.ts';
import { type Caps, capsOfContainers, chooseCaps } from './isolation/caps.ts';
import { closeInheritedDescriptors } from './isolation/descriptors.ts';
import { capacityWithin, defaultDiskBytes } from './isolation/disk.ts';
import { openImageStore } from './isolation/image-store.ts';
import {
  chooseIsolation,
  type Isolation,
  isolationOfScripts,
  kindOf,
  obstacleToCells,
  runIn,
} from './isolation/isolation.ts';
import { makeTemporaryFolder } from './isolation/place.ts';
import { executeRun } from './mission.ts';
import { isOnLoopback } from './network/addresses.ts';
import { readRoutes } from './network/dialer.ts';
import { connect, RequestRejected } from './protocol/platform.ts';
import { modelsFrom } from './protocol/upstreams.ts';
import { replayRun } from './replay.ts';
import { openSelfTest } from './self-test.ts';
import { isOn, quit, setting } from './settings.ts';
import type { RunnerCapabilities } from './step-context.ts';
import { openPrepared } from './workspace/prepared.ts';
import { sweep } from './workspace/retention.ts';

// Without the flag, V8 would soon optimize the parser of fetch (WebAssembly), for a tenth of a second of CPU time at every start.
setFlagsFromString('--wasm-tiering-budget=100000000');
closeInheritedDescriptors();
const { PLATFORM_URL = 'http://localhost:4000', EXIT_WITH_PARENT } = process.env;
/** Planned memory of a mission, bytes. */
const memoryOfMission = 1024 ** 3;
const placesByMemory = Math.max(1, Math.floor(process.availableMemory() / memoryOfMission));
// At most four missions per core: more would wait for processors instead of their models.
const runsAtOnce = setting('RUNS_AT_ONCE', Math.min(placesByMemory, 4 * availableParallelism()));
const limits: Limits = {
  cpus: null,
  memoryBytes: setting('MEMORY_MB', Math.ceil(process.availableMemory() / 1024 ** 2)) * 1024 ** 2,
  processes: setting('PROCESSES', 1_024),
  diskBytes: setting('DISK_MB', Math.ceil((await defaultDiskBytes()) / 1024 ** 2)) * 1024 ** 2,
};
const poll = setting('POLL_MS', 1_000);
const pace: Pace = {
  heartbeat: setting('HEARTBEAT_MS', 10_000),
  sample: setting('SAMPLE_MS', 1_000),
  flush: setting('FLUSH_MS', 250),
  grace: setting('GRACE_MS', 5_000),
  timeout: setting('TIMEOUT_MS', 24 * 60 * 60_000),
  checkpoint: setting('CHECKPOINT_MS', 2 * 60_000),
};
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
if (process.argv[2] === 'install') {
  await runInstall(process.argv.slice(3), PLATFORM_URL, stopping.signal).catch((error) => quit(error.message));
  process.exit();
}
/** Clones of customers' repositories are removed at the end. */
const ownMirrors = process.env.MIRRORS_DIR ? null : await makeTemporaryFolder('mirrors-');
if (process.argv[2] === 'replay') {
  const { capabilities, searching } = await findCapabilities();
  await searching;
  const replaying = replayRun(process.argv.slice(3), pace, capabilities, stopping.signal);
  const isSame = await replaying.catch((error) => quit(error.message));
  await ownMirrors?.remove();
  process.exit(isSame ? 0 : 1);
}
if (process.argv[2] !== undefined) {
  const isHelp = ['help', '--help', '-h'].includes(process.argv[2]);
  if (!isHelp) quit(`${process.argv[2]}: is not a command.\n${usage}`);
  console.log(usage);
  process.exit();
}
const input = createInterface({ input: process.stdin });
const token = await new Promise<string>((resolve) => {
  input.once('line', resolve).once('close', () => resolve(''));
});
// A runner started by the platform ends with it, however the platform ended.
if (EXIT_WITH_PARENT) input.once('close', () => stopping.abort());
if (!token.trim()) quit('A service token is required on standard input; the page Runtimes of the console creates one.');
const platform = connect(PLATFORM_URL, token.trim(), stopping.signal);
/** Maximum time in milliseconds for which tests of harnesses delay the first claim, so that scripts run even while a program hangs. */
const searchMs = 20_000;
const machine = await findCapabilities().catch((error) => quit(error.message));
const { capabilities, folder, probe, noAgents, searching } = machine;
const { scripts, isolation, found, caps } = capabilities;

const runtime = `local-runner ${hostname()}:${process.pid}`;
const runningMissions = new Set<Promise<void>>();
let isUnreachable = false;
let claimId = randomUUID();
console.log(
  `${runtime} claims runs from ${PLATFORM_URL}, at most ${runsAtOnce} at once. ${scripts.description} ${caps.scripts.description}`,
);
if (isolation?.containers?.advice) console.log(isolation.containers.advice);
const ownVendors = vendors.filter((vendor) => capabilities.models[vendor]);
const isInstalling = isolation !== null && isOn('HARNESS_INSTALL', isOnLoopback(PLATFORM_URL));
let installer: ReturnType<typeof startInstaller> | null = null;
/** Reason why harnesses of this machine are not offered; null when all are offered. */
let obstacle: string | null = noAgents ?? 'The harnesses of this machine are being tested.';
await Promise.race([searching.then(searchEnded), wait(searchMs, undefined, stopping).catch(() => {})]);
while (!stopping.signal.aborted) {
  const run = hasRoom() ? await claim() : null;
  if (run) {
    console.log(`${run.runId} ${run.missionTitle ?? ''}`);
    const mission = executeRun(platform, run, pace, capabilities, stopping.signal)
      .then(() => console.log(`${run.runId} is done`))
      .catch((error) => console.error(`${run.runId}: ${error.message}`))
      .finally(() => {
        runningMissions.delete(mission);
        capabilities.waiting.delete(run.runId);
      });
    runningMissions.add(mission);
  } else await wait(poll, undefined, { signal: stopping.signal }).catch(() => {});
}
await Promise.all([...runningMissions, (installer as ReturnType<typeof startInstaller> | null)?.ended]);
await ownMirrors?.remove();
process.exit();

/** Whether there is room for another mission. Available memory is not checked if the operator has set RUNS_AT_ONCE. */
function hasRoom(): boolean {
  // No run is claimed while the platform is unreachable: leases are renewed first when it can be reached again.
  if (platform.isAway()) return false;
  const working = runningMissions.size - capabilities.waiting.size;
  if (working === 0) return true;
  const hasMemory = process.env.RUNS_AT_ONCE !== undefined || process.availableMemory() >= memoryOfMission;
  return working < runsAtOnce && hasMemory;
}

/** Reports the harnesses of this machine, and begins to install others. */
function searchEnded({ found: offered, missing }: Awaited<typeof searching>): void {
  if (isolation && isolation !== scripts && offered.length > 0)
    console.log(`${isolation.description} ${caps.agents.description}`);
  for (const line of describe(offered, missing, (vendor) => capabilities.models[vendor] !== null)) console.log(line);
  if (noAgents) console.log(noAgents);
  const refused = missing.filter(({ isRefused }) => isRefused);
  obstacle = noAgents ?? (refused.map(notOffered).join(' ') || null);
  if (!isInstalling) return;
  const { signal } = stopping;
  const around = { env: process.env, folder, probe, signal, log: console.log };
  installer = startInstaller({ ...around, demand: platform.demand, own: ownVendors, found });
}

/** Harnesses that this runner has now; it may install more while it works. */
function offer() {
  const hasAgents = found.length > 0;
  const programs = found.map(({ harness, version }) => ({ harness, version }));
  return {
    runtime,
    harnesses: ['shell', ...found.map(({ harness }) => harness)],
    versions: [{ harness: 'shell', version: process.version }, ...programs],
    isolation: `${hasAgents ? isolation?.level : scripts.level}, ${(hasAgents ? caps.agents : caps.scripts).label}`,
    places: runsAtOnce,
    ...capacityWithin(limits),
    modelVendors: ownVendors,
    notice: (installer?.notice() ?? obstacle)?.slice(0, 300),
  };
}

/** A claim without a response is repeated under the same id: if the first attempt claimed a run, the platform returns that run. */
async function claim(): Promise<Claimed | null> {
  try {
    const run = await platform.mutate(claimRun, { ...offer(), claimId }, true);
    claimId = randomUUID();
    if (isUnreachable) console.log('The platform can be reached again');
    isUnreachable = false;
    return run;
  } catch (error) {
    if (error instanceof RequestRejected) quit(`The platform rejected this runner: ${error.message}`);
    if (!isUnreachable) console.error(`The platform cannot be reached: ${(error as Error).message}`);
    isUnreachable = true;
    return null;
  }
}

/** Capabilities of this machine for scripts and agents; the log lists the missing ones. */
async function findCapabilities(): Promise<{
  capabilities: RunnerCapabilities;
  folder: string;
  probe: Probe;
  /** Reason why agents are refused; null means they are not. */
  noAgents: string | null;
  searching: ReturnType<typeof discover>;
}> {
  const { CONFINEMENT, ISOLATION, WORKSPACES_DIR, MIRRORS_DIR = '', DATA_DIR, NODE_EXTRA_CA_CERTS } = process.env;
  const models = modelsFrom(process.env);
  const isolation = await chooseIsolation(ISOLATION || undefined, PLATFORM_URL);
  const scripts = await isolationOfScripts(CONFINEMENT || undefined, isolation);
  const capsOf = ({ level, containers }: Isolation, find?: () => Promise<Caps['cgroups']>) =>
    containers ? capsOfContainers(containers.program) : chooseCaps(kindOf(level), find);
  const scriptCaps = await capsOf(scripts);
  const agentCaps =
    !isolation || isolation.level === scripts.level
      ? scriptCaps
      : await capsOf(isolation, scripts.containers ? undefined : async () => scriptCaps.cgroups);
  const folder = await installationFolder(process.env, isolation?.level === 'cell');
  const dataFolder = path.resolve(DATA_DIR || '.data');
  const selfTest = isolation && isOn('HARNESS_TEST', true) ? openSelfTest(isolation, limits, dataFolder) : undefined;
  const probe: Probe = { run: runIn(isolation), selfTest };
  const found: Found[] = [];
  const searching = discover(process.env, probe, folder, (one) => isolation && found.push(one));
  const noAgents = isolation
    ? null
    : `Agents are refused: ${await obstacleToCells()}. ISOLATION=none runs them without a cell.`;
  const retention = WORKSPACES_DIR
    ? { folder: path.resolve(WORKSPACES_DIR), keepMs: setting('KEEP_WORKSPACES_MS', 24 * 60 * 60_000) }
    : null;
  if (retention) await sweep(retention);
  const kept = {
    keepMs: setting('KEEP_ENVIRONMENTS_MS', 7 * 24 * 60 * 60_000),
    maxBytes: setting('ENVIRONMENTS_MB', 20_480) * 1024 ** 2,
  };
  const prepared = openPrepared({ ...kept, folder: path.join(dataFolder, 'environments') });
  const images = openImageStore({ ...kept, folder: path.join(dataFolder, 'images') });
  await prepared.sweep();
  const engine = (isolation ?? scripts).containers?.program;
  if (engine) void images.sweep(engine).catch(() => {});
  const capabilities = {
    scripts,
    caps: { scripts: scriptCaps, agents: agentCaps },
    limits,
    isolation,
    found,
    models,
    mirrors: ownMirrors?.folder ?? MIRRORS_DIR,
    retention,
    waiting: new Set<string>(),
    routes: readRoutes(process.env),
    trust: NODE_EXTRA_CA_CERTS && path.isAbsolute(NODE_EXTRA_CA_CERTS) ? NODE_EXTRA_CA_CERTS : null,
    prepared,
    images,
    hasNotes: isOn('ATTESTATION_NOTES', true),
    setupTimeoutMs: setting('SETUP_TIMEOUT_MS', 20 * 60_000),
    buildNetwork: process.env.CONTAINER_BUILD_NETWORK || 'none',
  };
  return { capabilities, folder, probe, noAgents, searching };
}
