// How agents are kept apart from the machine: in a cell, or, when the operator asks for that, not at all. Scripts have a
// confinement of their own, which need not reach any network.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Limits } from './caps.ts';
import { inCell, ports, socketsOf } from './cell.ts';
import type { RunScript } from './checkpoint.ts';
import { type Account, behind, newAccount } from './confinement.ts';
import { askInContainer, type Container, type Containers, findContainers, openContainer } from './container.ts';
import { type Ask, askDirectly } from './harness/discovery.ts';
import type { Launch, Task } from './harness/port.ts';
import { makePlace, type Place } from './place.ts';

const levels = ['cell', 'container', 'none'] as const;
export type Level = (typeof levels)[number];

export interface Isolation {
  level: Level;
  /** For the log and for each sandbox: what an agent can reach. */
  description: string;
  /** At the level `container`. */
  containers?: Containers;
}

const descriptions: Record<Level, string> = {
  cell: 'Agents run in cells by bubblewrap: no network but the model and the platform through the gateway of this runner, no keys, no files but system programs and their own.',
  container:
    'Agents run in containers: no network but the model and the platform through the gateway of this runner, no keys, no capabilities, no files but those of the image and their own.',
  none: 'Agents are NOT isolated (ISOLATION=none): they can use the network and read whatever their user can.',
};

/**
 * @param wanted `cell`, `container`, `none`, or undefined: a cell where there can be one.
 * @returns null when there can be no cell and nobody asked for none: agents are refused then.
 * @throws when `wanted` is not to be had
 */
export async function chooseIsolation(
  wanted: string | undefined,
  platformUrl: string,
  offered = isCellOffered,
  find = () => findContainers(process.env),
): Promise<Isolation | null> {
  if (wanted !== undefined && !levels.includes(wanted as Level))
    throw new Error('ISOLATION: must be cell, container or none.');
  if (wanted === 'none') {
    if (!isLoopback(platformUrl)) throw new Error('ISOLATION: none is for a platform on this machine alone.');
    return { level: 'none', description: descriptions.none };
  }
  if (wanted === 'container') {
    const containers = await find().catch((error) => {
      throw new Error(`ISOLATION: container does not work on this machine: ${error.message.trim().split('\n').at(-1)}`);
    });
    const { program, image } = containers;
    return {
      level: 'container',
      description: `${descriptions.container} (${path.basename(program)}, ${image})`,
      containers,
    };
  }
  if (await offered()) return { level: 'cell', description: descriptions.cell };
  if (wanted) throw new Error('ISOLATION: cell does not work on this machine: bubblewrap cannot be run.');
  return null;
}

const isLoopback = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** Runs a program in a cell of its own and returns what it prints. */
export const askInCell: Ask = async (program, args) => {
  const account = await newAccount();
  const place = await makePlace('', account);
  try {
    const [file, rest] = inCell(place, program, args);
    const env = { PATH: process.env.PATH, HOME: place.home };
    const options = { ...account, cwd: place.work, env, timeout: 30_000, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(file, rest, options)).stdout;
  } finally {
    await place.remove();
  }
};

/** Runs programs as those of agents are run. */
export const askIn = (isolation: Isolation | null): Ask =>
  isolation?.containers ? askInContainer(isolation.containers) : isolation?.level === 'cell' ? askInCell : askDirectly;

const isCellOffered = async (): Promise<boolean> => {
  if (process.platform !== 'linux') return false;
  return askInCell(process.execPath, ['--version']).then(
    () => true,
    () => false,
  );
};

/** A shell script in this place, isolated as harnesses are there, also while one of them works. */
export const scriptIn =
  (isolation: Isolation, place: Place, account: Account | undefined, limits: Limits, prefix: string[]): RunScript =>
  async (script, args, timeout) => {
    const { level, containers } = isolation;
    const container = containers && openContainer(containers, place, account, limits, false);
    const { wrap, env: usual, cwd } = launchOf(level, place, account, 0, false, prefix, container);
    const env = { ...usual, HOME: place.home, GIT_CONFIG_NOSYSTEM: '1' };
    const [file, rest, engineEnv] = wrap(container ? 'sh' : '/bin/sh', ['-c', script, 'sh', ...args], env);
    const options = { cwd, env: engineEnv ?? env, timeout, killSignal: 'SIGKILL' } as const;
    try {
      return (await promisify(execFile)(file, rest, container ? options : { ...options, ...account })).stdout;
    } finally {
      await container?.remove();
    }
  };

/** How a harness is started in this place. */
export function launchOf(
  level: Level,
  place: Place,
  account: Account | undefined,
  graceMs: number,
  isServer: boolean,
  prefix: string[] = [],
  container?: Container,
): Launch & Pick<Task, 'server'> {
  const wraps: Record<Level, Launch['wrap']> = {
    cell: (program, args) => inCell(place, program, args, isServer, prefix),
    container: (program, args, env) => container!.wrap(program, args, env),
    none: (program, args) => behind(prefix, program, args),
  };
  return {
    cwd: place.work,
    // In a cell and in a container it gets another PATH.
    env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8' },
    account,
    graceMs,
    isConfined: level !== 'none',
    wrap: wraps[level],
    container,
    server: level === 'none' ? { port: 0, socket: null } : { port: ports.server, socket: socketsOf(place).server },
  };
}
