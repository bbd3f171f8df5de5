// A server of the bench: a separate process that reports its CPU time.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../test/support/processes.ts';

export interface Server {
  name: string;
  url: string;
  /** Microseconds of CPU, user and system, since its start. */
  cpu(): Promise<number>;
  /** Bytes of memory in use. */
  rss(): Promise<number>;
  /** Statements that the service has sent; NaN unless they are counted (servers/statement-count.ts). */
  statements(): Promise<number>;
  stop(): Promise<void>;
  /** Ends the process at once, like the loss of a machine. */
  kill(): Promise<void>;
}

export interface Launch {
  name: string;
  file: string;
  args(port: number): string[];
  env?(port: number): Record<string, string>;
  /** Options of node itself, such as a loader. */
  node?: string[];
  /** A command that starts node on certain cores, such as `taskset -c 0`. */
  pinned?: string[];
  /** File of the server's standard output. */
  output: string;
}

const meter = new URL('./servers/cpu-usage.js', import.meta.url).href;

export async function start({ name, file, args, env, node = [], pinned = [], output }: Launch): Promise<Server> {
  const port = await freePort();
  const out = openSync(output, 'w');
  const [execPath, ...before] = [...pinned, process.execPath];
  const child = fork(file, args(port), {
    execPath,
    execArgv: [...before, ...node, '--import', meter],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env?.(port) },
    stdio: ['ignore', out, 'inherit', 'ipc'],
  });
  closeSync(out);
  const url = `http://127.0.0.1:${port}`;
  await ready(child, name, url);
  const used = async (): Promise<NodeJS.CpuUsage & { rss: number; statements?: number }> => {
    child.send('used');
    return (await once(child, 'message'))[0];
  };
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    name,
    url,
    async cpu() {
      const { user, system } = await used();
      return user + system;
    },
    rss: async () => (await used()).rss,
    statements: async () => (await used()).statements ?? Number.NaN,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function ready(child: ChildProcess, name: string, url: string): Promise<void> {
  for (let tries = 1; tries <= 600; tries++) {
    if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}`);
    const answered = await fetch(url).catch(() => null);
    if (answered) return;
    await wait(100);
  }
  throw new Error(`${name} does not answer`);
}
