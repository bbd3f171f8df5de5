// The current objects of a kind, by a list and a watch from its resource version. A version that is too old (410) leads to another list.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal, type WatchEvent } from './api.ts';
import { type KubernetesObject, missionSelector } from './objects.ts';

export interface Kind {
  apiVersion: string;
  kind: string;
  /** The name of the kind in addresses of the API server, such as `jobs`. */
  plural: string;
}

export const jobs: Kind = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' };
export const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };

/** Seconds after which the API server ends a watch. */
const watchSeconds = 240;
const [firstPauseMs, maxPauseMs] = [100, 5_000];

export interface Informer<T> {
  /** Objects by name. */
  items: ReadonlyMap<string, T>;
  /** Whether the objects are current: false until the first list was read, and while the API server is unreachable. */
  isSynced(): boolean;
}

export function openInformer<T extends KubernetesObject>(
  api: Api,
  { apiVersion, kind, plural }: Kind,
  changed: () => void,
  signal: AbortSignal,
): Informer<T> {
  const items = new Map<string, T>();
  const path = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${api.namespace}/${plural}`;
  let version: string | undefined;
  let isSynced = false;

  async function relist(): Promise<void> {
    const list = await api.list<T>(apiVersion, kind, missionSelector);
    items.clear();
    for (const item of list.items) items.set(item.metadata.name, item);
    version = list.metadata.resourceVersion;
  }

  function take({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw new ApiRefusal(object.code, object.message);
    version = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') items.delete(object.metadata.name);
    else items.set(object.metadata.name, object);
    changed();
  }

  async function follow(): Promise<void> {
    if (version === undefined) await relist();
    isSynced = true;
    changed();
    const query = {
      labelSelector: missionSelector,
      resourceVersion: version,
      allowWatchBookmarks: true,
      timeoutSeconds: watchSeconds,
    };
    let failure: unknown;
    const each = (event: WatchEvent) => {
      try {
        take(event);
      } catch (error) {
        failure ??= error;
      }
    };
    await api.watch(path, query, each, signal);
    if (failure) throw failure;
  }

  void repeat(follow, signal, (error) => {
    const isGone = error instanceof ApiRefusal && error.status === 410;
    if (isGone) version = undefined;
    else isSynced = false;
  });
  return { items, isSynced: () => isSynced };
}

/** Repeats the work until aborted, after failures with a growing pause. */
async function repeat(work: () => Promise<void>, signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
  for (let pause = firstPauseMs; !signal.aborted; ) {
    try {
      await work();
      pause = firstPauseMs;
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      await wait(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(2 * pause, maxPauseMs);
    }
  }
}
