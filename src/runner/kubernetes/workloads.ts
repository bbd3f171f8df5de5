// A Job or SandboxClaim from its creation to its end. All steps can be repeated, by this runner or by another one.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal } from './api.ts';
import { jobs as jobKind, openInformer, pods as podKind } from './informer.ts';
import type { Job, KubernetesObject } from './objects.ts';
import { endOf, failureOf, isStarted, jobLabel, type Pod, troubleOf, type Workload } from './pod-state.ts';
import { claimKind, claimRefusalOf, claimTroubleOf, type SandboxClaim, sandboxAnnotations } from './sandboxes.ts';

/** How a mission's pod has ended: `complete`, or the reason why it has not done its work. */
export type WorkloadEnd = { isComplete: true } | { isComplete: false; why: string };

/** An event about a Job or pod; those of the controller name the rules that refuse pods. */
interface ClusterEvent extends KubernetesObject {
  type?: string;
  reason?: string;
  message?: string;
}

const [firstPauseMs, maxPauseMs] = [250, 10_000];
/** Time after which a pod is lost that its claim names and no list has: events about the two kinds have no common order. */
const lostMs = 3_000;

export type Workloads = ReturnType<typeof openWorkloads>;

/** Waits for changes. */
function openChanges(signal: AbortSignal) {
  let wake: () => void = () => {};
  let change = new Promise<void>(() => {});
  function changed(): void {
    wake();
    change = new Promise((resolve) => {
      wake = resolve;
    });
  }
  changed();
  signal.addEventListener('abort', changed);
  return {
    changed,
    /** Resolves with the next change, or after some time. */
    async next(ms: number): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([change, late]);
      clearTimeout(timer);
    },
  };
}

/** The newest warning about a Job; empty without any. */
async function warningOf(api: Api, name: string): Promise<string> {
  const found = await api.list<ClusterEvent>('v1', 'Event', undefined, `involvedObject.name=${name}`).catch(() => null);
  const warning = found?.items.findLast(({ type }) => type === 'Warning');
  return warning ? `${warning.reason}: ${warning.message}` : '';
}

/** Creates an object, again and again while the API server cannot be reached. @throws ApiRefusal when it refuses the object */
async function create(api: Api, object: KubernetesObject, stopped: AbortSignal): Promise<void> {
  for (let pause = firstPauseMs; !stopped.aborted; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      await api.apply(object);
      return;
    } catch (error) {
      if (error instanceof ApiRefusal && !error.isTemporary) throw error;
    }
    await wait(pause, undefined, { signal: stopped }).catch(() => {});
  }
}

/** @param hasClaims Whether missions have a SandboxClaim. Jobs of missions that were started before are followed nevertheless. */
export function openWorkloads(api: Api, hasClaims: boolean, signal: AbortSignal) {
  const { changed, next } = openChanges(signal);
  const jobs = openInformer<Job>(api, jobKind, changed, signal);
  const claims = hasClaims ? openInformer<SandboxClaim>(api, claimKind, changed, signal) : null;
  const pods = openInformer<Pod>(api, podKind, changed, signal);
  const isSynced = () => jobs.isSynced() && pods.isSynced() && (claims?.isSynced() ?? true);
  const of = (name: string): Workload | undefined => jobs.items.get(name) ?? claims?.items.get(name);

  function podOf(name: string): Pod | undefined {
    const claim = claims?.items.get(name);
    if (claim) return pods.items.get(claim.status?.sandbox?.name ?? '');
    return [...pods.items.values()].find(({ metadata }) => metadata.labels?.[jobLabel] === name);
  }
  /** The uid of the pod that has got the mission of a claim. */
  const boundTo = (name: string) => claims?.items.get(name)?.metadata.annotations?.[sandboxAnnotations.pod];
  const hasPod = (name: string, uid: string) => pods.items.get(name)?.metadata.uid === uid;
  const warning = async (name: string): Promise<string> => {
    const claim = claims?.items.get(name);
    return claim ? claimRefusalOf(claim) : warningOf(api, name);
  };
  const saysOf = (name: string): string => {
    const claim = claims?.items.get(name);
    return troubleOf(podOf(name)) || (claim ? claimTroubleOf(claim) : '');
  };
  async function remove(name: string): Promise<void> {
    await api.remove({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } });
    const { apiVersion, kind } = claimKind;
    if (claims) await api.remove({ apiVersion, kind, metadata: { name } });
  }
  /** Whether the pod of a claim is gone. Its controller starts another one, which gets no mission. */
  function isLost(name: string): boolean {
    const uid = boundTo(name);
    return uid !== undefined && podOf(name)?.metadata.uid !== uid;
  }

  return {
    isSynced,
    next,
    warning,
    hasPod,
    remove,
    create: (object: KubernetesObject, stopped: AbortSignal) => create(api, object, stopped),
    /** Whether the runner of the mission works in its pod, which then renews the lease itself. */
    isStarted: (name: string) => (claims?.items.has(name) ? boundTo(name) !== undefined : isStarted(podOf(name))),
    /** Jobs and claims that have not ended. */
    open: (): Workload[] =>
      [...jobs.items.values(), ...(claims?.items.values() ?? [])].filter((one) => endOf(one) === null),
    claims: (): SandboxClaim[] => [...(claims?.items.values() ?? [])],
    /** Why the pod of a mission does not start. */
    async troubleOf(name: string): Promise<string> {
      return saysOf(name) || (await warning(name)) || 'its pod has not started';
    },
    /** Waits for the end of a Job or claim that was created. Resolves with null when `stopped` aborts. */
    ended: (name: string, stopped: AbortSignal) =>
      endedOf({ isSynced, next, of, podOf, isLost, remove }, name, stopped),
  };
}

interface Watched {
  isSynced(): boolean;
  next(ms: number): Promise<void>;
  of(name: string): Workload | undefined;
  podOf(name: string): Pod | undefined;
  isLost(name: string): boolean;
  remove(name: string): Promise<void>;
}

async function endedOf(watched: Watched, name: string, stopped: AbortSignal): Promise<WorkloadEnd | null> {
  const { isSynced, next, of, podOf, isLost, remove } = watched;
  let wasSeen = false;
  let trouble = '';
  let lostAt: number | null = null;
  for (; !stopped.aborted; await next(1_000)) {
    if (!isSynced()) continue;
    const one = of(name);
    wasSeen ||= one !== undefined;
    trouble = troubleOf(podOf(name)) || trouble;
    const end = one && endOf(one);
    if (end === 'complete') return { isComplete: true };
    if (one && end === 'failed') return { isComplete: false, why: trouble || failureOf(one) };
    if (!one && wasSeen) return { isComplete: false, why: trouble || 'its object in the cluster was removed' };
    lostAt = isLost(name) ? (lostAt ?? Date.now()) : null;
    if (lostAt === null || Date.now() - lostAt < lostMs) continue;
    await remove(name).catch(() => {});
    return { isComplete: false, why: trouble || 'its pod was lost' };
  }
  return null;
}
