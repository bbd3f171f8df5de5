// The single-owner rule: one embedded database belongs to one service process, named in `owner.json` in its folder. PostgreSQL's own lock
// protects the data; this file distinguishes a running owner from a server that a killed owner left.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

interface Owner {
  pid: number;
  /** Start time of the process: process ids are reused. */
  started: string | undefined;
  /** The scope in which the process id is valid: this boot of this machine, this container. */
  world: string;
}

export class DatabaseInUse extends Error {
  constructor(folder: string, owner: string) {
    super(
      `The database in ${folder} is in use by ${owner}. One folder has one owner: stop the other, ` +
        'choose another folder for this service, or let both use one PostgreSQL through DATABASE_URL.',
    );
    this.name = 'DatabaseInUse';
  }
}

/** Claims the folder for this process, or throws DatabaseInUse. Returns the function that releases it. */
export async function takeOwnership(folder: string, beatMs = 1_000): Promise<() => void> {
  const file = path.join(folder, 'owner.json');
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), world: world() } satisfies Owner);
  while (!create(file, mine)) {
    const found = read(file);
    if (found === undefined) continue;
    const owner = parse(found);
    if (await isAlive(owner, file, beatMs)) {
      throw new DatabaseInUse(folder, owner ? `another service process (pid ${owner.pid})` : 'another service process');
    }
    remove(file, found);
  }
  const beating = setInterval(beat, beatMs, file).unref();
  return () => {
    clearInterval(beating);
    remove(file, mine);
  };
}

/** An invisible owner (another container, another machine on a shared folder) counts as alive while its file is touched. */
async function isAlive(owner: Owner | undefined, file: string, beatMs: number): Promise<boolean> {
  if (owner?.world === world()) return owner.started !== undefined && startOf(owner.pid) === owner.started;
  const before = lastBeat(file);
  await wait(2.5 * beatMs);
  const after = lastBeat(file);
  return after !== undefined && after !== before;
}

function create(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the file if it still contains `expected`. The file is moved aside first, so that only one of two concurrent removals succeeds.
 */
function remove(file: string, expected: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') === expected) rmSync(aside);
    else renameSync(aside, file);
  } catch {
    // Another process has already moved the file, so this one removes nothing.
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parse(text: string): Owner | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const lastBeat = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

function beat(file: string): void {
  const time = (performance.timeOrigin + performance.now()) / 1_000;
  try {
    utimesSync(file, time, time);
  } catch {
    // An error is ignored: the file is in use (see `remove`), or the folder no longer exists, which the next check detects.
  }
}

function world(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/**
 * Start time of a living process, else undefined. A zombie counts as ended: its parent, such as PID 1 in a container, may never reap it.
 */
export function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'win32') return String(process.kill(pid, 0));
    if (process.platform === 'linux') {
      // In /proc/PID/stat, the name of the process is in parentheses and may contain any text. After the last parenthesis, the first field
      // is the state of the process, and the 20th field is its start time in clock ticks.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return /[ZX]/.test(fields[0] ?? 'X') ? undefined : fields[19];
    }
    const [state = 'Z', ...started] = ps(pid, 'stat=,lstart=').split(/\s+/);
    return state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

/** Whether this living process is a server of this data folder, and not another process with a reused id. */
export function serves(pid: number, data: string): boolean {
  if (startOf(pid) === undefined) return false;
  try {
    if (process.platform === 'win32') return true;
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(data);
    return ps(pid, 'command=').includes(` -D ${data} `);
  } catch {
    return false;
  }
}

const ps = (pid: number, columns: string): string =>
  execFileSync('ps', ['-ww', '-o', columns, '-p', String(pid)], { encoding: 'utf8' }).trim();
