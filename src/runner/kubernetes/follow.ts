// A Job from its creation to its end. All steps can be repeated, by this runner or by another one.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal } from './api.ts';
import { jobs as jobKind, openInformer, pods as podKind } from './informer.ts';
import type { Job, KubernetesObject } from './objects.ts';
import { endOf, failureOf, isStarted, jobLabel, type Pod, troubleOf } from './pod-state.ts';

/** How a Job has ended: `complete`, or the reason why it has not done its work. */
export type JobEnd = { isComplete: true } | { isComplete: false; why: string };

/** An event about a Job or pod; those of the controller name the rules that refuse pods. */
interface ClusterEvent extends KubernetesObject {
  type?: string;
  reason?: string;
  message?: string;
}

const [firstPauseMs, maxPauseMs] = [250, 10_000];

export type Jobs = ReturnType<typeof openJobs>;

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

/** Creates a Job, again and again while the API server cannot be reached. @throws ApiRefusal when it refuses the Job */
async function create(api: Api, job: Job, stopped: AbortSignal): Promise<void> {
  for (let pause = firstPauseMs; !stopped.aborted; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      await api.apply(job);
      return;
    } catch (error) {
      if (error instanceof ApiRefusal && !error.isTemporary) throw error;
    }
    await wait(pause, undefined, { signal: stopped }).catch(() => {});
  }
}

export function openJobs(api: Api, signal: AbortSignal) {
  const { changed, next } = openChanges(signal);
  const jobs = openInformer<Job>(api, jobKind, changed, signal);
  const pods = openInformer<Pod>(api, podKind, changed, signal);
  const isSynced = () => jobs.isSynced() && pods.isSynced();
  const warning = (name: string) => warningOf(api, name);
  const podOf = (name: string): Pod | undefined =>
    [...pods.items.values()].find(({ metadata }) => metadata.labels?.[jobLabel] === name);

  return {
    isSynced,
    next,
    warning,
    create: (job: Job, stopped: AbortSignal) => create(api, job, stopped),
    remove: (name: string) => api.remove({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } }),
    isStarted: (name: string) => isStarted(podOf(name)),
    /** Jobs that have not ended. */
    open: (): Job[] => [...jobs.items.values()].filter((job) => endOf(job) === null),
    /** Why the pod of a Job does not start. */
    async troubleOf(name: string): Promise<string> {
      return troubleOf(podOf(name)) || (await warning(name)) || 'its pod has not started';
    },
    /** Waits for the end of a Job that was created. Resolves with null when `stopped` aborts. */
    async ended(name: string, stopped: AbortSignal): Promise<JobEnd | null> {
      let wasSeen = false;
      let trouble = '';
      for (; !stopped.aborted; await next(1_000)) {
        if (!isSynced()) continue;
        const job = jobs.items.get(name);
        wasSeen ||= job !== undefined;
        trouble = troubleOf(podOf(name)) || trouble;
        const end = job && endOf(job);
        if (end === 'complete') return { isComplete: true };
        if (end === 'failed') return { isComplete: false, why: trouble || failureOf(job) };
        if (!job && wasSeen) return { isComplete: false, why: trouble || 'its Job was removed' };
      }
      return null;
    },
  };
}
