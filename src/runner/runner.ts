#!/usr/bin/env node
// A runtime on one machine: claims runs for its harnesses, and executes their steps as child processes. Depends only on the platform's
// public GraphQL schema. docs/own-runtime.md lists the duties of a runtime, in order. The token is the first line of standard input: scripts
// of the same user can read environment variables. With the argument `install`, installs harnesses instead.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { findCapabilities } from './capabilities.ts';
import { type Claimed, type Limits, type Pace, vendors } from './contract.ts';
import { openDrain } from './drain.ts';
import { type ClaimRunRequest, claimRun } from './generated/operations.ts';
import { describe, notOffered } from './harness/discovery.ts';
import { runInstall, usage } from './harness/install-command.ts';
import { startInstaller } from './harness/installer.ts';
import { closeInheritedDescriptors } from './isolation/descriptors.ts';
import { capacityWithin, defaultDiskBytes } from './isolation/disk.ts';
import { makeTemporaryFolder } from './isolation/place.ts';
import { clusterDefaults, clusterSettings } from './kubernetes/settings.ts';
import { startCluster } from './kubernetes/start.ts';
import { executeRun } from './mission.ts';
import { isOnLoopback } from './network/addresses.ts';
import { loadFetchParser } from './network/fetch-parser.ts';
import { pauseBeforeClaim } from './pause.ts';
import { runInPod } from './pod-mission.ts';
import { connect, RequestRejected } from './protocol/platform.ts';
import { replayRun } from './replay.ts';
import { isOn, labelsOf, quit, setting } from './settings.ts';
import { openUpdater, ownVersion, updateSource } from './update.ts';

