// The test of a cluster at the start of the runner: its rights, and a Job like those of missions. It names what the cluster forbids.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from '../contract.ts';
import { type Api, ApiRefusal } from './api.ts';
import type { Jobs } from './follow.ts';
import { jobOf, missionFolder } from './objects.ts';
import type { ClusterSettings } from './settings.ts';

/** Rights of the runner, all in one namespace. */
export const rights = [
  ['batch', 'jobs', ['create', 'patch', 'list', 'watch', 'delete']],
  ['', 'pods', ['list', 'watch']],
  ['', 'events', ['list']],
] as const;

const pauseMs = 1_000;

/** Tests the cluster; waits while the API server cannot be reached. @throws with everything that the cluster forbids */
export async function preflight(
  api: Api,
  jobs: Jobs,
  settings: ClusterSettings,
  limits: Limits,
  [apiHost, apiPort]: [string, number],
  stopping: AbortSignal,
): Promise<void> {
  const missing = await again(() => missingRights(api), stopping);
  if (missing.length > 0)
    throw new Error(`the runner lacks rights in the namespace ${api.namespace}: ${missing.join(', ')}`);
  const name = `mission-preflight-${randomUUID().slice(0, 8)}`;
  const job = jobOf(settings, {
    name,
    annotations: {},
    image: settings.missionImage,
    limits,
    args: ['preflight'],
    env: {
      PREFLIGHT: JSON.stringify({
        folder: missionFolder,
        relayUrl: settings.relayUrl,
        apiHost: settings.needsPolicy ? apiHost : '',
        apiPort,
      }),
    },
    programs: [],
    maxSeconds: Math.ceil(settings.startMs / 1_000),
  });
  try {
    await jobs.create(job, stopping).catch((error) => {
      throw new Error(`the API server refuses the Job of a mission: ${error.message}`);
    });
    const why = await outcome(jobs, name, settings.startMs, stopping);
    if (why) throw new Error(`a Job like those of missions has failed: ${why}`);
  } finally {
    await jobs.remove(name).catch(() => {});
  }
}

/** Waits for the test Job. @returns why the Job has failed; empty when it has not */
async function outcome(jobs: Jobs, name: string, startMs: number, stopping: AbortSignal): Promise<string> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, stopping]);
  const refused = async (): Promise<string> => {
    for (const until = Date.now() + startMs; Date.now() < until && !signal.aborted; ) {
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      // Warnings of a Job are those of its controller, which cannot create the pod.
      const why = await jobs.warning(name);
      if (why) return why;
    }
    return signal.aborted ? '' : jobs.troubleOf(name);
  };
  try {
    const ended = jobs.ended(name, signal).then((end) => (!end || end.isComplete ? '' : end.why));
    return await Promise.race([ended, refused()]);
  } finally {
    done.abort();
  }
}

async function missingRights(api: Api): Promise<string[]> {
  const asked = rights.flatMap(([group, resource, verbs]) => verbs.map((verb) => ({ group, resource, verb })));
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

/** Repeats a request until the API server can be reached. @throws its refusal */
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
