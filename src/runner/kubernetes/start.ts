// Start of a runner for a cluster: its relay, the test of the cluster, and the missions that are there.
import { type Limits, type Pace, vendors } from '../contract.ts';
import type { Found } from '../harness/discovery.ts';
import type { RouteSettings } from '../network/dialer.ts';
import type { Connection } from '../protocol/platform.ts';
import type { Upstreams } from '../protocol/upstreams.ts';
import { openApi } from './api.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { openJobs } from './follow.ts';
import { preflight } from './preflight.ts';
import { openRelay } from './relay.ts';
import type { ClusterSettings } from './settings.ts';
import { openTokens } from './tokens.ts';

export interface StartSettings {
  platform: Connection;
  serviceToken: string;
  capabilities: { models: Pick<Upstreams, 'anthropic' | 'openai'>; routes: RouteSettings; found: readonly Found[] };
  limits: Limits;
  pace: Pace;
  stopping: AbortSignal;
}

/** Starts the runner of a cluster. @throws with the reason why the cluster executes no missions */
export async function startCluster(settings: ClusterSettings, start: StartSettings): Promise<Cluster> {
  const { platform, serviceToken, capabilities, limits, pace, stopping } = start;
  const { models, routes, found } = capabilities;
  const api = await openApi(settings.namespace);
  const tokens = openTokens(serviceToken);
  const relay = { platformUrl: platform.url, serviceToken, tokens, models, routes, port: settings.port };
  await openRelay(relay);
  if (!settings.needsPolicy)
    console.error(
      'Network policies of the cluster are not tested: missions may reach hosts that their environment does not allow.',
    );
  const jobs = openJobs(api, stopping);
  await preflight(api, jobs, settings, limits, api.server(), stopping);
  const megabytes = (bytes: number) => String(Math.floor(bytes / 1024 ** 2));
  const variables = {
    ...settings.podVariables,
    MEMORY_MB: megabytes(limits.memoryBytes),
    DISK_MB: megabytes(limits.diskBytes),
    PROCESSES: String(limits.processes),
    MISSION_MODELS: vendors.filter((vendor) => models[vendor]).join(','),
    HEARTBEAT_MS: String(pace.heartbeat),
    SAMPLE_MS: String(pace.sample),
    FLUSH_MS: String(pace.flush),
    GRACE_MS: String(pace.grace),
    TIMEOUT_MS: String(pace.timeout),
    CHECKPOINT_MS: String(pace.checkpoint),
  };
  const missions = { platform, settings, tokens, found, limits, variables, heartbeatMs: pace.heartbeat };
  return openCluster(jobs, { ...missions, maxMs: pace.timeout }, stopping);
}
