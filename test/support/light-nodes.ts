// Opens nodes of the stand-in cluster. Each node is one process of this machine (light-node.mjs). The pods of a node are scripted runners
// within its process. They do no work but wait, so a test can have hundreds of missions.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  claimRun,
  finishRun,
  finishSandbox,
  finishStep,
  heartbeat,
  registerSandbox,
} from '../../src/runner/generated/operations.ts';
import type { PodProcesses } from './kubernetes-nodes.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of the cluster have any shape
type Json = any;

interface LightPod {
  name: string;
  node: ChildProcess;
  changed(status: Json): void;
}

export interface LightNodes extends PodProcesses {
  /** Kills the node with the most pods. Returns their names. */
  lose(): Promise<string[]>;
}

const program = fileURLToPath(new URL('light-node.mjs', import.meta.url));
const operations = { claimRun, registerSandbox, heartbeat, finishSandbox, finishStep, finishRun };
const texts = Object.fromEntries(Object.entries(operations).map(([name, { text }]) => [name, text]));

export function openLightNodes(count: number): LightNodes {
  /** Pods by uid. */
  const pods = new Map<string, LightPod>();
  let failures = '';
  let turn = 0;

  function startNode(): ChildProcess {
    const node = fork(program, { env: { PATH: process.env.PATH, HEARTBEAT_MS: '500' }, execArgv: [] });
    node.on('error', () => {}).send({ texts });
    node.on('message', ({ uid, failure }: { uid: string; failure: string }) => {
      const pod = pods.get(uid);
      pods.delete(uid);
      if (failure) failures += `${pod?.name}: ${failure}\n`;
      const terminated = failure
        ? { exitCode: 1, reason: 'Error', message: failure }
        : { exitCode: 0, reason: 'Completed' };
      pod?.changed({
        phase: failure ? 'Failed' : 'Succeeded',
        containerStatuses: [{ name: 'runner', state: { terminated } }],
      });
    });
    return node;
  }
  const nodes = Array.from({ length: count }, startNode);

  return {
    start({ metadata, spec }, { changed }) {
      const { name, uid } = metadata;
      const node = nodes[turn++ % nodes.length]!;
      const { env } = spec.containers.find((one: Json) => one.name === 'runner');
      const variables = Object.fromEntries(env.flatMap((one: Json) => (one.value ? [[one.name, one.value]] : [])));
      pods.set(uid, { name, node, changed });
      // The status follows later, as from a kubelet.
      setImmediate(() => {
        if (!pods.has(uid)) return;
        changed({ phase: 'Running', containerStatuses: [{ name: 'runner', state: { running: {} } }] });
        node.send({ start: { name, uid, env: variables } });
      });
    },
    end(name) {
      for (const [uid, pod] of pods) {
        if (pod.name !== name) continue;
        pods.delete(uid);
        if (pod.node.connected) pod.node.send({ end: uid });
      }
    },
    ask: () => {},
    running: () => [...pods.values()].map(({ name }) => name),
    output: () => failures,
    processOf: () => undefined,
    async lose() {
      const sizes = nodes.map((node) => [...pods.values()].filter((pod) => pod.node === node).length);
      const at = sizes.indexOf(Math.max(...sizes));
      const node = nodes[at]!;
      nodes[at] = startNode();
      node.kill('SIGKILL');
      await once(node, 'exit');
      return [...pods.values()].filter((pod) => pod.node === node).map(({ name }) => name);
    },
    async close() {
      for (const node of nodes) {
        node.kill('SIGKILL');
        await once(node, 'exit');
      }
    },
  };
}
