// Starts a runner for a cluster: opens its relay, tests the cluster, and takes over missions that already run in it.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Limits, type Pace, vendors } from '../contract.ts';
import type { Found } from '../harness/discovery.ts';
import type { RouteSettings } from '../network/dialer.ts';
import type { Connection } from '../protocol/platform.ts';
import type { Upstreams } from '../protocol/upstreams.ts';
import { openApi } from './api.ts';
import { identityOf, openCluster } from './cluster.ts';
import { openHandOver } from './hand-over.ts';
import { openPools } from './pools.ts';
import { checkRights, chooseSandboxes, preflight, type Tested } from './preflight.ts';
import { openRelay, type RelaySettings } from './relay.ts';
import type { ClusterSettings } from './settings.ts';
import { openTokens } from './tokens.ts';
import { openWorkloads } from './workloads.ts';

export interface StartSettings {
  platform: Connection;
  serviceToken: string;
  capabilities: { models: Pick<Upstreams, 'anthropic' | 'openai'>; routes: RouteSettings; found: readonly Found[] };
  limits: Limits;
  pace: Pace;
  stopping: AbortSignal;
}

/** Milliseconds between two tests of a cluster that failed the first test while missions were running in it. */
const retestMs = 30_000;

/**
 * Starts the runner of a cluster. The caller must run `test` before the first claim. @throws when the runner lacks rights, or the cluster
 * lacks a feature that the settings require
 */
export async function startCluster(settings: ClusterSettings, start: StartSettings) {
  const { platform, serviceToken, capabilities, limits, pace, stopping } = start;
  // Each informer and each waiting mission adds a listener.
  setMaxListeners(0, stopping);
  const { models, routes, found } = capabilities;
  const api = await openApi(settings.namespace);
  const tokens = openTokens(serviceToken);
  const relaySettings: RelaySettings = {
    platformUrl: platform.url,
    serviceToken,
    tokens,
    models,
    routes,
    port: settings.port,
  };
  // Missions that have started continue while the API server cannot be reached.
  const relay = await openRelay(relaySettings);
  if (!settings.needsPolicy)
    console.error(
      'Network policies of the cluster are not tested: missions may reach hosts that their environment does not allow.',
    );
  const { hasClaims, why } = await chooseSandboxes(api, settings, stopping);
  console.log(`Missions of the cluster have a ${hasClaims ? 'SandboxClaim' : 'Job'} each: ${why}.`);
  if (settings.warmPods > 0 && !hasClaims)
    console.error('KUBERNETES_WARM_PODS has no effect: missions run as Jobs, which have no warm pods.');
  await checkRights(api, stopping);
  const workloads = openWorkloads(api, hasClaims, stopping);
  const pools = hasClaims ? openPools(api, workloads, settings, tokens) : null;
  if (pools) relaySettings.handOver = openHandOver(api, workloads, tokens, settings.relayUrl);
  void pools?.keep(stopping);
  const variables = variablesOf(start, settings);
  const own = { platform, settings, tokens, pools, found, limits, variables };
  const missions = { ...own, heartbeatMs: pace.heartbeat, maxMs: pace.timeout };
  return {
    ...openCluster(workloads, missions, stopping),
    test: () => testCluster({ api, workloads, pools, settings, limits }, stopping),
    /** Ends the relay after its open requests, which belong to missions that continue. */
    drain: () => relay.drain(settings.drainMs),
  };
}

/**
 * Tests the cluster. If the test fails while missions run in the cluster, the test is repeated until it succeeds or the last of these
 * missions has ended. The runner does not stop at such a failure, because perhaps the cluster merely has no free capacity, and the missions
 * need the relay of this runner. @throws with the reason if the test fails and no missions run
 */
async function testCluster(tested: Tested, stopping: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await preflight(tested, stopping);
    } catch (error) {
      if (stopping.aborted || !tested.workloads.open().some(identityOf)) throw error;
      const { message } = error as Error;
      console.error(
        `The cluster: ${message}. Its missions continue, and no mission is claimed until the cluster passes the test.`,
      );
    }
    await wait(retestMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Settings of this runner that are passed on to the runners in pods. */
function variablesOf({ capabilities, limits, pace }: StartSettings, { podVariables }: ClusterSettings) {
  const megabytes = (bytes: number) => String(Math.floor(bytes / 1024 ** 2));
  return {
    ...podVariables,
    MEMORY_MB: megabytes(limits.memoryBytes),
    DISK_MB: megabytes(limits.diskBytes),
    PROCESSES: String(limits.processes),
    MISSION_MODELS: vendors.filter((vendor) => capabilities.models[vendor]).join(','),
    HEARTBEAT_MS: String(pace.heartbeat),
    SAMPLE_MS: String(pace.sample),
    FLUSH_MS: String(pace.flush),
    GRACE_MS: String(pace.grace),
    TIMEOUT_MS: String(pace.timeout),
    CHECKPOINT_MS: String(pace.checkpoint),
  };
}
