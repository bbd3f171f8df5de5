// Control groups of Linux, version 2 (cgroups(7)): the kernel limits memory and processes of a mission in its own group. Available to
// root, and to a runner with a delegated group (systemd: `Delegate=yes`).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from '../contract.ts';

/** The group of a mission. */
export interface Cgroup {
  folder: string;
  /** Moves a process into the group; processes that it starts will be in the group too. */
  take(pid: number): void;
  /** Whether the kernel has killed processes of the group for lack of memory. */
  isOverMemory(): Promise<boolean>;
  /** Ends all remaining processes of the group. */
  close(): Promise<void>;
}

export type OpenCgroup = (name: string, limits: Omit<Limits, 'diskBytes'>) => Cgroup;

/**
 * Finds a control group in which this runner can limit missions. Each candidate is tested: a real process must be ended when it exceeds the
 * memory limit of its group. Null if no candidate works.
 */
export async function findCgroups(candidates = ownGroups(), isWorking = isCapping): Promise<OpenCgroup | null> {
  for (const above of candidates) {
    try {
      const open = groupsBelow(above);
      if (await isWorking(open)) return open;
    } catch {
      // The runner is not allowed to divide this group.
    }
  }
  return null;
}

/** Folders of control groups in which the runner may create groups: its own group and, for root, also the topmost one. */
export function ownGroups(processFolder = '/proc/self', isRoot = process.getuid?.() === 0): string[] {
  try {
    const mounts = readFileSync(`${processFolder}/mountinfo`, 'utf8').split('\n');
    const mounted = mounts.find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];
    const groupPath = /^0::(.*)$/m.exec(readFileSync(`${processFolder}/cgroup`, 'utf8'))?.[1];
    if (!mounted || groupPath === undefined) return [];
    return [...new Set([path.join(mounted, groupPath), ...(isRoot ? [mounted] : [])])].map((at) =>
      at.replace(/\/$/, ''),
    );
  } catch {
    return [];
  }
}

const wanted = ['memory', 'pids'];
/** Period of the CPU limit in microseconds. */
const cpuPeriod = 100_000;

function groupsBelow(above: string): OpenCgroup {
  const offered = readFileSync(`${above}/cgroup.controllers`, 'utf8').trim().split(' ');
  if (!wanted.every((name) => offered.includes(name)))
    throw new Error('the cgroup controllers memory and pids are not delegated');
  const hasCpus = offered.includes('cpu');
  const controllers = [...wanted, ...(hasCpus ? ['cpu'] : [])].map((name) => `+${name}`).join(' ');
  const runner = `${above}/runner-${process.pid}`;
  mkdirSync(runner, { recursive: true });
  process.once('exit', () => removeEmpty(runner));
  try {
    writeFileSync(`${above}/cgroup.subtree_control`, controllers);
  } catch {
    divide(above, `${runner}-itself`, controllers);
  }
  writeFileSync(`${runner}/cgroup.subtree_control`, controllers);
  return (name, { cpus, memoryBytes, processes }) => {
    const folder = `${runner}/${name}`;
    mkdirSync(folder);
    const settings = {
      'memory.max': memoryBytes,
      'memory.oom.group': 1,
      'pids.max': processes,
      ...(cpus && hasCpus && { 'cpu.max': `${Math.ceil(cpus * cpuPeriod)} ${cpuPeriod}` }),
    };
    for (const [file, value] of Object.entries(settings)) writeFileSync(`${folder}/${file}`, String(value));
    // The file `memory.swap.max` is absent on a machine without swap.
    void writeFile(`${folder}/memory.swap.max`, '0', { flag: 'r+' }).catch(() => {});
    return {
      folder,
      take: (pid) => writeFileSync(`${folder}/cgroup.procs`, String(pid)),
      isOverMemory: async () => /^oom_kill [1-9]/m.test(await readFile(`${folder}/memory.events`, 'utf8')),
      close: () => removeGroup(folder),
    };
  };
}

/**
 * Moves the runner from the group `above` into its subgroup `leaf`. Linux enables controllers for the subgroups of a group only if no
 * process is in the group itself. @throws when other processes are in the group
 */
function divide(above: string, leaf: string, controllers: string): void {
  mkdirSync(leaf, { recursive: true });
  writeFileSync(`${leaf}/cgroup.procs`, String(process.pid));
  try {
    writeFileSync(`${above}/cgroup.subtree_control`, controllers);
  } catch (error) {
    writeFileSync(`${above}/cgroup.procs`, String(process.pid));
    removeEmpty(leaf);
    throw error;
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The kernel does not remove a group that still has processes.
  }
}

async function removeGroup(folder: string): Promise<void> {
  await writeFile(`${folder}/cgroup.kill`, '1', { flag: 'r+' }).catch(() => {});
  // The kernel removes a group once its last process has ended.
  for (let tries = 0; tries < 50; tries++) {
    if (
      await rmdir(folder).then(
        () => true,
        () => false,
      )
    )
      return;
    await wait(20);
  }
}

/**
 * The command that starts a program in a group. A shell waits until the runner has moved it into the group, and then becomes the program,
 * so that all processes of the program are in the group.
 */
export const startInGroup = (file: string, args: string[]): [program: string, args: string[]] => [
  'sh',
  ['-c', 'read -r go <&3; exec 3<&-; exec "$@"', 'gate', file, ...args],
];

/** Tests whether a group limits memory: `tail` must keep its input in memory until a newline comes, and gets 200 MB without a newline. */
async function isCapping(open: OpenCgroup): Promise<boolean> {
  const group = open('probe', { cpus: null, memoryBytes: 32 * 1024 ** 2, processes: 16 });
  try {
    const [file, args] = startInGroup('sh', ['-c', 'head -c 200000000 /dev/zero | tail']);
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    group.take(child.pid!);
    (child.stdio[3] as NodeJS.WritableStream).end('go\n');
    await ended;
    return await group.isOverMemory();
  } finally {
    await group.close();
  }
}
