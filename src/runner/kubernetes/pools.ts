// Templates and warm pools of missions. A template is applied by the first mission that needs it; it is removed with its pool when no
// mission has needed it for a while. All runners of a cluster share them; of two concurrent changes, the API server accepts only one.
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiRefusal } from './api.ts';
import type { Kind } from './informer.ts';
import { missionSelector } from './objects.ts';
import type { PodPurpose } from './pod-spec.ts';
import {
  poolKind,
  poolOf,
  type SandboxTemplate,
  type SandboxWarmPool,
  sandboxAnnotations,
  templateKind,
  templateOf,
} from './sandboxes.ts';
import type { ClusterSettings } from './settings.ts';
import type { MissionTokens } from './tokens.ts';
import type { Workloads } from './workloads.ts';

/** Interval at which a template in use is applied again, which records that it is in use. */
const freshMs = 60_000;
/** Maximum number of templates with warm pods. Missions of all other templates start cold. */
const maxWarmPools = 20;

/** Returns the object with an annotation that says that it was last used now. */
const used = <T extends SandboxTemplate | SandboxWarmPool>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [sandboxAnnotations.used]: String(Date.now()) } },
});

/** Removes an object unless it has changed since it was listed. Returns whether it is gone. */
async function removeUnused(api: Api, { apiVersion, kind }: Kind, { metadata }: SandboxTemplate): Promise<boolean> {
  const { name, resourceVersion } = metadata;
  try {
    await api.remove({ apiVersion, kind, metadata: { name } }, resourceVersion);
    return true;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 409) return false;
    throw error;
  }
}

export type Pools = ReturnType<typeof openPools>;

export function openPools(api: Api, workloads: Workloads, settings: ClusterSettings, tokens: MissionTokens) {
  const keepMs = 1_000 * settings.warmKeepSeconds;
  const pause = Math.min(freshMs, keepMs / 4);
  /** Templates that this runner has applied, by name: the time, and whether they have warm pods. */
  const applied = new Map<string, { at: number; isWarm: boolean }>();

  /**
   * Applies the template for pods with this purpose, and the warm pool of the template. Returns the name, which the template and the pool
   * share.
   */
  async function ensure(
    purpose: PodPurpose,
    stopped: AbortSignal,
    replicas: number = settings.warmPods,
  ): Promise<string> {
    const template = templateOf(settings, tokens, purpose);
    const { name } = template.metadata;
    const known = applied.get(name);
    if (known && Date.now() - known.at < pause) return name;
    const isWarm = known?.isWarm || [...applied.values()].filter((one) => one.isWarm).length < maxWarmPools;
    await workloads.create(used(template), stopped);
    await workloads.create(used(poolOf(name, isWarm ? replicas : 0)), stopped);
    if (!stopped.aborted) applied.set(name, { at: Date.now(), isWarm });
    return name;
  }

  async function sweep(): Promise<void> {
    for (const [name, { at }] of applied) if (Date.now() - at > keepMs) applied.delete(name);
    if (!workloads.isSynced()) return;
    const taken = new Set(workloads.claims().map(({ spec }) => spec.warmPoolRef.name));
    for (const kind of [templateKind, poolKind]) {
      const { items } = await api.list<SandboxTemplate>(kind.apiVersion, kind.kind, missionSelector);
      for (const item of items) {
        const { name, annotations } = item.metadata;
        const isUnused = Date.now() - Number(annotations?.[sandboxAnnotations.used] ?? 0) > keepMs;
        if (isUnused && !taken.has(name) && !(await removeUnused(api, kind, item))) taken.add(name);
      }
    }
  }

  return {
    ensure,
    async remove(name: string): Promise<void> {
      applied.delete(name);
      for (const { apiVersion, kind } of [templateKind, poolKind])
        await api.remove({ apiVersion, kind, metadata: { name } });
    },
    /** Removes unused templates until stopped. */
    async keep(stopped: AbortSignal): Promise<void> {
      while (!stopped.aborted) {
        // A failed pass is repeated by the next one.
        await sweep().catch(() => {});
        await wait(pause, undefined, { signal: stopped }).catch(() => {});
      }
    },
  };
}
