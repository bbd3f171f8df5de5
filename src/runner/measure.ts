// How busy a process group is: from /proc on Linux, from `ps` elsewhere.
import { execFile } from 'node:child_process';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { promisify } from 'node:util';

export interface Sample {
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
  diskUsedPct: number;
}

const megabyte = 1024 * 1024;
const run = promisify(execFile);

/** Samples of the group, each since the one before. */
export function meter(group: number, folder: string): () => Promise<Sample> {
  let before = { t: Date.now(), cpuSeconds: 0 };
  return async () => {
    const t = Date.now();
    const { cpuSeconds, bytes } = process.platform === 'linux' ? await fromProc(group) : await fromPs(group);
    const cpuPct = t > before.t ? Math.max(0, (cpuSeconds - before.cpuSeconds) / ((t - before.t) / 1_000)) * 100 : 0;
    before = { t, cpuSeconds };
    const disk = await statfs(folder);
    return {
      t,
      cpuPct: rounded(cpuPct),
      memUsedMb: rounded(bytes / megabyte),
      memTotalMb: rounded(totalmem() / megabyte),
      diskUsedPct: rounded(100 * (1 - disk.bavail / disk.blocks)),
    };
  };
}

const rounded = (n: number): number => Math.round(n * 100) / 100;

interface Use {
  cpuSeconds: number;
  bytes: number;
}
const sum = (uses: Use[]): Use => ({
  cpuSeconds: uses.reduce((all, { cpuSeconds }) => all + cpuSeconds, 0),
  bytes: uses.reduce((all, { bytes }) => all + bytes, 0),
});

/** proc(5): a name in brackets, then fields from the third on; times in hundredths of a second, memory in pages. */
async function statsOf(group: number): Promise<{ pid: number; field: string[] }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return stats
    .map((stat, i) => ({ pid: Number(pids[i]), field: stat.slice(stat.lastIndexOf(')') + 2).split(' ') }))
    .filter(({ field }) => Number(field[2]) === group);
}

/** The processes of a group, on Linux. */
export const membersOf = async (group: number): Promise<number[]> => (await statsOf(group)).map(({ pid }) => pid);

async function fromProc(group: number): Promise<Use> {
  return sum(
    // Time of children that have ended counts too: scripts are made of short ones.
    (await statsOf(group)).map(({ field }) => ({
      cpuSeconds: [11, 12, 13, 14].reduce((ticks, i) => ticks + Number(field[i]), 0) / 100,
      bytes: Number(field[21]) * 4_096,
    })),
  );
}

async function fromPs(group: number): Promise<Use> {
  const { stdout } = await run('ps', ['-axo', 'pgid=,time=,rss=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return sum(
    rows
      .filter(([pgid]) => Number(pgid) === group)
      .map(([, time = '', rss]) => ({
        cpuSeconds: time.split(/[:-]/).reduce((seconds, part) => seconds * 60 + Number(part), 0),
        bytes: Number(rss) * 1_024,
      })),
  );
}
