// Images that this runner has pulled or built: for each image there is a file that names it, and the modification time of the file is the
// time of the last use. Images that existed before belong to the operator, and are kept.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { engineEnvironment } from './engine.ts';

export interface ImageStoreSettings {
  /** Folder in which the runner records its images. Nothing else uses this folder. */
  folder: string;
  /** How long an image that no mission uses is kept. */
  keepMs: number;
  /** Maximum total size of the images; the size of each includes that of its base image. */
  maxBytes: number;
}

export type ImageStore = ReturnType<typeof openImageStore>;

/**
 * For this time after its last use, an image is always kept. The time is somewhat longer than a step can take, because a running step may
 * start more containers of the image.
 */
const busyMs = 25 * 60 * 60_000;

export function openImageStore({ folder, keepMs, maxBytes }: ImageStoreSettings) {
  const fileOf = (name: string) => path.join(folder, createHash('sha256').update(name).digest('hex').slice(0, 32));

  /**
   * Removes the images that have not been used for `keepMs`. If the other images are larger than `maxBytes` in total, removes the least recently used
   * of them until the rest fits. An image that was used within `busyMs` is never removed.
   */
  async function sweep(engine: string): Promise<void> {
    const ask = async (...args: string[]) =>
      (await promisify(execFile)(engine, args, { env: engineEnvironment(), timeout: 60_000 })).stdout;
    const names = await readdir(folder).catch(() => []);
    const images = await Promise.all(
      names.map(async (entry) => {
        const file = path.join(folder, entry);
        return { file, name: await readFile(file, 'utf8'), usedAt: (await stat(file)).mtimeMs };
      }),
    );
    const now = Date.now();
    let total = 0;
    for (const { file, name, usedAt } of images.sort((a, b) => b.usedAt - a.usedAt)) {
      total += Number(await ask('image', 'inspect', '--format', '{{.Size}}', name).catch(() => '0'));
      const isUnwanted = usedAt < now - keepMs || total > maxBytes;
      if (!isUnwanted || usedAt > now - busyMs) continue;
      // An engine refuses to remove an image that a container uses.
      await ask('image', 'rm', name).catch(() => {});
      const isGone = await ask('image', 'inspect', '--format', '{{.Id}}', name).then(
        () => false,
        () => true,
      );
      if (isGone) await rm(file, { force: true });
    }
  }

  return {
    /** Records an image that was pulled or built. */
    async made(name: string): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(name), name, { mode: 0o600 });
    },
    /** Records the use of an image that this runner has created; other images are not recorded. */
    async used(name: string): Promise<void> {
      const now = new Date();
      await utimes(fileOf(name), now, now).catch(() => {});
    },
    sweep,
  };
}
