// Isolation of missions: a cell, a container, or none if the operator requests that. Scripts are isolated like
// agents; if agents are refused, scripts use the strongest available isolation.
import { execFile } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Account, Limits } from '../contract.ts';
import { isOnLoopback } from '../network/addresses.ts';
import { proxyVariables } from '../network/variables.ts';
import { newAccount } from './accounts.ts';
import { commonPaths, inCell, packagesOf, ports, socketsOf } from './cell.ts';
import { findContainers, openContainer, runInContainer } from './container.ts';
import type { Container } from './engine.ts';
import { hasEgress, type Isolation, type Level } from './level.ts';
import { cacheVariables } from './package-caches.ts';
import { makePlace, type Place } from './place.ts';
import type { HarnessLaunch, Launch } from './process.ts';
import { inPath, type RunProgram, reasonOf, runDirectly } from './programs.ts';
import { chooseScriptIsolation, commandFor } from './script-isolation.ts';

/** Runs a shell script in the agent's isolation and returns its output. */
export type RunScript = (script: string, args: string[], timeoutMs: number) => Promise<string>;

const levels = ['cell', 'container', 'none'] as const satisfies readonly Level[];

const descriptions = {
  cell: 'Missions run in cells by bubblewrap: no network but the hosts of their environment, and the model and the platform through the gateway of this runner, no keys, no files but system programs and their own.',
  container:
    'Missions run in containers: no network but the hosts of their environment, and the model and the platform through the gateway of this runner, no keys, no capabilities, no files but those of the image and their own.',
  none: 'Agents are NOT isolated (ISOLATION=none): they can use the network regardless of the policy of their environment, and read everything that their user can read.',
};

/**
 * Selects and tests the isolation of agents. @param wanted `cell`, `container`, `none`, or undefined: a cell if possible. @returns null
 * when no cell is possible and `none` was not requested: agents are refused then. @throws when `wanted` is not available
 */
export async function chooseIsolation(
  wanted: string | undefined,
  platformUrl: string,
  findObstacle = obstacleToCells,
  find = () => findContainers(),
): Promise<Isolation | null> {
  if (wanted !== undefined && !levels.some((level) => level === wanted))
    throw new Error('ISOLATION: must be cell, container or none.');
  if (wanted === 'none') {
    if (!isOnLoopback(platformUrl))
      throw new Error('ISOLATION=none is allowed only if the platform runs on this machine.');
    return { level: 'none', description: descriptions.none };
  }
  if (wanted === 'container') {
    const containers = await find().catch((error) => {
      throw new Error(`ISOLATION=container does not work on this machine: ${reasonOf(error)}`);
    });
    const { program, image } = containers;
    return {
      level: 'container',
      description: `${descriptions.container} (${path.basename(program)}, ${image})`,
      containers,
    };
  }
  const obstacle = await findObstacle();
  if (!obstacle) return { level: 'cell', description: descriptions.cell };
  if (wanted) throw new Error(`ISOLATION=cell does not work on this machine: ${obstacle}.`);
  return null;
}

/**
 * Selects the isolation of scripts. The setting CONFINEMENT can name it. Otherwise, scripts get the same isolation as agents or, if agents
 * are not isolated, the strongest isolation that works on this machine.
 */
export async function isolationOfScripts(wanted: string | undefined, agents: Isolation | null): Promise<Isolation> {
  if ((wanted ?? 'auto') === 'auto' && agents && agents.level !== 'none') return agents;
  return chooseScriptIsolation(wanted);
}

