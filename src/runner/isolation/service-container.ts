// The container of one service next to a mission: its process, its health check, and its end.
import { execFile, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Environment } from '../contract.ts';
import { du } from './disk.ts';
import { engineEnvironment, isRootlessPodman } from './engine.ts';

export type Service = Environment['services'][number];

const [askAgainMs, checkTimeoutMs] = [250, 10_000];
/** Time in milliseconds after which a running service without a health check counts as ready. */
const settledMs = 2_000;
const maxTailCharacters = 1_500;

export interface Running {
  label: string;
  /** Name of the service's container. */
  name: string;
  pid: number | undefined;
  /** The reason why the service has ended, and the last lines of its output; empty while it runs. */
  failure(): string;
  /** Resolves with the reason when the service ends. */
  ended: Promise<string>;
  /** The last lines of the service's output. */
  tail(): string;
  /** Output of the service's last health check. */
  said: string;
}

export function runContainer(engine: string, label: string, name: string, args: string[]): Running {
  const child = spawn(engine, ['run', '--name', name, ...args], {
    env: engineEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [tail, failure] = ['', ''];
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-maxTailCharacters);
    });
  }
  const ended = new Promise<string>((resolve) => {
    const end = (why: string) => {
      failure ||= `the ${label} ${why}\n${tail}`.trim();
      resolve(failure);
    };
    child.once('error', ({ message }) => end(message));
    child.once('close', (code) => end(`has ended with the exit code ${code}${code === 137 ? ' (killed)' : ''}`));
  });
  return { label, name, pid: child.pid, failure: () => failure, ended, tail: () => tail, said: '' };
}

export async function waitFor(
  running: Running,
  isReady: () => Promise<boolean>,
  timeout: AbortSignal,
  stopping: AbortSignal,
): Promise<void> {
  const begun = Date.now();
  while (!(await isReady())) {
    if (running.failure()) throw new Error(running.failure());
    if (stopping.aborted) throw new Error('stopped');
    if (timeout.aborted) {
      const seconds = Math.round((Date.now() - begun) / 1_000);
      const lines = [`the ${running.label} is not ready after ${seconds} s`, running.said, running.tail()];
      throw new Error(lines.filter(Boolean).join('\n').trim());
    }
    await wait(askAgainMs);
  }
}

const ask = (engine: string, ...args: string[]) =>
  promisify(execFile)(engine, args, { env: engineEnvironment(), timeout: checkTimeoutMs, killSignal: 'SIGKILL' });

export const isContainerRunning = (engine: string, name: string): Promise<boolean> =>
  ask(engine, 'inspect', '--format', '{{.State.Running}}', name).then(
    ({ stdout }) => stdout.trim() === 'true',
    () => false,
  );

export function readiness(engine: string, { healthCheck }: Service, running: Running): () => Promise<boolean> {
  const { name } = running;
  let upSince: number | null = null;
  return async () => {
    if (running.failure() || !(await isContainerRunning(engine, name))) return false;
    upSince ??= Date.now();
    if (healthCheck === null) return Date.now() - upSince >= settledMs;
    return ask(engine, 'exec', name, 'sh', '-c', healthCheck).then(
      () => true,
      (error) => {
        const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim();
        running.said = output && `Its health check says: ${output.slice(-300)}`;
        return false;
      },
    );
  };
}

/**
 * Bytes that the container has written: its layer above the image, and volumes that the image declares, as far as the runner may read them.
 */
export async function writtenBy(engine: string, name: string): Promise<number> {
  const { stdout } = await ask(engine, 'inspect', '--size', '--format', '[{{json .SizeRw}}, {{json .Mounts}}]', name);
  const [layer, mounts] = JSON.parse(stdout) as [number | null, { Type: string; Source: string }[] | null];
  // With Podman without root, the files of a volume belong to mapped users, so they are measured inside Podman's user namespace.
  const prefix = isRootlessPodman(engine) ? [engine, 'unshare'] : [];
  const volumes = (mounts ?? []).filter(({ Type }) => Type === 'volume');
  const sizes = volumes.map(({ Source }) =>
    du(Source, prefix, engineEnvironment()).then(
      ({ bytes }) => bytes,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, layer ?? 0);
}
