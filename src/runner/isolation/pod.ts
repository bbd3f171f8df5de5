// The containers of a mission in a pod of a cluster (docs/decisions/0077-a-pod-per-mission.md). The runner of the mission is in a container
// of the same pod. In each of the other containers, a starter starts programs for the runner; these containers share only folders with the
// runner.
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { commonPaths, ports } from './cell.ts';
import { bounded, type Container, type Containers, type Pod } from './engine.ts';
import { clientProgram } from './pod-programs.ts';

/**
 * The containers of a mission: one for agents and scripts, one for agents that must not change the checkout (`reader`), and for each of
 * these two, one for the MCP servers of its agents. A server has the same access to the checkout as its agent.
 */
export const podContainers = ['agent', 'reader', 'servers', 'reader-servers'] as const;
export type PodContainer = (typeof podContainers)[number];

/** Socket of the starter in a container, below the folder of the mission. */
export const starterSocket = (folder: string, name: PodContainer): string => `${folder}/start-${name}/socket`;

/** Time limit for sending a signal to a program. */
const signalMs = 5_000;

/**
 * Maximum number of characters of a starter's answer to a signal. The answer is not trusted, because programs in a container can replace
 * the socket of its starter.
 */
const maxAnswer = 1_000;

/** Sends a signal through the starter. Returns whether the program has exceeded its memory; false when the container has ended. */
export function sendSignal(socket: string, id: string, signal: NodeJS.Signals): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = '';
    const to = connect(socket);
    const timer = setTimeout(() => to.destroy(), signalMs);
    to.on('error', () => {}).on('data', (bytes) => {
      answer += bytes;
      if (answer.length > maxAnswer) to.destroy();
    });
    to.once('close', () => {
      clearTimeout(timer);
      resolve(isOverMemoryIn(answer));
    });
    to.end(`${JSON.stringify({ id, signal })}\n`);
  });
}

function isOverMemoryIn(answer: string): boolean {
  if (answer.length > maxAnswer) return false;
  try {
    return JSON.parse(answer).isOverMemory === true;
  } catch {
    return false;
  }
}

/**
 * The pod of this runner. All its containers share one network, so the ports and paths of missions are fixed here.
 * @param folder The folder of the mission.
 */
export function openPod(folder: string, [gateway, egress, server]: number[]): Pod {
  Object.assign(ports, { gateway, egress, server });
  Object.assign(commonPaths, { work: `${folder}/work`, home: `${folder}/home` });
  return {
    folder,
    open(place, limits): Container {
      const id = randomUUID();
      const isServer = place.home !== commonPaths.home;
      const readers: PodContainer = isServer ? 'reader-servers' : 'reader';
      const name = place.isReadOnly ? readers : isServer ? 'servers' : 'agent';
      const socket = starterSocket(folder, name);
      let isOverMemory = false;
      return {
        name: id,
        wrap(program, args, env) {
          const { PATH: _, ...passedEnv } = env;
          const [file, ...rest] = bounded(limits, [
            path.isAbsolute(program) ? realpathSync(program) : program,
            ...args,
          ]);
          const started = { id, file, args: rest, env: passedEnv, cwd: place.work };
          const variables = { PATH: process.env.PATH ?? '', POD_PROGRAM: JSON.stringify(started) };
          return [process.execPath, ['--eval', clientProgram, socket], variables];
        },
        // Processes of other containers are invisible here.
        firstProcess: async () => null,
        ask: async () => void (await sendSignal(socket, id, 'SIGTERM')),
        async remove() {
          isOverMemory ||= await sendSignal(socket, id, 'SIGKILL');
        },
        isOverMemory: async () => isOverMemory,
      };
    },
  };
}

/** Describes the containers of a pod by a `Containers` object, so that callers use them like the containers of Docker or Podman. */
export const containersOf = (pod: Pod, image: string): Containers => ({ program: '', image, pod });

/**
 * Connects to the starters of all containers of the pod. Each container ends when its connection ends, so the pod ends when its runner
 * does. @throws when a container has not started in time
 */
export async function holdContainers(folder: string, timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs;
  const hold = async (name: PodContainer): Promise<void> => {
    while (!(await isHeld(starterSocket(folder, name)))) {
      if (Date.now() > until) throw new Error(`the container ${name} of the pod has not started`);
      await wait(50);
    }
  };
  await Promise.all(podContainers.map(hold));
}

function isHeld(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const to = connect(socket);
    to.once('data', () => resolve(true)).on('error', () => resolve(false));
    to.write(`${JSON.stringify({ hold: true })}\n`);
  });
}
