// One PostgreSQL server process from launch to end, over a data folder that may contain remains of an earlier one. A watchdog process
// ensures that the server ends with its parent, even after a kill -9.
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type EmbeddedFiles, makePrivateFolder, onWindows } from './files.ts';
import { DatabaseInUse, serves } from './owner.ts';

/** Context of every step: the files, the programs, and the options to run them with. */
export interface Cluster {
  files: EmbeddedFiles;
  program: (name: string) => string;
  as: SpawnOptions;
  port: number;
  parameters: Record<string, string | number>;
}

export interface Server {
  pid: number;
  /** Resolves with the reason when the server has ended. */
  ended: Promise<string>;
  child: ChildProcess;
}

/** Milliseconds between two checks of a file or process. */
const tick = 5;

interface PidFile {
  pid: number;
  port: number;
  status: string | undefined;
}

export function readPidFile(data: string): PidFile | undefined {
  try {
    const lines = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), status: lines[7]?.trim() };
  } catch {
    return undefined;
  }
}

/** Ends the server of a dead owner, whose folder this process has taken over, and removes the files that name a dead server. */
export async function endLeftOver(cluster: Cluster, log: (line: string) => void): Promise<void> {
  const { data, socket } = cluster.files;
  const found = readPidFile(data);
  if (found && serves(found.pid, data)) {
    log(`ending the database server (pid ${found.pid}) that an earlier process left behind`);
    signalEnd(cluster, found.pid);
    while (serves(found.pid, data)) await wait(tick);
  }
  // PostgreSQL would mistake any living process with this id, or a zombie, for the server, so the files are removed here.
  for (const file of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) rmSync(path.join(socket, file), { force: true });
  rmSync(path.join(data, 'postmaster.pid'), { force: true });
}

/** Ends the server and waits for it. Work that it could not finish in time is recovered from its log at the next start. */
export async function stopServer(cluster: Cluster, { child, pid, ended }: Server): Promise<void> {
  child.ref();
  if (child.exitCode === null && child.signalCode === null) signalEnd(cluster, pid);
  const forcedStop = setTimeout(() => child.kill('SIGQUIT'), 20_000);
  await ended;
  clearTimeout(forcedStop);
}

/** Requests a fast shutdown: open transactions are rolled back, committed ones are kept. */
function signalEnd({ files, program, as }: Cluster, pid: number): void {
  // Windows has no signals; pg_ctl uses its own mechanism there.
  if (onWindows) run(program('pg_ctl'), ['stop', '-D', files.data, '-m', 'fast'], as);
  else process.kill(pid, 'SIGINT');
}

/** Starts the server and resolves when it accepts connections; after a crash, recovery from the write-ahead log may take a while. */
export async function launch({ files, program, as, parameters }: Cluster): Promise<Server> {
  if (!onWindows) makePrivateFolder(files.socket, files.account);
  const flags = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const output = openLog(files.logFile);
  // The server gets a separate session: Ctrl-C in the terminal reaches only the service, which ends the database after its last request.
  const child = spawn(program('postgres'), ['-D', files.data, ...flags], {
    ...as,
    detached: !onWindows,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let end: string | undefined;
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  }).then((how) => (end = how));
  const pid = child.pid ?? 0;
  if (pid && !onWindows) watch(pid, as, ended);
  for (;;) {
    const found = readPidFile(files.data);
    if (found?.pid === pid && found.status === 'ready') break;
    if (end !== undefined) throw startFailure(files, end);
    await wait(tick);
  }
  child.unref();
  return { pid, ended, child };
}

/**
 * Runs a shell that ends the server when this process ends. The shell waits for the end of its input, which the operating system closes
 * even after kill -9.
 */
function watch(pid: number, as: SpawnOptions, ended: Promise<string>): void {
  const dog = spawn('/bin/sh', ['-c', 'read _; kill -INT "$0"', String(pid)], {
    ...as,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  dog.on('error', () => {});
  dog.unref();
  (dog.stdin as unknown as { unref?: () => void }).unref?.();
  void ended.then(() => dog.kill('SIGKILL'));
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 10_000_000) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

function startFailure({ folder, logFile }: EmbeddedFiles, how: string): Error {
  const tail = readFileSync(logFile, 'utf8').trim().split('\n').slice(-6).join('\n');
  if (/lock file "[^"]*" already exists|pre-existing shared memory block/.test(tail)) {
    return new DatabaseInUse(folder, 'another PostgreSQL server');
  }
  return new Error(`The embedded database in ${folder} did not start (${how}). The end of ${logFile}:\n${tail}`);
}

/** Runs a program of PostgreSQL to its end; its output is part of the error. */
export function run(command: string, parameters: string[], as: SpawnOptions, input = ''): void {
  const { status, stderr, error } = spawnSync(command, parameters, { ...as, stdio: 'pipe', encoding: 'utf8', input });
  if (error && 'code' in error && error.code === 'ENOENT') {
    // The file exists but its dynamic loader is missing: the system has no glibc, for example Alpine.
    throw new Error(
      'The embedded PostgreSQL does not run on this system: set DATABASE_URL to a PostgreSQL 15 or newer.',
    );
  }
  if (status !== 0 || /ERROR:|FATAL:/.test(stderr)) {
    throw new Error(`${path.basename(command)} failed: ${error?.message ?? stderr.trim()}`);
  }
}
