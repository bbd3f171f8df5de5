// Measures the processes of a mission: from /proc on Linux, with `ps` elsewhere.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { promisify } from 'node:util';

export interface ProcessSample {
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
}

const megabyte = 1024 * 1024;
const run = promisify(execFile);

/** Processor time is counted in hundredths of a second: a rate over less than half a second is noise. */
const shortestMs = 500;

/**
 * Returns a function that measures the group and all its descendants. CPU is measured since the previous call, in percent of all cores.
 * `limitBytes`: the memory limit.
 */
export function meter(group: number, limitBytes = totalmem()): () => Promise<ProcessSample> {
  let before = { t: Date.now(), cpuSeconds: 0, cpuPct: 0 };
  return async () => {
    const t = Date.now();
    const { cpuSeconds, bytes } = process.platform === 'linux' ? await fromProc(group) : await fromPs(group);
    const elapsed = t - before.t;
    if (elapsed >= shortestMs) {
      const share = (cpuSeconds - before.cpuSeconds) / ((elapsed / 1_000) * availableParallelism());
      before = { t, cpuSeconds, cpuPct: Math.min(100, Math.max(0, share * 100)) };
    }
    return {
      t,
      cpuPct: rounded(before.cpuPct),
      memUsedMb: rounded(bytes / megabyte),
      memTotalMb: rounded(limitBytes / megabyte),
    };
  };
}

const rounded = (n: number): number => Math.round(n * 100) / 100;

interface Use {
  cpuSeconds: number;
  bytes: number;
}
interface Stat {
  pid: number;
  /** Fields of /proc/PID/stat from the third one on (see proc(5)); times are in hundredths of a second. */
  field: string[];
}

/**
 * Reads a file of /proc, which is in memory; empty when its process has ended. The read is synchronous: an asynchronous read takes five
 * times the CPU time, and there is one file for each process of the machine.
 */
function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** All processes of the machine. */
function allStats(): Stat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    const text = readProc(`${pid}/stat`);
    return { pid: Number(pid), field: text.slice(text.lastIndexOf(')') + 2).split(' ') };
  });
}

/** Returns the processes of a process group and all their descendants, including the descendants that have moved to another group. */
function statsOf(group: number): Stat[] {
  const [members, others] = [new Map<number, Stat>(), new Map(allStats().map((one) => [one.pid, one]))];
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const one of others.values()) {
      const [, parent, itsGroup] = one.field.map(Number);
      if (itsGroup !== group && !members.has(parent!)) continue;
      members.set(one.pid, one);
      others.delete(one.pid);
    }
  }
  return [...members.values()];
}

/** The processes of a group, and their descendants, on Linux. */
export const membersOf = (group: number): number[] => statsOf(group).map(({ pid }) => pid);

/** The processes of a session, in all its groups, on Linux; none elsewhere. */
export function membersOfSession(session: number): number[] {
  const all = process.platform === 'linux' ? allStats() : [];
  return all.filter(({ field }) => Number(field[3]) === session).map(({ pid }) => pid);
}

async function fromProc(group: number): Promise<Use> {
  const stats = statsOf(group);
  const memories = stats.map((one) => memoryOf(one.pid));
  const files = await filesInMemory(stats.at(-1)?.pid);
  return {
    // The CPU time includes that of ended children, because scripts mostly start short-lived programs.
    cpuSeconds: stats.reduce(
      (sum, { field }) => sum + [11, 12, 13, 14].reduce((ticks, i) => ticks + Number(field[i]), 0) / 100,
      0,
    ),
    // Shared memory is counted once.
    bytes:
      files +
      memories.reduce((sum, { unshared }) => sum + unshared, 0) +
      Math.max(0, ...memories.map(({ shared }) => shared)),
  };
}

/**
 * The bytes of memory that the process uses alone, and the bytes that it may share with other processes. Cached files are not counted,
 * because the kernel can drop them.
 */
function memoryOf(pid: number): { unshared: number; shared: number } {
  const status = readProc(`${pid}/status`);
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
  return { unshared: of('RssAnon') + of('VmSwap'), shared: of('RssShmem') };
}

/** The type that statfs(2) returns for a tmpfs, which is a file system in memory. */
const tmpfs = 0x01021994;

/** The bytes that files occupy in those tmpfs mounts that only the isolation has, such as its /tmp. */
async function filesInMemory(pid: number | undefined): Promise<number> {
  const sizes = new Map<number, number>();
  for (const folder of ['', '/tmp', '/run', '/dev']) {
    try {
      const seen = `/proc/${pid}/root${folder}`;
      const [{ dev }, ours, { type, blocks, bfree, bsize }] = await Promise.all([
        stat(seen),
        stat(folder || '/'),
        statfs(seen),
      ]);
      if (type === tmpfs && dev !== ours.dev) sizes.set(dev, (blocks - bfree) * bsize);
    } catch {
      // The folder is skipped if the process has ended, or if the file system of the process does not contain the folder.
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

async function fromPs(group: number): Promise<Use> {
  const { stdout } = await run('ps', ['-axo', 'pgid=,time=,rss=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const groupRows = rows.filter(([pgid]) => Number(pgid) === group);
  const secondsOf = (time: string) => time.split(/[:-]/).reduce((seconds, part) => seconds * 60 + Number(part), 0);
  return {
    cpuSeconds: groupRows.reduce((sum, [, time = '']) => sum + secondsOf(time), 0),
    bytes: groupRows.reduce((sum, [, , rss]) => sum + Number(rss) * 1_024, 0),
  };
}
