// A Job or SandboxClaim from its creation to its end. All steps can be repeated, by this runner or by another one.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal } from './api.ts';
import { jobs as jobKind, openInformer, pods as podKind } from './informer.ts';
import type { Job, KubernetesObject } from './objects.ts';
import { graceMs } from './pod-spec.ts';
import { endOf, failureOf, isStarted, isWorking, jobLabel, type Pod, troubleOf, type Workload } from './pod-state.ts';
import { claimKind, claimRefusalOf, claimTroubleOf, type SandboxClaim, sandboxAnnotations } from './sandboxes.ts';

/** The outcome of a mission's pod: `complete`, or the reason why it has not finished its work. */
export type WorkloadEnd = { isComplete: true } | { isComplete: false; why: string };

/** An event about a Job or pod. The events of the controller name the rules that refuse pods. */
interface ClusterEvent extends KubernetesObject {
  type?: string;
  reason?: string;
  message?: string;
}

const [firstPauseMs, maxPauseMs] = [250, 10_000];
/**
 * Time after which a pod counts as lost if its claim names it but the list of pods does not contain it. Shorter absences are normal,
 * because events about claims and events about pods arrive independently.
 */
const lostMs = 3_000;

export type Workloads = ReturnType<typeof openWorkloads>;

/** Waits for changes. */
function openChanges(signal: AbortSignal) {
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const wake of waiting) wake();
  };
  signal.addEventListener('abort', changed);
  return {
    changed,
    /** Resolves with the next change, or after `ms` milliseconds. */
    next: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        waiting.add(wake);
      }),
  };
}

/** The newest warning about a Job; empty without any. */
async function warningOf(api: Api, name: string): Promise<string> {
  const found = await api.list<ClusterEvent>('v1', 'Event', undefined, `involvedObject.name=${name}`).catch(() => null);
  const warning = found?.items.findLast(({ type }) => type === 'Warning');
  return warning ? `${warning.reason}: ${warning.message}` : '';
}

/** Repeats a request while the API server cannot be reached, until stopped. @throws ApiRefusal when the API server refuses it */
async function persist(request: () => Promise<unknown>, stopped: AbortSignal): Promise<void> {
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      await request();
      return;
    } catch (error) {
      if (error instanceof ApiRefusal && !error.isTemporary) throw error;
    }
    if (stopped.aborted) return;
    await wait(pause, undefined, { signal: stopped }).catch(() => {});
  }
}

function openPods(api: Api, changed: () => void, signal: AbortSignal) {
  let ofJobs: Map<string | undefined, Pod> | null = null;
  function forget(): void {
    ofJobs = null;
    changed();
  }
  const { items, isSynced } = openInformer<Pod>(api, podKind, forget, signal);
  return {
    items,
    isSynced,
    /** The pod of a Job. Each mission looks for its pod at each change of the cluster, so an index is built once per change. */
    ofJob(name: string): Pod | undefined {
      ofJobs ??= new Map([...items.values()].map((pod) => [pod.metadata.labels?.[jobLabel], pod]));
      return ofJobs.get(name);
    },
    /** The pod as it is now; undefined when it is gone. */
    now(pod: Pod | undefined): Pod | undefined {
      const known = pod && items.get(pod.metadata.name);
      return known?.metadata.uid === pod?.metadata.uid ? known : undefined;
    },
  };
}

/**
 * @param hasClaims Whether SandboxClaims are watched. Jobs are always watched, because a mission may have been started as a Job before this
 * runner started.
 */
