// Missions in pods: a Job for each claimed run. No state of a mission is kept in the memory of this runner only, so another runner can take
// over: a Job names the lease of its run, and its pod repeats the claim of that lease, which gives it the same run.
import type { Claimed, Limits, RunLease } from '../contract.ts';
import { type ClaimRunRequest, handBackRun, heartbeat } from '../generated/operations.ts';
import type { Found } from '../harness/discovery.ts';
import { packagesOf } from '../isolation/cell.ts';
import { type Connection, RequestRejected } from '../protocol/platform.ts';
import { clip } from '../text.ts';
import type { Jobs } from './follow.ts';
import { annotations, graceMs, type Job, jobName, jobOf, missionFolder } from './objects.ts';
import type { ClusterSettings } from './settings.ts';
import type { MissionIdentity, MissionTokens } from './tokens.ts';

export interface ClusterMissions {
  platform: Connection;
  settings: ClusterSettings;
  tokens: MissionTokens;
  found: readonly Found[];
  limits: Limits;
  /** Interval of heartbeats, and maximum time of a mission. */
  heartbeatMs: number;
  maxMs: number;
  /** Variables of this runner that the runners in pods get too. */
  variables: Record<string, string>;
}

/** The mission of a pod, as the variable `MISSION` of its runner. */
export interface PodMission {
  folder: string;
  image: string;
  relayUrl: string;
  /** The claim of the runner of the cluster, for this run only. */
  claim: ClaimRunRequest;
  found: readonly Found[];
}

/** Pause after a refusal of the cluster, because the next mission would be refused too. */
const refusedMs = 30_000;

export type Cluster = ReturnType<typeof openCluster>;

/** Hands back the run, so that another runtime may claim it. Does nothing when the runner of the pod has already ended the run. */
async function handBack(platform: Connection, { runId, leaseId }: RunLease, why: string): Promise<void> {
  const reason = clip(`The pod of the mission: ${why}`, 500);
  await platform.mutate(handBackRun, { runId, leaseId, reason }).catch((error) => {
    if (!(error instanceof RequestRejected)) throw error;
  });
}

/** Renews the lease until the runner in the pod does. Resolves with the reason when the pod does not start; empty when it has. */
async function keepUntilStarted(
  { platform, settings, heartbeatMs }: ClusterMissions,
  jobs: Jobs,
  { runId, leaseId }: RunLease,
  name: string,
  ended: AbortSignal,
): Promise<string> {
  const until = Date.now() + settings.startMs;
  for (let last = 0; !ended.aborted && !jobs.isStarted(name); await jobs.next(heartbeatMs)) {
    if (Date.now() > until) return jobs.troubleOf(name);
    if (Date.now() - last < heartbeatMs) continue;
    last = Date.now();
    const { runs } = await platform.mutate(heartbeat, { runs: [{ runId, leaseId }] });
    if (runs.some(({ desired }) => desired === 'stop')) return 'stopped';
  }
  return '';
}

