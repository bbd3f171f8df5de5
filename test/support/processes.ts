// The service and its programs as separate processes, to be stopped, killed and restarted.
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { DatabaseConnection } from '#foundation/postgres/embedded/database.ts';

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The path of a program that the global set-up has bundled: `main`, `admin`, `runner/runner`, or a program below `test/` that tests start.
 */
export const compiled = (program: string): string => path.join(projectFolder, 'dist', `${program}.js`);

/**
 * Arguments with which Node.js starts a bundled program. They delay V8's optimizing compiler, because hardly any function of the program
 * runs often enough to repay the time of its compilation. The service thus starts a fifth faster.
 */
export const programArguments = (program: string): string[] => ['--interrupt-budget=700000', compiled(program)];

/** A free port below the range of outgoing connections (from 32,768), so that it stays free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + randomInt(12_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/** Whether a process is alive. A process that has ended is not alive, even if its parent has not read its exit code yet. */
export function isRunning(pid: number): boolean {
  try {
    // A process that has ended stays as a zombie until its parent reads its exit code; the parent of an orphan is init, which may take
    // seconds.
    const isZombie = process.platform === 'linux' && /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return !isZombie && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * The commands of the running processes, each a program with its arguments. Many Linux machines have no `ps`, so this function reads /proc
 * if it exists.
 */
export function runningCommands(): string[] {
  if (!existsSync('/proc/self/cmdline')) return execFileSync('ps', ['-axo', 'args'], { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ')];
    } catch {
      // The process has ended in the meantime.
      return [];
    }
  });
}

/** Live child processes of a process. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** The DATABASE_URL of a server, which may listen on a Unix socket, as the server of the tests does. */
export function databaseUrl({ host, port, user, password, database }: DatabaseConnection): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user, password })}`;
}

export interface ServiceProcess {
  url: string;
  process: ChildProcess;
  /** Resolves when the process accepts requests; rejects when it ends before that. */
  ready: Promise<void>;
}

/**
 * Starts `npm run serve` on a database. The service has the same secret key as the service of `openWorld`, uses the real clock and runs no
 * scheduler. A second process that is started on the same `port` can replace the first. `flags` are further options of Node.js.
 */
export function startService(
  connection: DatabaseConnection,
  port: number,
  settings: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): ServiceProcess {
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    PUBLIC_URL: url,
    DATABASE_URL: databaseUrl(connection),
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SCHEDULER: 'off',
    LOG_LEVEL: 'info',
    ...settings,
  };
  const options: SpawnOptions = { cwd: projectFolder, env, stdio: ['ignore', 'pipe', 'inherit'] };
  const child = spawn(process.execPath, [...flags, ...programArguments('main'), 'serve'], options);
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => line.includes('"msg":"listening"') && resolve());
    child.once('exit', (code, signal) => reject(new Error(`The service ended (${code ?? signal}).`)));
  });
  // A test that kills the service while it starts does not wait for `ready`. Without this handler, the rejection of `ready` would be an
  // unhandled error.
  ready.catch(() => {});
  return { url, process: child, ready };
}
