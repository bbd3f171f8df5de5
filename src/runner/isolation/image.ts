// Images of environments: a named image is pulled; a Dockerfile is built once, tagged with the hash of its text.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once as waitFor } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bounded } from '../text.ts';
import { engineEnvironment } from './engine.ts';
import type { ImageStore } from './image-store.ts';

export interface ImageSource {
  /** The program of Docker or Podman. */
  engine: string;
  signal: AbortSignal;
  log(text: string): void;
}

/** A mission's request for an image, which waits at most `timeoutMs`. */
export interface ImageRequest extends ImageSource {
  timeoutMs: number;
  images: Pick<ImageStore, 'made' | 'used' | 'sweep'>;
}

const imageName = (dockerfile: string): string =>
  `localhost/agent-environment:${createHash('sha256').update(dockerfile).digest('hex').slice(0, 32)}`;

const hasImage = (engine: string, name: string): Promise<boolean> =>
  promisify(execFile)(engine, ['image', 'inspect', name], { env: engineEnvironment(), maxBuffer: 16 * 1024 ** 2 }).then(
    () => true,
    () => false,
  );

/** A pull or build; it is aborted when no mission waits for it any longer. */
interface ImageJob {
  done: Promise<void>;
  waiting: Set<ImageSource>;
  cancel(): void;
}

/** Pulls and builds in progress, by engine and name: concurrent missions share them. */
const jobs = new Map<string, ImageJob>();

type CreateImage = (source: ImageSource) => Promise<void>;

async function once(request: ImageRequest, name: string, make: CreateImage): Promise<void> {
  const { engine, signal, timeoutMs, images } = request;
  if (await hasImage(engine, name)) return images.used(name);
  signal.throwIfAborted();
  const key = `${engine} ${name}`;
  const job = jobs.get(key) ?? begin(engine, key, make);
  job.waiting.add(request);
  const over = new AbortController();
  const until = { signal: over.signal };
  const late = wait(timeoutMs, undefined, until).then(() => {
    throw new Error(`the image was not available after ${Math.round(timeoutMs / 1_000)} s`);
  });
  const stopped = waitFor(signal, 'abort', until).then(() => {
    throw new Error('stopped');
  });
  for (const one of [late, stopped]) one.catch(() => {});
  try {
    await Promise.race([job.done, late, stopped]);
    await images.made(name);
    void images.sweep(engine).catch(() => {});
  } finally {
    over.abort();
    job.waiting.delete(request);
    if (job.waiting.size === 0) job.cancel();
  }
}

function begin(engine: string, key: string, make: CreateImage): ImageJob {
  const canceled = new AbortController();
  const waiting = new Set<ImageSource>();
  const log = (text: string) => {
    for (const one of waiting) one.log(text);
  };
  const forget = () => jobs.get(key) === job && jobs.delete(key);
  const done = make({ engine, signal: canceled.signal, log }).finally(forget);
  done.catch(() => {});
  const job: ImageJob = {
    done,
    waiting,
    cancel() {
      // The job is removed first, so that the next mission starts a new pull or build.
      forget();
      canceled.abort();
    },
  };
  jobs.set(key, job);
  return job;
}

/** Pulls the image. @throws with the reason why the image is not available */
export const pullImage = (request: ImageRequest, name: string): Promise<void> =>
  once(request, name, (source) => run(source, ['pull', name], `the image ${name} is not available`));

/**
 * Builds an image with an empty build context. @param network The engine's network for `RUN` lines. @returns the name
 * of the image @throws with the reason for a failed build
 */
export async function buildImage(request: ImageRequest, dockerfile: string, network: string): Promise<string> {
  const name = imageName(dockerfile);
  await once(request, name, async (source) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'image-'));
    const file = path.join(folder, 'Dockerfile');
    try {
      await writeFile(file, dockerfile);
      const args = ['build', '--network', network, '--tag', name, '--file', file, folder];
      await run(source, args, 'the image could not be built');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  return name;
}

/** Maximum number of characters of the output that an error quotes. */
const maxTailCharacters = 1_000;

async function run({ engine, signal, log }: ImageSource, args: string[], why: string): Promise<void> {
  let tail = '';
  const child = spawn(engine, args, { env: engineEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], signal });
  const shown = bounded(log);
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      shown(text);
      tail = (tail + text).slice(-maxTailCharacters);
    });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${why}: ${tail.trim().split('\n').slice(-5).join(' ').trim()}`);
}
