// The API server of the cluster, by the official client, which is loaded only for a runner with pods: it is an optional package.
import { setTimeout as wait } from 'node:timers/promises';
import type { KubernetesObject } from './objects.ts';

/** A refusal of the API server: 403 for missing rights, quotas and admission, 404, 409, 410, 422. */
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

interface List<T> {
  items: T[];
  metadata: { resourceVersion?: string };
}

/** Members of the package that are used. */
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

/** Loads the client. @throws an error that names the package when it is not installed. The name is a variable, so that no bundle contains it. */
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
    /** Changes members of an object, unless it has changed since the resource version that is among them. */
    merge: <T extends KubernetesObject>(object: T): Promise<T> =>
      answered(
        objects.patch(inNamespace(object), undefined, undefined, manager, undefined, PatchStrategy.MergePatch),
      ) as Promise<T>,
    /** Deletes an object with its dependents; succeeds when it does not exist. With a version, only while that is the current one. */
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
    /** Calls `each` until the API server ends the watch. @throws its error */
    watch: (path: string, query: object, each: (event: WatchEvent) => void, signal: AbortSignal): Promise<void> =>
      watch(watcher, path, query, each, signal),
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

async function watch(
  watcher: InstanceType<Package['Watch']>,
  path: string,
  query: object,
  each: (event: WatchEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let stop = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error: unknown) => (error ? reject(refusalOf(error)) : resolve());
      watcher
        .watch(path, query, (type, object) => each({ type, object }), done)
        .then((watching) => {
          stop = () => watching.abort();
          signal.addEventListener('abort', stop, { once: true });
        }, reject);
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The answer to a request, or its refusal. A request without an answer fails after some time. */
async function answered<T>(request: Promise<T>): Promise<T> {
  const done = new AbortController();
  request.catch(() => {});
  const late = wait(requestMs, undefined, { signal: done.signal }).then(() => {
    throw new Error('the API server does not answer');
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
