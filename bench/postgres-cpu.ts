// CPU time of a PostgreSQL server on this machine: its main process, and the processes of its connections and workers, including ended ones (Linux).
import { readdirSync, readFileSync } from 'node:fs';
import { sql } from '#foundation/postgres/database.ts';

/** Clock ticks of the kernel per second (`getconf CLK_TCK`), the same on all common architectures. */
const ticksPerSecond = 100;

/** The fields of /proc/PID/stat after the name of the program (proc_pid_stat(5)); null for a process that has ended. */
function statOf(pid: string | number): number[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 4)
      .split(' ')
      .map(Number);
  } catch {
    return null;
  }
}

/** Returns a function that reads the CPU time of the server in microseconds. */
export async function openPostgresMeter(): Promise<() => number> {
  const [backend] = await sql<{ pid: number }>('select pg_backend_pid() as pid');
  const server = statOf(backend!.pid)?.[0];
  if (server === undefined) return () => Number.NaN;
  return () => {
    let ticks = 0;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const stat = statOf(pid);
      if (!stat || (Number(pid) !== server && stat[0] !== server)) continue;
      const [user, system, userOfEnded, systemOfEnded] = stat.slice(10, 14) as [number, number, number, number];
      ticks += user + system + (Number(pid) === server ? userOfEnded + systemOfEnded : 0);
    }
    return (ticks / ticksPerSecond) * 1e6;
  };
}
