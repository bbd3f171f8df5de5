// Tests the cluster at the start of the runner: whether the runner has the rights that it needs, and whether the cluster runs a Job or
// SandboxClaim like the ones of missions. The error names everything that the cluster forbids.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from '../contract.ts';
import { type Api, ApiRefusal } from './api.ts';
import { jobOf } from './objects.ts';
import { missionFolder } from './pod-spec.ts';
import type { Pools } from './pools.ts';
import { claimKind, claimOf } from './sandboxes.ts';
import type { ClusterSettings } from './settings.ts';
import type { Workloads } from './workloads.ts';

/** Rights of the runner, all in one namespace. */
export const rights = [
  ['batch', 'jobs', ['create', 'patch', 'list', 'watch', 'delete']],
  ['', 'pods', ['list', 'watch']],
  ['', 'events', ['list']],
] as const;

/** Further rights of a runner whose missions have SandboxClaims. */
export const sandboxRights = [
  ['extensions.agents.x-k8s.io', 'sandboxclaims', ['create', 'patch', 'list', 'watch', 'delete']],
  ['extensions.agents.x-k8s.io', 'sandboxtemplates', ['create', 'patch', 'list', 'delete']],
  ['extensions.agents.x-k8s.io', 'sandboxwarmpools', ['create', 'patch', 'list', 'delete']],
] as const;

type Rights = typeof rights | typeof sandboxRights;

const pauseMs = 1_000;

/**
 * Decides whether missions have SandboxClaims; waits while the API server cannot be reached.
 * @throws with the reason why required SandboxClaims cannot be used
 */
export async function chooseSandboxes(
  api: Api,
  { sandboxes }: ClusterSettings,
  stopping: AbortSignal,
): Promise<{ hasClaims: boolean; why: string }> {
  if (sandboxes === 'off') return { hasClaims: false, why: 'KUBERNETES_SANDBOXES is off' };
  const { apiVersion, kind } = claimKind;
  const isServed = await again(() => api.isServed(apiVersion, kind), stopping);
  const missing = isServed ? await again(() => missingRights(api, sandboxRights), stopping) : [];
  const why = isServed
    ? missing.length > 0 && `the runner lacks rights: ${missing.join(', ')}`
    : `the cluster does not serve ${kind}s of ${apiVersion}`;
  if (!why) return { hasClaims: true, why: `the cluster serves ${apiVersion}` };
  if (sandboxes === 'required') throw new Error(`KUBERNETES_SANDBOXES is required, but ${why}`);
  return { hasClaims: false, why };
}

export interface Tested {
  api: Api;
  workloads: Workloads;
  /** Templates and warm pools; null if this runner creates Jobs instead of SandboxClaims. */
  pools: Pools | null;
  settings: ClusterSettings;
  limits: Limits;
}

/** Checks the rights of the runner; waits while the API server cannot be reached. @throws with the rights that the runner lacks */
export async function checkRights(api: Api, stopping: AbortSignal): Promise<void> {
  const missing = await again(() => missingRights(api, rights), stopping);
  if (missing.length > 0)
    throw new Error(`the runner lacks rights in the namespace ${api.namespace}: ${missing.join(', ')}`);
}

/** Runs a pod like those of missions; waits while the API server cannot be reached. @throws with everything that the cluster forbids */
export async function preflight(
  { api, workloads, pools, settings, limits }: Tested,
  stopping: AbortSignal,
): Promise<void> {
  const name = `mission-preflight-${randomUUID().slice(0, 8)}`;
  const [apiHost, apiPort] = api.server();
  const purpose = {
    image: settings.missionImage,
    limits,
    args: ['preflight'],
    env: {
      PREFLIGHT: JSON.stringify({
        name,
        folder: missionFolder,
        relayUrl: settings.relayUrl,
        apiHost: settings.needsPolicy ? apiHost : '',
        apiPort,
      }),
    },
    programs: [],
  };
  const seconds = Math.ceil(settings.startMs / 1_000);
  const kind = pools ? 'SandboxClaim' : 'Job';
  let pool: string | null = null;
  try {
    const create = async (): Promise<void> => {
      pool = pools && (await pools.ensure(purpose, stopping, 0));
      const object = pool
        ? claimOf(settings, { name, pool, annotations: {}, mission: null, shutdownAt: Date.now() + seconds * 1_000 })
        : jobOf(settings, { ...purpose, name, annotations: {}, maxSeconds: seconds });
      await workloads.create(object, stopping);
    };
    await create().catch((error) => {
      throw new Error(`the API server refuses the ${kind} of a mission: ${error.message}`);
    });
    const why = await outcome(workloads, name, settings.startMs, stopping);
    if (why) throw new Error(`the test ${kind} failed: ${why}`);
  } finally {
    await workloads.remove(name).catch(() => {});
    if (pool) await pools?.remove(pool).catch(() => {});
  }
}

/** Waits for the Job or claim of the test. @returns the reason why it has failed; empty when it has not */
async function outcome(workloads: Workloads, name: string, startMs: number, stopping: AbortSignal): Promise<string> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, stopping]);
  const refused = async (): Promise<string> => {
    for (const until = Date.now() + startMs; Date.now() < until && !signal.aborted; ) {
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      // A warning about a Job or claim means that its controller cannot create the pod.
      const why = await workloads.warning(name);
      if (why) return why;
    }
    return signal.aborted ? '' : workloads.troubleOf(name);
  };
  try {
    const ended = workloads.ended(name, signal).then((end) => (!end || end.isComplete ? '' : end.why));
    return await Promise.race([ended, refused()]);
  } finally {
    done.abort();
  }
}

async function missingRights(api: Api, needed: Rights): Promise<string[]> {
  const asked = [...needed].flatMap(([group, resource, verbs]) => verbs.map((verb) => ({ group, resource, verb })));
  const answers = await Promise.all(
    asked.map(async ({ group, resource, verb }) => {
      const review = await api.create({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { namespace: api.namespace, group, resource, verb } },
      } as never);
      const { status } = review as { status?: { allowed: boolean } };
      return status?.allowed ? [] : [`${verb} ${resource}${group && `.${group}`}`];
    }),
  );
  return answers.flat();
}

/** Repeats a request until the API server can be reached. @throws ApiRefusal when the API server refuses the request */
async function again<T>(work: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await work();
    } catch (error) {
      if (stopping.aborted || (error instanceof ApiRefusal && !error.isTemporary)) throw error;
      if (!isTold) console.error(`The API server of the cluster cannot be reached: ${(error as Error).message}`);
    }
    await wait(pauseMs, undefined, { signal: stopping }).catch(() => {});
  }
}
