// The runner of one mission, in a container of its pod (docs/decisions/0077-a-pod-per-mission.md): it claims the run that the runner of the
// cluster has claimed, and executes it in the other containers.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { podIsolation } from './capabilities.ts';
import type { Limits, Pace } from './contract.ts';
import { claimRun } from './generated/operations.ts';
import { cappedByContainers } from './isolation/caps.ts';
import { openImageStore } from './isolation/image-store.ts';
import { containersOf, holdContainers, openPod } from './isolation/pod.ts';
import { checkPod } from './kubernetes/pod-preflight.ts';
import type { PodMission } from './kubernetes/pod-spec.ts';
import { awaitMission } from './kubernetes/waiting-pod.ts';
import { executeRun } from './mission.ts';
import { readRoutes } from './network/dialer.ts';
import { connect } from './protocol/platform.ts';
import type { Upstream } from './protocol/upstreams.ts';
import { through } from './protocol/via.ts';
import { isOn, setting } from './settings.ts';
import type { RunnerCapabilities } from './step-context.ts';
import { openPrepared } from './workspace/prepared.ts';

/** How long the other containers of the pod may take to start; their image was already pulled. */
const containersMs = 120_000;

/** Executes the mission of the pod. @throws with the reason why it was not executed, or with the faults of the pod */
export async function runInPod(
  command: 'mission' | 'preflight',
  limits: Limits,
  pace: Pace,
  stopping: AbortSignal,
): Promise<void> {
  if (command === 'mission') {
    if (process.env.WAITING && !(await waitForMission(process.env, stopping))) return;
    return runPodMission(limits, pace, stopping);
  }
  const ports = (process.env.MISSION_PORTS ?? '').split(',').map(Number);
  const wrong = await checkPod({ ...JSON.parse(process.env.PREFLIGHT ?? ''), ports }, limits);
  if (wrong.length > 0) throw new Error(wrong.join(' '));
}

/** Waits for the mission of a warm pod. Returns false when the pod is to end. */
async function waitForMission(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<boolean> {
  const { relayUrl, folder } = JSON.parse(env.WAITING!);
  const { POD_NAME: name = '', POD_UID: uid = '', POD_TOKEN: token = '' } = env;
  await holdContainers(folder, containersMs);
  console.log('The pod waits for a mission.');
  const variables = await awaitMission(relayUrl, token, { name, uid }, stopping);
  delete env.POD_TOKEN;
  Object.assign(env, variables);
  return variables !== null;
}

async function runPodMission(limits: Limits, pace: Pace, stopping: AbortSignal): Promise<void> {
  const { PLATFORM_URL = '', MISSION_TOKEN = '', MISSION_MODELS = '', MISSION_PORTS = '' } = process.env;
  const mission: PodMission = JSON.parse(process.env.MISSION ?? '');
  const { folder, image, relayUrl, claim, found } = mission;
  const platform = connect(PLATFORM_URL, MISSION_TOKEN, stopping, undefined, through(relayUrl, MISSION_TOKEN));
  const pod = openPod(folder, MISSION_PORTS.split(',').map(Number));
  await holdContainers(folder, containersMs);
  const run = await platform.mutate(claimRun, claim);
  if (!run) return console.log('The run is no longer to be executed.');
  const isolation = podIsolation(containersOf(pod, image));
  const data = path.resolve(process.env.DATA_DIR ?? '');
  const mirrors = path.resolve(process.env.MIRRORS_DIR ?? '');
  for (const one of [data, mirrors]) await mkdir(one, { recursive: true });
  const kept = { keepMs: 0, maxBytes: 0 };
  const modelOf = (vendor: string): Upstream | null =>
    MISSION_MODELS.split(',').includes(vendor)
      ? { base: `${relayUrl}/models/${MISSION_TOKEN}/${vendor}`, headers: {} }
      : null;
  const capabilities: RunnerCapabilities = {
    scripts: isolation,
    isolation,
    caps: { scripts: cappedByContainers, agents: cappedByContainers },
    limits,
    found: [...found],
    models: { anthropic: modelOf('anthropic'), openai: modelOf('openai') },
    mirrors,
    retention: null,
    waiting: new Set(),
    routes: { ...readRoutes(process.env), isRelay: true },
    trust: null,
    prepared: openPrepared({ ...kept, folder: path.join(data, 'environments') }),
    images: openImageStore({ ...kept, folder: path.join(data, 'images') }),
    hasNotes: isOn('ATTESTATION_NOTES', true),
    setupTimeoutMs: setting('SETUP_TIMEOUT_MS', 20 * 60_000),
    buildNetwork: 'none',
  };
  console.log(`${run.runId} ${run.missionTitle ?? ''}`);
  await executeRun(platform, run, pace, capabilities, stopping);
  console.log(`${run.runId} has left this pod`);
}
