// Images of environments: a named image is pulled; a Dockerfile is built once, tagged with the hash of its text.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { engineEnvironment } from './engine.ts';

export interface ImageSource {
  /** The program of Docker or Podman. */
  engine: string;
  signal: AbortSignal;
  log(line: string): void;
}

const imageName = (dockerfile: string): string =>
  `localhost/agent-environment:${createHash('sha256').update(dockerfile).digest('hex').slice(0, 32)}`;

const hasImage = (engine: string, name: string): Promise<boolean> =>
  promisify(execFile)(engine, ['image', 'inspect', name], { env: engineEnvironment(), maxBuffer: 16 * 1024 ** 2 }).then(
    () => true,
    () => false,
  );

/** Pulls and builds in progress, by name: concurrent missions share them. */
const underWay = new Map<string, Promise<void>>();

async function once(source: ImageSource, name: string, make: () => Promise<void>): Promise<void> {
  if (await hasImage(source.engine, name)) return;
  const making = underWay.get(name) ?? make().finally(() => underWay.delete(name));
  underWay.set(name, making);
  await making;
}

/** @throws with the reason why it is not available */
export const pullImage = (source: ImageSource, name: string): Promise<void> =>
  once(source, name, () => run(source, ['pull', name], `its image ${name} is not to be had`));

/**
 * The build context is empty.
 * @param network The engine's network for `RUN` lines.
 * @returns its name @throws with the reason of a failed build
 */
export async function buildImage(source: ImageSource, dockerfile: string, network: string): Promise<string> {
  const name = imageName(dockerfile);
  await once(source, name, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'image-'));
    const file = path.join(folder, 'Dockerfile');
    try {
      await writeFile(file, dockerfile);
      const args = ['build', '--network', network, '--tag', name, '--file', file, folder];
      await run(source, args, 'its image could not be built');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  return name;
}

async function run({ engine, signal, log }: ImageSource, args: string[], why: string): Promise<void> {
  const last: string[] = [];
  const child = spawn(engine, args, { env: engineEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], signal });
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      log(`${line}\n`);
      last.push(line);
      if (last.length > 5) last.shift();
    });
  }
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${why}: ${last.join(' ').trim()}`);
}
