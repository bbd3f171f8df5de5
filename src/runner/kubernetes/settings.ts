// Settings of a runner whose missions run in pods of a cluster.
import { quit, setting } from '../settings.ts';

export interface ClusterSettings {
  namespace: string | undefined;
  /** URL of the relay for pods: the Service of this runner. */
  relayUrl: string;
  port: number;
  /** Image of the runner in pods, also used for missions whose template names no image. */
  runnerImage: string;
  missionImage: string;
  runtimeClassName: string | undefined;
  serviceAccountName: string | undefined;
  imagePullSecrets: string[];
  /** Whether missions run only in clusters that enforce a NetworkPolicy. */
  needsPolicy: boolean;
  /** User id of the programs in all containers. */
  user: number;
  /** CPUs of a mission whose template states no number, and the maximum for any mission. */
  cpus: number;
  /** Time for a pod to start, which includes the pull of its image. */
  startMs: number;
  /** When the runner shuts down, it waits at most this time until the open requests of missions have ended. */
  drainMs: number;
  /** Settings of this runner that are passed on to the runners in pods. */
  podVariables: Record<string, string>;
  /** Time that a finished Job or SandboxClaim is kept. */
  keepSeconds: number;
  /** Whether the runner creates SandboxClaims instead of Jobs; `auto` means that it does so if the cluster supports them. */
  sandboxes: 'auto' | 'required' | 'off';
  /** Number of warm pods per template, and the time without a mission after which they end. */
  warmPods: number;
  warmKeepSeconds: number;
}

/** Defaults of settings that this machine does not determine. */
export const clusterDefaults = { runsAtOnce: 10, memoryMb: 8_192, diskMb: 20_480 };

/** The settings of the cluster; null unless `RUNTIME` is `kubernetes`. */
export function clusterSettings(env: NodeJS.ProcessEnv): ClusterSettings | null {
  const { RUNTIME, KUBERNETES_RELAY_URL = '', KUBERNETES_RUNNER_IMAGE = '', KUBERNETES_NAMESPACE } = env;
  if (!RUNTIME || RUNTIME === 'machine') return null;
  if (RUNTIME !== 'kubernetes') quit('RUNTIME: must be machine or kubernetes.');
  if (!URL.canParse(KUBERNETES_RELAY_URL)) quit('KUBERNETES_RELAY_URL: must be the address of this runner for pods.');
  if (!['', 'required', 'ignored'].includes(env.KUBERNETES_NETWORK_POLICY ?? ''))
    quit('KUBERNETES_NETWORK_POLICY: must be required or ignored.');
  const { KUBERNETES_SANDBOXES: sandboxes = 'auto' } = env;
  if (sandboxes !== 'auto' && sandboxes !== 'required' && sandboxes !== 'off')
    quit('KUBERNETES_SANDBOXES: must be auto, required or off.');
  if (!KUBERNETES_RUNNER_IMAGE) quit('KUBERNETES_RUNNER_IMAGE: must be the image of the runner.');
  return {
    namespace: KUBERNETES_NAMESPACE || undefined,
    relayUrl: KUBERNETES_RELAY_URL.replace(/\/+$/, ''),
    port: setting('KUBERNETES_RELAY_PORT', 8_080),
    runnerImage: KUBERNETES_RUNNER_IMAGE,
    missionImage: env.KUBERNETES_MISSION_IMAGE || 'node:22-bookworm',
    runtimeClassName: env.KUBERNETES_RUNTIME_CLASS || undefined,
    serviceAccountName: env.KUBERNETES_SERVICE_ACCOUNT || undefined,
    imagePullSecrets: (env.KUBERNETES_PULL_SECRETS ?? '').split(/[\s,]+/).filter(Boolean),
    needsPolicy: env.KUBERNETES_NETWORK_POLICY !== 'ignored',
    user: setting('KUBERNETES_USER', 10_001),
    cpus: setting('KUBERNETES_CPUS', 2),
    startMs: setting('KUBERNETES_START_MS', 10 * 60_000),
    drainMs: setting('KUBERNETES_DRAIN_MS', 25_000, 0),
    podVariables: Object.fromEntries(
      ['ATTESTATION_NOTES', 'SETUP_TIMEOUT_MS', 'V8_FLAGS'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ),
    keepSeconds: setting('KUBERNETES_KEEP_SECONDS', 300),
    sandboxes,
    warmPods: setting('KUBERNETES_WARM_PODS', 0, 0),
    warmKeepSeconds: setting('KUBERNETES_WARM_KEEP_SECONDS', 3_600),
  };
}