export function openWorkloads(api: Api, hasClaims: boolean, signal: AbortSignal) {
  const { changed, next } = openChanges(signal);
  const jobs = openInformer<Job>(api, jobKind, changed, signal);
  const claims = hasClaims ? openInformer<SandboxClaim>(api, claimKind, changed, signal) : null;
  const pods = openPods(api, changed, signal);
  const isSynced = () => jobs.isSynced() && pods.isSynced() && (claims?.isSynced() ?? true);
  const of = (name: string): Workload | undefined => jobs.items.get(name) ?? claims?.items.get(name);

  function podOf(name: string): Pod | undefined {
    const claim = claims?.items.get(name);
    return claim ? pods.items.get(claim.status?.sandbox?.name ?? '') : pods.ofJob(name);
  }
  /** The uid of the pod to which a claim's mission was handed over. */
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
  /** Removes the objects of a mission from the cluster. Failed requests are repeated, unless this runner is stopping. */
  async function remove(name: string): Promise<void> {
    for (const { apiVersion, kind } of claims ? [jobKind, claimKind] : [jobKind])
      await persist(() => api.remove({ apiVersion, kind, metadata: { name } }), signal);
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
    /** Sends requests to create the object until one request succeeds or `stopped` aborts. @throws ApiRefusal for a permanent refusal */
    create: (object: KubernetesObject, stopped: AbortSignal): Promise<void> =>
      persist(async () => stopped.aborted || api.apply(object), stopped),
    /** Whether the runner in the mission's pod has started, so that it renews the lease itself. */
    isStarted: (name: string) => (claims?.items.has(name) ? boundTo(name) !== undefined : isStarted(podOf(name))),
    /** All Jobs and claims that have not ended. */
    open: (): Workload[] =>
      [...jobs.items.values(), ...(claims?.items.values() ?? [])].filter((one) => endOf(one) === null),
    claims: (): SandboxClaim[] => [...(claims?.items.values() ?? [])],
    /** The reason why the pod of a mission does not start. */
    async troubleOf(name: string): Promise<string> {
      return saysOf(name) || (await warning(name)) || 'its pod has not started';
    },
    /** Waits for the end of a Job or claim. Resolves with null when `stopped` aborts. */
    ended: (name: string, stopped: AbortSignal) =>
      endedOf({ isSynced, next, of, podOf, podNow: pods.now, isLost, remove }, name, stopped),
  };
}

interface Watched {
  isSynced(): boolean;
  next(ms: number): Promise<void>;
  of(name: string): Workload | undefined;
  podOf(name: string): Pod | undefined;
  podNow(pod: Pod | undefined): Pod | undefined;
  isLost(name: string): boolean;
  remove(name: string): Promise<void>;
}

/** Milliseconds since a condition has been true; null while it is false. */
function openSince() {
  let since: number | null = null;
  return (is: boolean): number | null => {
    since = is ? (since ?? Date.now()) : null;
    return since === null ? null : Date.now() - since;
  };
}

async function endedOf(watched: Watched, name: string, stopped: AbortSignal): Promise<WorkloadEnd | null> {
  const { isSynced, next, of, podOf, podNow, isLost, remove } = watched;
  const [overFor, lostFor] = [openSince(), openSince()];
  let wasSeen = false;
  let trouble = '';
  let pod: Pod | undefined;
  for (; !stopped.aborted; await next(1_000)) {
    if (!isSynced()) {
      for (const since of [overFor, lostFor]) since(false);
      continue;
    }
    const one = of(name);
    wasSeen ||= one !== undefined;
    pod = podOf(name) ?? podNow(pod);
    trouble = troubleOf(pod) || trouble;
    const end = one && endOf(one);
    if (end === 'complete') return { isComplete: true };
    const over = overFor(one ? end === 'failed' : wasSeen);
    // The runner of a pod that has to end saves its work, and hands the run back itself.
    if (over !== null && !(isWorking(pod) && over < graceMs))
      return { isComplete: false, why: trouble || (one ? failureOf(one) : 'its object in the cluster was removed') };
    const lost = lostFor(over === null && isLost(name));
    if (lost === null || lost < lostMs) continue;
    void remove(name).catch(() => {});
    return { isComplete: false, why: trouble || 'its pod was lost' };
  }
  return null;
}
