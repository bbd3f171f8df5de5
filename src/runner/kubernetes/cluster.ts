// Runs missions in pods: a Job or SandboxClaim for each claimed run. Another runner can take over each mission, because the state of a
// mission is never only in the memory of this runner: the Job or SandboxClaim names the lease of its run. The pod repeats the claim that
// has created this lease, and so gets the same run.
import type { Claimed, Limits, RunLease } from '../contract.ts';
import { type ClaimRunRequest, handBackRun, heartbeat } from '../generated/operations.ts';
import type { Found } from '../harness/discovery.ts';
import { packagesOf } from '../isolation/cell.ts';
import { type Connection, RequestRejected } from '../protocol/platform.ts';
import { clip } from '../text.ts';
import { annotations, jobName, jobOf, type KubernetesObject } from './objects.ts';
import { graceMs, missionFolder, type PodMission, type PodPurpose } from './pod-spec.ts';
import type { Workload } from './pod-state.ts';
import type { Pools } from './pools.ts';
import { claimOf } from './sandboxes.ts';
import type { ClusterSettings } from './settings.ts';
import type { MissionIdentity, MissionTokens } from './tokens.ts';
import type { Workloads } from './workloads.ts';

export interface ClusterMissions {
  platform: Connection;
  settings: ClusterSettings;
  tokens: MissionTokens;
  /** Templates of sandboxes; null if this runner creates Jobs instead of SandboxClaims. */
  pools: Pools | null;
  found: readonly Found[];
  limits: Limits;
  /** Interval of heartbeats, and maximum time of a mission. */
  heartbeatMs: number;
  maxMs: number;
  /** Variables of this runner that are also set for the runners in pods. */
  variables: Record<string, string>;
}

/** The result for a mission that people have canceled, or that another runtime has claimed, before its pod has started. */
const stopped = 'stopped';

/** Pause after the cluster has refused a mission, because it would refuse the next one too. */
const refusedMs = 30_000;

/** Hands back the run, so that another runtime may claim it. Does nothing when the runner of the pod has already ended the run. */
async function handBack(platform: Connection, { runId, leaseId }: RunLease, why: string): Promise<void> {
  const reason = clip(`The pod of the mission: ${why}`, 500);
  await platform.mutate(handBackRun, { runId, leaseId, reason }).catch((error) => {
    if (!(error instanceof RequestRejected)) throw error;
  });
}

/**
 * Renews the lease until the runner in the pod has started and renews it itself. Resolves with the reason if the pod does not start in
 * time; empty if it has started.
 */
async function keepUntilStarted(
  { platform, settings, heartbeatMs }: ClusterMissions,
  workloads: Workloads,
  { runId, leaseId }: RunLease,
  name: string,
  ended: AbortSignal,
): Promise<string> {
  const until = Date.now() + settings.startMs;
  for (let last = 0; !ended.aborted && !workloads.isStarted(name); await workloads.next(heartbeatMs)) {
    if (Date.now() > until) return workloads.troubleOf(name);
    if (Date.now() - last < heartbeatMs) continue;
    last = Date.now();
    const { runs } = await platform.mutate(heartbeat, { runs: [{ runId, leaseId }] });
    if (runs.some(({ desired }) => desired === 'stop')) return stopped;
  }
  return '';
}

/**
 * Removes the object of a mission. The request that creates the object may still be in progress, so this function first waits for the end
 * of that request.
 */
function removeAfter(created: Promise<unknown>, workloads: Workloads, name: string): void {
  const ended = created.catch(() => {});
  void ended.then(() => workloads.remove(name)).catch(() => {});
}

export function openCluster(workloads: Workloads, missions: ClusterMissions, stopping: AbortSignal) {
  const { platform } = missions;
  let refusedUntil = 0;
  /** Names of the Jobs and claims that this runner follows, including those that the API server has not created yet. */
  const following = new Set<string>();

  /** Follows a mission until its Job or claim has ended. The pod of a mission continues when this runner stops. */
  async function follow(lease: RunLease, name: string, create: (ended: AbortSignal) => Promise<void>): Promise<void> {
    following.add(name);
    const done = new AbortController();
    const ended = AbortSignal.any([done.signal, stopping]);
    const over = create(ended).then(() => workloads.ended(name, ended));
    const started = keepUntilStarted(missions, workloads, lease, name, ended);
    let hasStarted = false;
    try {
      const end = await Promise.race([
        over,
        started.then((why) => {
          hasStarted = why === '';
          return why ? { isComplete: false, why } : over;
        }),
      ]);
      if (!end || end.isComplete) return;
      throw new Error((end as { why: string }).why);
    } catch (error) {
      const { message } = error as Error;
      done.abort();
      if (!hasStarted && message !== stopped) refusedUntil = Date.now() + refusedMs;
      if (!hasStarted) removeAfter(over, workloads, name);
      await handBack(platform, lease, message);
      throw error;
    } finally {
      done.abort();
      following.delete(name);
      for (const one of [over, started]) one.catch(() => {});
    }
  }

  return {
    /** Whether another mission can be started. Counts objects that the API server has not created yet. */
    hasRoom(most: number): boolean {
      const names = new Set([...following, ...workloads.open().map(({ metadata }) => metadata.name)]);
      return workloads.isSynced() && Date.now() >= refusedUntil && names.size < most;
    },
    start(run: Claimed, claim: ClaimRunRequest): Promise<void> {
      const name = jobName(run.leaseId);
      const object = (ended: AbortSignal) => missionObject(missions, run, claim, name, ended);
      return follow(run, name, async (ended) => workloads.create(await object(ended), ended));
    },
    /** Missions that another runner has started. */
    async adopt(): Promise<{ runId: string; done: Promise<void> }[]> {
      while (!workloads.isSynced() && !stopping.aborted) await workloads.next(1_000);
      return workloads.open().flatMap((one) => {
        const identity = identityOf(one);
        return identity ? [{ runId: identity.runId, done: follow(identity, one.metadata.name, async () => {}) }] : [];
      });
    },
  };
}

