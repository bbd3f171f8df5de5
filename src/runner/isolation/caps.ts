// Limits memory and processes of missions: with cgroups of the kernel if available; otherwise with rlimits (getrlimit(2)) for the
// processes, and by the runner itself, which measures the memory and ends a mission above its limit.
import type { Limits } from '../contract.ts';
import { newAccount } from './accounts.ts';
import { findCgroups, type OpenCgroup } from './cgroup.ts';
import { isCapping } from './engine.ts';
import type { Level } from './level.ts';
import { makePlace } from './place.ts';
import { startProcess } from './process.ts';
import { commandFor } from './script-isolation.ts';

export interface Caps {
  /** Opens control groups; null if they are not available. */
  cgroups: OpenCgroup | null;
  /** Whether rlimits limit the number of processes. */
  isCounting: boolean;
  /** Whether rlimits limit the size of a file. */
  isSizing: boolean;
  /** Whether the kernel ends missions first when the machine runs out of memory. */
  isFirstToGo: boolean;
  description: string;
  /** A short description for the list of runtimes. */
  label: string;
}

/**
 * Caps for missions in containers. The runner itself limits nothing here, because the container engine limits the memory and the processes
 * of each container.
 */
export const cappedByContainers: Caps = {
  cgroups: null,
  isCounting: false,
  isSizing: false,
  isFirstToGo: false,
  description: 'Memory and processes of each mission are capped by its container.',
  label: 'capped',
};

/** The limits that this engine can set for containers. */
export const capsOfContainers = (program: string): Caps =>
  isCapping(program)
    ? cappedByContainers
    : {
        ...cappedByContainers,
        description:
          'Memory of each mission is measured, and its processes are NOT capped: Podman without root cannot cap them on cgroups of version 1.',
        label: 'memory measured',
      };

const megabytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

/** Error of a mission that exceeded its memory limit. */
export const overMemory = ({ memoryBytes }: Limits): string =>
  `It exceeded its memory limit: ${megabytes(memoryBytes)} MB.`;
export const overDisk = ({ diskBytes }: Limits): string => `It exceeded its disk limit: ${megabytes(diskBytes)} MB.`;

/**
 * The command prefix that starts a program with rlimits inside its isolation, where only its own processes count. One process may reserve
 * four times the memory limit, because programs reserve more than they use; the runner measures the actual use.
 */
export function prefixOf(caps: Caps, { memoryBytes, processes, diskBytes }: Limits): string[] {
  const rlimits = [
    ...(caps.isCounting ? [`--nproc=${processes}`, `--data=${4 * memoryBytes}`] : []),
    ...(caps.isSizing ? [`--fsize=${diskBytes}`] : []),
  ];
  return [
    ...(caps.isFirstToGo ? ['choom', '-n', '1000', '--'] : []),
    ...(rlimits.length > 0 ? ['prlimit', ...rlimits, '--'] : []),
  ];
}

/** The limits that work for missions at this level of isolation; each is tested with a real process. */
export async function chooseCaps(level: Level, find = findCgroups, tried = printed): Promise<Caps> {
  const cgroups = await find();
  // Without a separate user or namespace, the processes of a mission would be counted together with all other processes of this user.
  const isCountable = !cgroups && (level !== 'none' || process.getuid?.() === 0);
  const [adjusted, counted, sized] = await Promise.all([
    tried(level, ['choom', '-n', '1000', '--'], 'cat /proc/self/oom_score_adj'),
    isCountable ? tried(level, ['prlimit', '--nproc=20', '--'], bomb) : '',
    tried(level, ['prlimit', '--fsize=4096', '--'], 'head -c 9999 /dev/zero > big; wc -c < big'),
  ]);
  const isCounting = counted.includes('begun') && !counted.includes('done');
  const isFirstToGo = adjusted.includes('1000');
  const has = [cgroups !== null, isCounting] as const;
  const isSizing = sized.includes('4096');
  return { cgroups, isCounting, isSizing, isFirstToGo, description: describe(...has), label: labelOf(...has) };
}

const labelOf = (hasCgroups: boolean, isCounting: boolean): string =>
  hasCgroups ? 'capped by cgroups' : isCounting ? 'processes capped by rlimits, memory measured' : 'memory measured';

function describe(hasCgroups: boolean, isCounting: boolean): string {
  if (hasCgroups) return 'The kernel caps memory and processes of each mission (cgroups).';
  const measured = 'a mission that exceeds its memory limit when measured is ended.';
  return isCounting
    ? `Processes of each mission are capped by rlimits; cgroups are not available here: ${measured}`
    : `Processes of missions are NOT capped (neither cgroups nor rlimits work here); ${measured}`;
}

const bomb =
  'echo begun; for i in 1 2 3 4 5 6; do for j in 1 2 3 4 5; do sleep 9 >/dev/null 2>&1 & done; done; echo done';

/** Runs the script at this level of isolation, with the prefix before the command that executes it, and returns what the script prints. */
async function printed(level: Level, prefix: string[], script: string): Promise<string> {
  if (process.platform !== 'linux') return '';
  const account = await newAccount();
  const place = await makePlace(script, account);
  try {
    const wrap = () => commandFor(level, place, prefix);
    const env = { PATH: process.env.PATH ?? '' };
    const launch = { cwd: place.work, env, account, graceMs: 0, isIsolated: level !== 'none', wrap };
    let text = '';
    const out = (line: string) => {
      text += line;
    };
    const child = startProcess(launch, {
      program: '',
      args: [],
      hasInput: false,
      maxLineBytes: 1_000,
      out,
      err: () => {},
    });
    place.guard(child.pid);
    await child.ended;
    await child.end();
    return text;
  } catch {
    return '';
  } finally {
    await place.remove();
  }
}