/** Runs a program in a new cell and returns its output. */
const runInCell: RunProgram = async (program, args) => {
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

/** Runs programs in the same isolation as agents. @throws with the reason when a program cannot be accessed from inside the isolation */
export const runIn = (isolation: Isolation | null): RunProgram =>
  isolation?.containers
    ? reachable('container', runInContainer(isolation.containers))
    : isolation?.level === 'cell'
      ? reachable('cell', runInCell)
      : runDirectly;

/**
 * Adds the name of the inaccessible file to an error. The error of the system call does not say that programs in an isolation run as
 * another user than the runner and see other files.
 */
const reachable =
  (level: 'cell' | 'container', run: RunProgram): RunProgram =>
  async (program, args) => {
    try {
      return await run(program, args);
    } catch (error) {
      const { message } = error as Error;
      const closed = /EACCES|Permission denied/.test(message) && closedTo(program, level);
      if (closed) throw new Error(`the user that agents run as cannot read ${closed}`);
      if (/ENOENT/.test(message))
        throw new Error(`the ${level} lacks the program, its interpreter or one of its libraries`);
      throw error;
    }
  };

/**
 * Checks whether the users of missions can enter each folder in the path of a program and read the program. Returns the first folder or file to which
 * these users have no access. For a container, the check begins at the folder that the engine mounts (`packagesOf`).
 */
function closedTo(program: string, level: 'cell' | 'container'): string | undefined {
  // Only a runner that is root gives its missions separate users.
  if (process.getuid?.() !== 0) return undefined;
  const real = realpathSync(program);
  const top = level === 'container' ? packagesOf(program) : '/';
  const steps = real.split('/').map((_, i, names) => names.slice(0, i + 1).join('/') || '/');
  return steps
    .filter((at) => at.startsWith(top))
    .find((at) => {
      const needed = at === real ? 0o005 : 0o001;
      return (statSync(at).mode & needed) !== needed;
    });
}

/** Beginning of the line that a runner prints when it refuses agents; scripts/demo-agent.ts waits for it. */
export const agentsRefused = 'Agents are refused';

/** The reason why agents cannot run in cells on this machine; null if they can. */
export async function obstacleToCells(): Promise<string | null> {
  if (process.platform !== 'linux' || !inPath('bwrap', process.env.PATH)) return 'there is no bubblewrap';
  return reachable('cell', runInCell)(process.execPath, ['--version']).then(
    () => null,
    (error) => `bubblewrap cannot run Node.js: ${reasonOf(error)}`,
  );
}

/** Runs shell scripts in this mission folder, isolated like the harnesses of the mission, even while a harness works. */
export const scriptIn =
  (isolation: Isolation, place: Place, account: Account | undefined, limits: Limits, prefix: string[]): RunScript =>
  async (script, args, timeout) => {
    const { level, containers } = isolation;
    // The container of the script does not join the network of the mission's services. A harness may already run in that network, and the
    // container of the script would listen on the same ports as the container of the harness.
    const container = containers && openContainer({ ...containers, network: undefined }, place, account, limits, false);
    const { wrap, env: ownEnv, cwd } = launchOf(level, place, account, 0, false, prefix, container);
    const env = { ...ownEnv, HOME: place.home, GIT_CONFIG_NOSYSTEM: '1' };
    const [file, rest, engineEnv] = wrap(container ? 'sh' : '/bin/sh', ['-c', script, 'sh', ...args], env);
    const options = { cwd, env: engineEnv ?? env, timeout, killSignal: 'SIGKILL' } as const;
    try {
      return (await promisify(execFile)(file, rest, container ? options : { ...options, ...account })).stdout;
    } finally {
      await container?.remove();
    }
  };

/** The launch of a harness in this mission folder. */
export function launchOf(
  level: Level,
  place: Place,
  account: Account | undefined,
  graceMs: number,
  isServer: boolean,
  prefix: string[] = [],
  container?: Container,
  hasDevice = false,
): HarnessLaunch {
  const wraps: Record<Level, Launch['wrap']> = {
    cell: (program, args) => inCell(place, program, args, isServer, prefix, hasDevice),
    container: (program, args, env) => container!.wrap(program, args, env),
    unshare: (program, args) => commandFor('unshare', place, prefix, [program, ...args]),
    none: (program, args) => commandFor('none', place, prefix, [program, ...args]),
  };
  return {
    cwd: place.work,
    // A cell or container has its own PATH.
    env: {
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      ...(hasEgress(level) && {
        ...cacheVariables(commonPaths.home),
        ...proxyVariables(ports.egress, place.trust, commonPaths.home),
      }),
    },
    account,
    graceMs,
    isIsolated: level !== 'none',
    wrap: wraps[level],
    container,
    server: hasEgress(level) ? { port: ports.server, socket: socketsOf(place).server } : { port: 0, socket: null },
  };
}