export function identityOf({ metadata }: Workload): MissionIdentity | null {
  const [runId, leaseId, claimId] = [annotations.run, annotations.lease, annotations.claim].map(
    (name) => metadata.annotations?.[name],
  );
  return runId && leaseId && claimId ? { runId, leaseId, claimId } : null;
}

async function missionObject(
  missions: ClusterMissions,
  run: Claimed,
  claim: ClaimRunRequest,
  name: string,
  ended: AbortSignal,
): Promise<KubernetesObject> {
  const { settings, tokens, pools, found, maxMs } = missions;
  const { runId, leaseId, step } = run;
  const { image: own, base } = step.environment;
  const identity = { runId, leaseId, claimId: claim.claimId! };
  const named = { [annotations.run]: runId, [annotations.lease]: leaseId, [annotations.claim]: identity.claimId };
  // Any of the harnesses that this runner offers may work on a later step.
  const harnesses = step.agent.harness === 'shell' ? [] : found;
  const image = (base === 'image' && own) || settings.missionImage;
  const { relayUrl } = settings;
  const mission: PodMission = { folder: missionFolder, image, relayUrl, claim: { ...claim, runId }, found: harnesses };
  // A pod that starts as late as possible may still work for the maximum time, and then save its work.
  const lastsMs = settings.startMs + maxMs;
  const shutdownAt = Date.now() + lastsMs;
  if (pools) {
    const pool = await pools.ensure(sandboxPurpose(missions, image, step.environment), ended);
    return claimOf(settings, { name, pool, annotations: named, mission, shutdownAt });
  }
  const token = tokens.sign(identity, shutdownAt + graceMs);
  return jobOf(settings, {
    ...podPurpose(missions, image, step.environment, harnesses),
    ...{ name, annotations: named, maxSeconds: Math.ceil(lastsMs / 1_000) },
    env: { ...ownVariables(missions), ...podVariables(relayUrl, token), MISSION: JSON.stringify(mission) },
  });
}

type Size = Pick<Claimed['step']['environment'], 'cpus' | 'memoryMb' | 'diskMb' | 'processes'>;

/** A pod for any mission with this image and size. It gets the variables of its mission from the relay. */
function sandboxPurpose(missions: ClusterMissions, image: string, size: Size): PodPurpose {
  const { relayUrl } = missions.settings;
  const waiting = JSON.stringify({ relayUrl, folder: missionFolder });
  return { ...podPurpose(missions, image, size, missions.found), env: { ...ownVariables(missions), WAITING: waiting } };
}

function podPurpose(
  { settings, limits }: ClusterMissions,
  image: string,
  { cpus, memoryMb, diskMb, processes }: Size,
  harnesses: readonly Found[],
): Omit<PodPurpose, 'env'> {
  const least = (most: number, wanted: number | null | undefined, unit: number) =>
    wanted ? Math.min(most, wanted * unit) : most;
  return {
    image,
    limits: {
      cpus: cpus ? Math.min(cpus, settings.cpus) : settings.cpus,
      memoryBytes: least(limits.memoryBytes, memoryMb, 1024 ** 2),
      diskBytes: least(limits.diskBytes, diskMb, 1024 ** 2),
      processes: least(limits.processes, processes, 1),
    },
    args: ['mission'],
    programs: [...new Set(harnesses.map(({ program }) => packagesOf(program)))],
  };
}

/** Environment variables for the runner in a pod. They have the same values for every mission. */
const ownVariables = ({ platform, variables }: ClusterMissions): Record<string, string> => ({
  ...variables,
  PLATFORM_URL: platform.url,
  HOME: '/runner',
  DATA_DIR: '/runner/data',
  MIRRORS_DIR: '/runner/mirrors',
  TMPDIR: `${missionFolder}/tmp`,
});

/** Variables with which a runner in a pod reaches everything through the relay. */
export function podVariables(relayUrl: string, token: string): Record<string, string> {
  const { protocol, host } = new URL(relayUrl);
  return { MISSION_TOKEN: token, HTTPS_PROXY: `${protocol}//mission:${token}@${host}` };
}
