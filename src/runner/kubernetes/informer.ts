// Keeps the current objects of a kind: lists them, and then watches for changes from the resource version of the list on. If the API server
// reports that this version is too old (410), the objects are listed anew.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal, type WatchEvent } from './api.ts';
import { type KubernetesObject, missionSelector } from './objects.ts';

export interface Kind {
  apiVersion: string;
  kind: string;
  /** The name of the kind in URLs of the API server, such as `jobs`. */
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
  /**
   * Whether the objects are current: false until the first list has been read, and after a failure until the API server has accepted
   * another watch.
   */
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

  function synced(): void {
    isSynced = true;
    changed();
  }

  async function relist(): Promise<void> {
    const list = await api.list<T>(apiVersion, kind, missionSelector);
    items.clear();
    for (const item of list.items) items.set(item.metadata.name, item);
    version = list.metadata.resourceVersion;
    synced();
  }

  function take({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw new ApiRefusal(object.code, object.message);
    version = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') items.delete(object.metadata.name);
    else items.set(object.metadata.name, object);
    changed();
  }

  async function follow(begun: () => void): Promise<void> {
    if (version === undefined) await relist();
    const query = {
      labelSelector: missionSelector,
      resourceVersion: version,
      allowWatchBookmarks: true,
      timeoutSeconds: watchSeconds,
    };
    const opened = () => {
      begun();
      synced();
    };
    await api.watch(path, query, { opened, each: take }, signal);
  }

  function failed(error: unknown): void {
    if (error instanceof ApiRefusal && error.status === 410) version = undefined;
    else isSynced = false;
  }

  void repeat(follow, failed, signal);
  return { items, isSynced: () => isSynced };
}

/** Repeats the work until aborted. The pause grows until the work calls `begun`. */
async function repeat(
  work: (begun: () => void) => Promise<void>,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause = firstPauseMs;
  const begun = () => {
    pause = firstPauseMs;
  };
  while (!signal.aborted) {
    await work(begun).catch(failed);
    await wait(pause, undefined, { signal }).catch(() => {});
    pause = Math.min(2 * pause, maxPauseMs);
  }
}
