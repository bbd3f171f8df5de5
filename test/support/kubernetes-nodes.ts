// Runs pods as processes of this machine in bubblewrap: each container has its user, its mounts, a root that it cannot write to, and its
// own processes. There are no images: all containers see the programs of this machine, and the runner is this project's build. Limits
// and networks are not enforced: pods share the network of this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { unprivilegedOptions } from '../../src/runner/isolation/bubblewrap.ts';
import { projectFolder } from './processes.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of the cluster have any shape
type Json = any;

export interface PodProcesses {
  start(pod: Json, on: { changed(status: Json): void }): void;
  /** Kills all processes of a pod, without any change of its status. */
  end(name: string): void;
  /** Sends SIGTERM to the first process of each container of a pod. */
  ask(name: string): void;
  /** Names of pods with processes. */
  running(): string[];
  /** Output of the containers of all pods. */
  output(): string;
  /** The process that runs a container of the pod. */
  processOf(name: string, container: string): ChildProcess | undefined;
  close(): Promise<void>;
}

const freePorts = async (count: number): Promise<number[]> => {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  for (const server of servers) server.close();
  return ports;
};

/** The processes that bubblewrap has started: the first process of a container. */
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);

function parentOf(pid: number): number | null {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

/** Creates nodes that run pods as processes. `runner` is the command that a container with the runner's image starts. */
export function openNodes(folder: string, runner: string[]): PodProcesses {
  const pods = new Map<string, Map<string, ChildProcess>>();
  /**
   * The name of each pod's folder, by the name of the pod. The two differ, because a pod that replaces another pod has the same name as
   * that pod.
   */
  const places = new Map<string, string>();
  let started = 0;
  let output = '';
  const placeOf = (pod: string): string => path.join(folder, places.get(pod)!);

  /**
   * Returns the arguments of bubblewrap for executing the command of a container. The command sees only the folders of the system, the built
   * programs of the service and the volumes of the container.
   */
  function enclosed(pod: string, { volumeMounts, image }: Json, user: number, command: string[]): string[] {
    const mounts = [...volumeMounts].sort((a: Json, b: Json) => a.mountPath.length - b.mountPath.length);
    const system = ['/usr', '/etc', '/opt', path.dirname(process.execPath)];
    // The runner's image also contains the stand-in programs of harnesses, which are in test/support.
    const programs = ['dist', ...(image.includes('runner') ? ['test/support'] : [])].map((name) =>
      path.join(projectFolder, name),
    );
    const readable = (at: string) => ['--ro-bind-try', at, at];
    return [
      ...[...unprivilegedOptions(), '--share-net', '--as-pid-1'],
      ...['--uid', String(user), '--gid', String(user)],
      ...system.flatMap(readable),
      ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
      ...['--proc', '/proc', '--dev', '/dev'],
      ...mounts.flatMap(({ name, mountPath, subPath = '', readOnly }: Json) => [
        readOnly ? '--ro-bind' : '--bind',
        path.join(placeOf(pod), name, subPath),
        mountPath,
      ]),
      // These folders are bound after the volumes. If the checkout is below /tmp, the pod's own /tmp would otherwise hide them.
      ...programs.flatMap(readable),
      ...['--remount-ro', '/', '--', ...command],
    ];
  }

  function run({ metadata, spec }: Json, container: Json, ports: number[]): ChildProcess {
    const pod = metadata.name;
    const { command, args = [], env = [] } = container;
    for (const { name, subPath = '' } of container.volumeMounts)
      mkdirSync(path.join(placeOf(pod), name, subPath), { recursive: true });
    const fieldOf = ({ fieldRef }: Json) =>
      fieldRef.fieldPath.split('.').reduce((at: Json, key: string) => at[key], { metadata });
    const variables = Object.fromEntries(
      env.map(({ name, value, valueFrom }: Json) => [name, valueFrom ? fieldOf(valueFrom) : value]),
    );
    // In a cluster each pod has its own network, so several pods may use the same ports; here they need different ports.
    if (variables.MISSION_PORTS) variables.MISSION_PORTS = ports.join(',');
    const rest = enclosed(pod, container, spec.securityContext.runAsUser, command ?? [...runner, ...args]);
    const options = { env: { PATH: process.env.PATH, ...variables }, detached: true } as const;
    const child = spawn('bwrap', rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes) => {
        output += `${container.name}: ${bytes}`;
        (child as Json).tail = ((child as Json).tail ?? '') + bytes;
      });
    pods.get(pod)?.set(container.name, child);
    return child;
  }

  const exitOf = async (child: ChildProcess): Promise<Json> => {
    const [code, signal] = await once(child, 'close');
    const exitCode = code ?? 137;
    const tail = (child as Json).tail as string | undefined;
    return {
      terminated: {
        exitCode,
        reason: exitCode === 0 ? 'Completed' : 'Error',
        ...(exitCode !== 0 && tail && { message: tail.trim() }),
        ...(signal && { signal: 9 }),
      },
    };
  };

  async function runPod(pod: Json, changed: (status: Json) => void): Promise<void> {
    const { metadata, spec } = pod;
    const { name } = metadata;
    const containers = new Map<string, ChildProcess>();
    pods.set(name, containers);
    places.set(name, (++started).toString(36));
    const place = placeOf(name);
    const isHere = () => pods.get(name) === containers;
    const ports = await freePorts(3);
    for (const container of spec.initContainers ?? []) {
      if (!isHere()) return;
      const state = await exitOf(run(pod, container, ports));
      if (!isHere()) return;
      if (state.terminated.exitCode !== 0)
        return changed({ phase: 'Failed', initContainerStatuses: [{ name: container.name, state }] });
    }
    const states: Json[] = spec.containers.map((container: Json) => ({ name: container.name, state: { running: {} } }));
    const ends = spec.containers.map(async (container: Json, at: number) => {
      const state = await exitOf(run(pod, container, ports));
      states[at] = { name: container.name, state };
    });
    changed({ phase: 'Running', containerStatuses: states.slice() });
    await Promise.all(ends);
    if (!isHere()) return;
    pods.delete(name);
    const isDone = states.every(({ state }) => state.terminated.exitCode === 0);
    changed({ phase: isDone ? 'Succeeded' : 'Failed', containerStatuses: states });
    rmSync(place, { recursive: true, force: true });
  }

  function end(name: string): void {
    const containers = pods.get(name);
    pods.delete(name);
    for (const { pid } of containers?.values() ?? []) {
      try {
        process.kill(-pid!, 'SIGKILL');
      } catch {}
    }
  }

  return {
    start: (pod, { changed }) =>
      void runPod(pod, changed).catch((error) => {
        output += `${error}\n`;
      }),
    end,
    ask(name) {
      for (const { pid } of pods.get(name)?.values() ?? [])
        for (const first of childrenOf(pid!)) process.kill(first, 'SIGTERM');
    },
    running: () => [...pods.keys()],
    output: () => output,
    processOf: (name, container) => pods.get(name)?.get(container),
    async close() {
      for (const name of [...pods.keys()]) end(name);
    },
  };
}
