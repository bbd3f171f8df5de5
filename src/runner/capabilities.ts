// Capabilities of this machine for missions: isolation, harnesses, models and folders.
import path from 'node:path';
import type { Limits } from './contract.ts';
import { discover, type Found, type Probe } from './harness/discovery.ts';
import { installationFolder } from './harness/installer.ts';
import { type Caps, cappedByContainers, capsOfContainers, chooseCaps } from './isolation/caps.ts';
import type { Containers } from './isolation/engine.ts';
import { openImageStore } from './isolation/image-store.ts';
import { agentsRefused, chooseIsolation, isolationOfScripts, obstacleToCells, runIn } from './isolation/isolation.ts';
import type { Isolation } from './isolation/level.ts';
import { readRoutes } from './network/dialer.ts';
import { modelsFrom } from './protocol/upstreams.ts';
import { openSelfTest } from './self-test.ts';
import { isOn, setting } from './settings.ts';
import type { RunnerCapabilities } from './step-context.ts';
import { openPrepared } from './workspace/prepared.ts';
import { sweep } from './workspace/retention.ts';

/** Isolation of missions in pods. */
export const podIsolation = (containers?: Containers): Isolation => ({
  level: 'container',
  description:
    'Missions run in pods of a cluster: no network but the hosts of their environment, and the model and the platform through the gateway of their runner, no keys, no capabilities, no files but those of the image and their own.',
  ...(containers && { containers }),
});

/**
 * Settings for running a program without isolation. If missions run in pods, harnesses are tested without isolation, because the test runs
 * on the runner's machine, and the containers that isolate missions exist only in pods.
 */
const unisolated: Isolation = { level: 'none', description: '' };

export interface Capabilities {
  capabilities: RunnerCapabilities;
  folder: string;
  probe: Probe;
  /** Reason why agents are refused; null means they are not. */
  noAgents: string | null;
  searching: ReturnType<typeof discover>;
}

/**
 * Finds what this machine can do for scripts and for agents, and logs what it cannot do.
 * @param mirrors Folder in which repositories are mirrored
 * @param pods Whether missions run in pods of a cluster, and not on this machine
 */
export async function findCapabilities(
  platformUrl: string,
  limits: Limits,
  mirrors: string,
  pods: boolean,
): Promise<Capabilities> {
  const { CONFINEMENT, ISOLATION, WORKSPACES_DIR, DATA_DIR, NODE_EXTRA_CA_CERTS } = process.env;
  const models = modelsFrom(process.env);
  const isolation = pods ? podIsolation() : await chooseIsolation(ISOLATION || undefined, platformUrl);
  const scripts = isolation && pods ? isolation : await isolationOfScripts(CONFINEMENT || undefined, isolation);
  const capsOf = async ({ level, containers }: Isolation, find?: () => Promise<Caps['cgroups']>) =>
    pods ? cappedByContainers : containers ? capsOfContainers(containers.program) : chooseCaps(level, find);
  const scriptCaps = await capsOf(scripts);
  const agentCaps =
    !isolation || isolation.level === scripts.level
      ? scriptCaps
      : await capsOf(isolation, scripts.containers ? undefined : async () => scriptCaps.cgroups);
  const folder = await installationFolder(process.env, isolation?.level === 'cell');
  const dataFolder = path.resolve(DATA_DIR || '.data');
  const tested = pods ? unisolated : isolation;
  const selfTest = tested && isOn('HARNESS_TEST', true) ? openSelfTest(tested, limits, dataFolder) : undefined;
  const probe: Probe = { run: runIn(isolation), selfTest };
  const found: Found[] = [];
  const searching = discover(process.env, probe, folder, (one) => isolation && found.push(one));
  const noAgents = isolation
    ? null
    : `${agentsRefused}: ${await obstacleToCells()}. ISOLATION=none runs them without a cell.`;
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
    mirrors,
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