// Without the flag, V8 would optimize the WebAssembly parser of fetch at every start, which costs a tenth of a second of CPU time. V8_FLAGS=off
// omits the flag, because V8 may change or remove any of its flags.
if (isOn('V8_FLAGS', true)) setFlagsFromString('--wasm-tiering-budget=100000000');
closeInheritedDescriptors();
const { PLATFORM_URL = 'http://localhost:4000', EXIT_WITH_PARENT } = process.env;
/** Planned memory of a mission, bytes. */
const memoryOfMission = 1024 ** 3;
const placesByMemory = Math.max(1, Math.floor(process.availableMemory() / memoryOfMission));
const clustered = clusterSettings(process.env);
// At most four missions per core: more would wait for processors instead of their models.
const most = Math.min(placesByMemory, 4 * availableParallelism());
const runsAtOnce = setting('RUNS_AT_ONCE', clustered ? clusterDefaults.runsAtOnce : most);
const freeMb = Math.ceil(process.availableMemory() / 1024 ** 2);
const freeDiskMb = Math.ceil((await defaultDiskBytes()) / 1024 ** 2);
const limits: Limits = {
  cpus: clustered?.cpus ?? null,
  memoryBytes: setting('MEMORY_MB', clustered ? clusterDefaults.memoryMb : freeMb) * 1024 ** 2,
  processes: setting('PROCESSES', 1_024),
  diskBytes: setting('DISK_MB', clustered ? clusterDefaults.diskMb : freeDiskMb) * 1024 ** 2,
};
const labels = labelsOf(process.env.RUNNER_LABELS);
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
await loadFetchParser();
if (process.argv[2] === 'install') {
  await runInstall(process.argv.slice(3), PLATFORM_URL, stopping.signal).catch((error) => quit(error.message));
  process.exit();
}
if (process.argv[2] === 'mission' || process.argv[2] === 'preflight') {
  await runInPod(process.argv[2], limits, pace, stopping.signal).catch((error) => quit(error.message));
  process.exit();
}
/** Clones of customers' repositories are removed when the runner ends. */
const ownMirrors = process.env.MIRRORS_DIR ? null : await makeTemporaryFolder('mirrors-');
const mirrors = ownMirrors?.folder ?? process.env.MIRRORS_DIR ?? '';
if (process.argv[2] === 'replay') {
  const { capabilities, searching } = await findCapabilities(PLATFORM_URL, limits, mirrors, false);
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
// A runner that the platform has started ends with the platform, even if the platform is killed.
if (EXIT_WITH_PARENT) input.once('close', () => stopping.abort());
if (!token.trim()) quit('A service token is required on standard input; the page Runtimes of the console creates one.');
const platform = connect(PLATFORM_URL, token.trim(), stopping.signal);
/**
 * Milliseconds after which the runner makes its first claim even if it still tests harnesses. Without this limit, a program that hangs in
 * its test would keep the runner from executing scripts.
 */
const searchMs = 20_000;
const machine = await findCapabilities(PLATFORM_URL, limits, mirrors, clustered !== null).catch((error) =>
  quit(error.message),
);
const { capabilities, folder, probe, noAgents, searching } = machine;
const { scripts, isolation, found, caps } = capabilities;

const runtime = `local-runner ${hostname()}:${process.pid}`;
const runningMissions = new Set<Promise<void>>();
const cluster =
  clustered &&
  (await startCluster(clustered, {
    ...{ platform, capabilities, limits, pace, stopping: stopping.signal },
    serviceToken: token.trim(),
  }).catch((error) => quit(`The cluster: ${error.message}.`)));
for (const { runId, done } of (await cluster?.adopt()) ?? []) watch(runId, done);
await cluster?.test().catch((error) => quit(`The cluster: ${error.message}.`));
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
const releases = updateSource(process.env.RUNNER_UPDATE);
if (releases && cluster) quit('RUNNER_UPDATE: must be off with RUNTIME=kubernetes, where the image is the release.');
const updater = releases
  ? openUpdater({
      ...{ releases, own: await ownVersion(), env: process.env, signal: stopping.signal, log: console.log },
      folder: path.join(path.dirname(folder), 'releases'),
    })
  : null;
const drain = openDrain(platform, runtime, pace.heartbeat, console.log);
while (!stopping.signal.aborted) {
  const { isDraining, release } = await drain.ask(performance.now());
  updater?.consider(release);
  const isEnding = isDraining || updater?.isReady();
  if (isEnding && runningMissions.size === 0) {
    await drain.leave();
    if (isDraining) {
      console.log('The runner has no missions left, and shuts down.');
      break;
    }
    const code = await updater!.handOver(token.trim());
    if (code !== null) {
      await ownMirrors?.remove();
      process.exit(code);
    }
  }
  const run = !isEnding && hasRoom() ? await claim() : null;
  if (run) {
    console.log(`${run.runId} ${run.missionTitle ?? ''}`);
    watch(
      run.runId,
      cluster ? cluster.start(run, run.claim) : executeRun(platform, run, pace, capabilities, stopping.signal),
    );
  }
  const pause = pauseBeforeClaim(poll, runningMissions.size, runsAtOnce, run !== null);
  await wait(pause, undefined, { signal: stopping.signal }).catch(() => {});
}
stopping.abort();
await Promise.all([...runningMissions, (installer as ReturnType<typeof startInstaller> | null)?.ended]);
await cluster?.drain();
await ownMirrors?.remove();
process.exit();

/** Counts a mission until it has ended. */
function watch(runId: string, working: Promise<void>): void {
  const mission = working
    .then(() => console.log(`${runId} has left this runner`))
    .catch((error) => console.error(`${runId}: ${error.message}`))
    .finally(() => {
      runningMissions.delete(mission);
      capabilities.waiting.delete(runId);
    });
  runningMissions.add(mission);
}

/** Whether there is room for another mission. Available memory is not checked if the operator has set RUNS_AT_ONCE. */
function hasRoom(): boolean {
  // No run is claimed while a call to the platform is being retried. The retried calls include the heartbeats that renew the leases of
  // running missions, so the leases are renewed before the runner claims another run.
  if (platform.isAway()) return false;
  if (cluster) return cluster.hasRoom(runsAtOnce);
  const working = runningMissions.size - capabilities.waiting.size;
  if (working === 0) return true;
  const hasMemory = process.env.RUNS_AT_ONCE !== undefined || process.availableMemory() >= memoryOfMission;
  return working < runsAtOnce && hasMemory;
}

/** Reports the harnesses of this machine, and begins to install missing ones. */
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
    ...(labels.length > 0 && { labels }),
    ...capacityWithin(limits),
    ...(limits.cpus && { cpus: limits.cpus }),
    ...{ modelVendors: ownVendors, replays: true },
    notice: (updater?.notice() ?? installer?.notice() ?? obstacle)?.slice(0, 300),
  };
}

/** A claim without a response is repeated under the same id: if the first attempt claimed a run, the platform returns that run. */
async function claim(): Promise<(Claimed & { claim: ClaimRunRequest }) | null> {
  const request = { ...offer(), claimId };
  try {
    const run = await platform.mutate(claimRun, request, true);
    claimId = randomUUID();
    if (isUnreachable) console.log('The platform can be reached again');
    isUnreachable = false;
    return run && { ...run, claim: request };
  } catch (error) {
    if (error instanceof RequestRejected) quit(`The platform rejected this runner: ${error.message}`);
    if (!isUnreachable) console.error(`The platform cannot be reached: ${(error as Error).message}`);
    isUnreachable = true;
    return null;
  }
}