export function openCluster(jobs: Jobs, missions: ClusterMissions, stopping: AbortSignal) {
  const { platform } = missions;
  let refusedUntil = 0;
  /** Names of Jobs that this runner follows, also before the API server has them. */
  const following = new Set<string>();

  /** Follows a mission until its Job has ended. The pod of a mission continues when this runner stops. */
  async function follow(lease: RunLease, name: string, create: (ended: AbortSignal) => Promise<void>): Promise<void> {
    following.add(name);
    const done = new AbortController();
    const ended = AbortSignal.any([done.signal, stopping]);
    const over = create(ended).then(() => jobs.ended(name, ended));
    const started = keepUntilStarted(missions, jobs, lease, name, ended);
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
      if (!hasStarted) {
        refusedUntil = Date.now() + refusedMs;
        await jobs.remove(name).catch(() => {});
      }
      await handBack(platform, lease, message);
      throw error;
    } finally {
      done.abort();
      following.delete(name);
      for (const one of [over, started]) one.catch(() => {});
    }
  }

  return {
    /** Whether another mission can be started. The API server does not know Jobs that it has not created yet. */
    hasRoom(most: number): boolean {
      const names = new Set([...following, ...jobs.open().map(({ metadata }) => metadata.name)]);
      return jobs.isSynced() && Date.now() >= refusedUntil && names.size < most;
    },
    start(run: Claimed, claim: ClaimRunRequest): Promise<void> {
      const name = jobName(run.leaseId);
      const job = missionJob(missions, run, claim, name);
      return follow(run, name, (ended) => jobs.create(job, ended));
    },
    /** Missions that another runner has started. */
    async adopt(): Promise<{ runId: string; done: Promise<void> }[]> {
      while (!jobs.isSynced() && !stopping.aborted) await jobs.next(1_000);
      return jobs.open().flatMap((job) => {
        const identity = identityOf(job);
        return identity ? [{ runId: identity.runId, done: follow(identity, job.metadata.name, async () => {}) }] : [];
      });
    },
  };
}

function identityOf({ metadata }: Job): MissionIdentity | null {
  const [runId, leaseId, claimId] = [annotations.run, annotations.lease, annotations.claim].map(
    (name) => metadata.annotations?.[name],
  );
  return runId && leaseId && claimId ? { runId, leaseId, claimId } : null;
}

function missionJob(missions: ClusterMissions, run: Claimed, claim: ClaimRunRequest, name: string): Job {
  const { platform, settings, tokens, found, limits, maxMs, variables } = missions;
  const { runId, leaseId, step } = run;
  const { image, base, cpus, memoryMb, diskMb, processes } = step.environment;
  const identity = { runId, leaseId, claimId: claim.claimId! };
  // A pod that starts at the last moment may work for the maximum time, and then save its work.
  const token = tokens.sign(identity, Date.now() + settings.startMs + maxMs + graceMs);
  // Any of the harnesses that this runner offers may work on a later step.
  const harnesses = step.agent.harness === 'shell' ? [] : found;
  const least = (most: number, wanted: number | null | undefined, unit: number) =>
    wanted ? Math.min(most, wanted * unit) : most;
  const chosen = (base === 'image' && image) || settings.missionImage;
  const { relayUrl } = settings;
  const only = { ...claim, runId };
  const mission: PodMission = { folder: missionFolder, image: chosen, relayUrl, claim: only, found: harnesses };
  return jobOf(settings, {
    name,
    annotations: { [annotations.run]: runId, [annotations.lease]: leaseId, [annotations.claim]: identity.claimId },
    image: chosen,
    limits: {
      cpus: cpus ? Math.min(cpus, settings.cpus) : settings.cpus,
      memoryBytes: least(limits.memoryBytes, memoryMb, 1024 ** 2),
      diskBytes: least(limits.diskBytes, diskMb, 1024 ** 2),
      processes: least(limits.processes, processes, 1),
    },
    args: ['mission'],
    env: { ...variables, ...podVariables(relayUrl, token, platform.url), MISSION: JSON.stringify(mission) },
    programs: [...new Set(harnesses.map(({ program }) => packagesOf(program)))],
    maxSeconds: Math.ceil(maxMs / 1_000),
  });
}

/** Variables with which a runner in a pod reaches everything through the relay. */
function podVariables(relayUrl: string, token: string, platformUrl: string): Record<string, string> {
  const { protocol, host } = new URL(relayUrl);
  return {
    PLATFORM_URL: platformUrl,
    MISSION_TOKEN: token,
    HTTPS_PROXY: `${protocol}//mission:${token}@${host}`,
    HOME: '/runner',
    DATA_DIR: '/runner/data',
    MIRRORS_DIR: '/runner/mirrors',
    TMPDIR: `${missionFolder}/tmp`,
  };
}
