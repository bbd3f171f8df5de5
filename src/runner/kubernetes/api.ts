// Accesses the API server of the cluster with the official client. The client is an optional package, so it is loaded only if the runner
// runs missions in pods.
import { setTimeout as wait } from 'node:timers/promises';
import type { KubernetesObject } from './objects.ts';

/**
 * The API server has refused a request: with 403 because of a missing right, an exceeded quota or an admission rule, or with 404, 409, 410
 * or 422.
 */
export class ApiRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return [409, 429].includes(this.status) || this.status >= 500;
  }
}

export interface WatchEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the object of an event is of the watched kind, or a status
  object: any;
}

/** `timeoutSeconds`: time after which the API server ends the watch. */
type WatchQuery = { timeoutSeconds: number } & Record<string, string | number | boolean | undefined>;

export interface Watching {
  /** Called when the API server has accepted the watch. */
  opened(): void;
  each(event: WatchEvent): void;
}

interface List<T> {
  items: T[];
  metadata: { resourceVersion?: string };
}

/** The parts of the official client's interface that this module uses. */
interface ObjectApi {
  patch(object: object, ...options: (string | boolean | undefined)[]): Promise<object>;
  create(object: object): Promise<object>;
  delete(object: object, ...options: (string | number | boolean | object | undefined)[]): Promise<object>;
  list(apiVersion: string, kind: string, ...options: (string | undefined)[]): Promise<object>;
}
interface Package {
  KubeConfig: new () => {
    loadFromDefault(): void;
    getContextObject(name: string): { namespace?: string } | null;
    getCurrentContext(): string;
    getCurrentCluster(): { server: string } | null;
  };
  KubernetesObjectApi: { makeApiClient(config: object): ObjectApi };
  Watch: new (
    config: object,
  ) => {
    watch(
      path: string,
      query: object,
      each: (type: string, object: object) => void,
      done: (error: unknown) => void,
    ): Promise<AbortController>;
  };
  PatchStrategy: { ServerSideApply: string; MergePatch: string };
}

const requestMs = 30_000;
const manager = 'agent-runner';

/**
 * Loads the official client. The package name is a variable, so that bundlers do not include the package. @throws an error that names the
 * package if it is not installed
 */
async function load(name = '@kubernetes/client-node'): Promise<Package> {
  return import(name).catch(() => {
    throw new Error(`RUNTIME=kubernetes needs the package ${name}`);
  });
}

export type Api = Awaited<ReturnType<typeof openApi>>;

export async function openApi(chosen: string | undefined) {
  const { KubeConfig, KubernetesObjectApi, Watch, PatchStrategy } = await load();
  const config = new KubeConfig();
  config.loadFromDefault();
  const namespace = chosen ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default';
  const objects = KubernetesObjectApi.makeApiClient(config);
  const watcher = new Watch(config);

  const inNamespace = <T extends KubernetesObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });

  return {
    namespace,
    /** Host and port of the API server. */
    server(): [string, number] {
      const { hostname, port, protocol } = new URL(config.getCurrentCluster()!.server);
      return [hostname, Number(port) || (protocol === 'https:' ? 443 : 80)];
    },
    /** Server-side apply: the same object can be applied again. */
    apply: <T extends KubernetesObject>(object: T, isDryRun = false): Promise<T> => {
      const options = [undefined, isDryRun ? 'All' : undefined, manager, true, PatchStrategy.ServerSideApply];
      return answered(objects.patch(inNamespace(object), ...options)) as Promise<T>;
    },
    create: <T extends KubernetesObject>(object: T): Promise<T> => answered(objects.create(object)) as Promise<T>,
    /**
     * Changes fields of an object. The fields include the object's resource version, and the change fails if the object has changed since
     * that version.
     */
    merge: <T extends KubernetesObject>(object: T): Promise<T> =>
      answered(
        objects.patch(inNamespace(object), undefined, undefined, manager, undefined, PatchStrategy.MergePatch),
      ) as Promise<T>,
    /**
     * Deletes an object with its dependents; succeeds when it does not exist. With a version, deletes it only if this is its current
     * version.
     */
    async remove(object: KubernetesObject, resourceVersion?: string): Promise<void> {
      const only = resourceVersion === undefined ? undefined : { preconditions: { resourceVersion } };
      const options = [undefined, undefined, undefined, undefined, 'Background', only];
      await answered(objects.delete(inNamespace(object), ...options)).catch((error) => {
        if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
      });
    },
    list: <T>(apiVersion: string, kind: string, labelSelector?: string, fieldSelector?: string): Promise<List<T>> =>
      answered(
        objects.list(apiVersion, kind, namespace, undefined, undefined, undefined, fieldSelector, labelSelector),
      ) as Promise<List<T>>,
    /** Whether the cluster has this kind. Without the right to list it, the answer is also true. */
    isServed: (apiVersion: string, kind: string): Promise<boolean> =>
      isFound(answered(objects.list(apiVersion, kind, namespace))),
    /** Watches until the API server ends the watch. @throws the error of the watch, or an error that `each` throws */
    watch: (path: string, query: WatchQuery, on: Watching, signal: AbortSignal): Promise<void> =>
      watch(watcher, path, query, on, signal),
  };
}

const isFound = (listed: Promise<object>): Promise<boolean> =>
  listed.then(
    () => true,
    (error) => {
      if (error instanceof ApiRefusal && [403, 404].includes(error.status)) return error.status === 403;
      throw error;
    },
  );

function watch(
  watcher: InstanceType<Package['Watch']>,
  path: string,
  query: WatchQuery,
  { opened, each }: Watching,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    let isOver = false;
    function end(error?: unknown): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      stop();
      if (error) reject(refusalOf(error));
      else resolve();
    }
    const aborted = () => end();
    // Without this, the wait for a server or network that has gone silent would never end.
    const endWithin = (ms: number) => setTimeout(() => end(new Error('the API server does not respond')), ms);
    let timer = endWithin(requestMs);
    function take(type: string, object: object): void {
      if (isOver) return;
      try {
        each({ type, object });
      } catch (error) {
        end(error);
      }
    }
    signal.addEventListener('abort', aborted);
    if (signal.aborted) return aborted();
    watcher.watch(path, query, take, end).then((watching) => {
      stop = () => watching.abort();
      if (isOver) return stop();
      clearTimeout(timer);
      timer = endWithin(1_000 * query.timeoutSeconds + requestMs);
      opened();
    }, end);
  });
}

/** The answer to a request; fails when no answer arrives in time. @throws ApiRefusal when the API server refuses the request */
async function answered<T>(request: Promise<T>): Promise<T> {
  const done = new AbortController();
  request.catch(() => {});
  const late = wait(requestMs, undefined, { signal: done.signal }).then(() => {
    throw new Error('the API server does not respond');
  });
  try {
    return await Promise.race([request, late]);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    done.abort();
    late.catch(() => {});
  }
}

function refusalOf(error: unknown): Error {
  const { code, statusCode, body, message } = error as {
    code?: unknown;
    statusCode?: unknown;
    body?: unknown;
    message: string;
  };
  const status = typeof code === 'number' ? code : typeof statusCode === 'number' ? statusCode : null;
  if (status === null) return error instanceof Error ? error : new Error(String(message));
  return new ApiRefusal(status, messageIn(body) ?? message);
}

/** The message of a `Status` object. */
function messageIn(body: unknown): string | null {
  try {
    const { message } = typeof body === 'string' ? JSON.parse(body) : (body as { message?: string });
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}
