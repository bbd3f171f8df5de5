// Missions of the stand-in cluster, while its nodes, its runner with the relay, and its API server are killed one after the other.
import { setTimeout as wait } from 'node:timers/promises';
import type { startKubernetes } from './fake-kubernetes.ts';
import type { LightNodes } from './light-nodes.ts';

export interface Scene {
  cluster: Awaited<ReturnType<typeof startKubernetes>>;
  nodes: LightNodes;
  /** Kills the runner that starts the cluster's pods and serves their relay, and starts another runner. */
  killRunner(): Promise<void>;
  /** Kills a process of the service; absent when it is not killed. */
  killService?(): Promise<void>;
  /** Called after a kill. */
  killed?(what: string): void;
}

export interface Kills {
  nodes: number;
  pods: number;
  runners: number;
  apiServers: number;
  services: number;
}

/** Time for which a killed API server is unavailable. */
const awayMs = 1_500;

/** Kills something every `everyMs` until stopped, or `most` times. */
export function startClusterKills(scene: Scene, everyMs: number, most = Number.POSITIVE_INFINITY) {
  const { cluster, nodes, killRunner, killService, killed = () => {} } = scene;
  const counts: Kills = { nodes: 0, pods: 0, runners: 0, apiServers: 0, services: 0 };
  const stopping = new AbortController();
  const ways = [
    async () => {
      const lost = await nodes.lose();
      counts.nodes++;
      counts.pods += lost.length;
      killed(`a node with ${lost.length} pods`);
      for (const name of lost) cluster.loseNode(name);
    },
    async () => {
      counts.runners++;
      killed('the runner');
      await killRunner();
    },
    async () => {
      counts.apiServers++;
      killed('the API server');
      cluster.away(true);
      await wait(awayMs);
      cluster.away(false);
      // The API server no longer knows earlier resource versions, so watches begin with a list again.
      cluster.forget();
    },
    ...(killService
      ? [
          async () => {
            counts.services++;
            killed('a process of the service');
            await killService();
          },
        ]
      : []),
  ];
  async function kill(): Promise<void> {
    for (let n = 0; n < most; n++) {
      await wait(everyMs, undefined, { signal: stopping.signal });
      await ways[n % ways.length]!();
    }
  }
  const done = kill().catch((error) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    counts,
    /** Resolves when the last kill is over. */
    done,
    async stop(): Promise<void> {
      stopping.abort();
      await done;
    },
  };
}

/** Objects left in the cluster, in words, except templates and pools that wait for further missions; empty if there are none. */
export function leftIn({ objects }: Scene['cluster']): string {
  const waiting = [...objects.sandboxwarmpools.values()].reduce((sum, { spec }) => sum + spec.replicas, 0);
  const left = { jobs: objects.jobs.size, claims: objects.sandboxclaims.size };
  const surplus = { sandboxes: objects.sandboxes.size - waiting, pods: objects.pods.size - waiting };
  const wrong = Object.entries({ ...left, ...surplus }).filter(([, count]) => count !== 0);
  return wrong.map(([what, count]) => `${count} ${what}`).join(', ');
}
