// Storage in a folder: each content is a file, which gets its final name when it is complete on disk.
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { tooLarge, unavailable } from '../problem.ts';
import { checkKey, type Storage } from './storage.ts';

/** Files that are being written or were left by a killed process; few, so that listing them is cheap. */
export const unfinishedFolder = 'unfinished';

/** Contents as files below `folder`, which is created with the first one. */
export function folderStorage(folder: string): Storage {
  const unfinished = path.join(folder, unfinishedFolder);

  /** Files are in folders named by the last two letters of their key, because those vary most. */
  function fileOf(key: string): string {
    checkKey(key);
    return path.join(folder, key.slice(-2), key);
  }

  return {
    async write(key, content, maxBytes) {
      const file = fileOf(key);
      const partial = path.join(unfinished, `${key}.${randomBytes(6).toString('hex')}`);
      let handle: FileHandle | undefined;
      try {
        await Promise.all([path.dirname(file), unfinished].map((one) => mkdir(one, { recursive: true, mode: 0o700 })));
        handle = await open(partial, 'wx', 0o600);
        const size = await fill(handle, content, maxBytes);
        await handle.close();
        await rename(partial, file);
        return size;
      } catch (error) {
        await handle?.close();
        await rm(partial, { force: true });
        throw isFull(error) ? Object.assign(unavailable(), { cause: error }) : error;
      }
    },
    async read(key, range) {
      const handle = await open(fileOf(key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      return handle?.createReadStream(range && { start: range.first, end: range.last }) ?? null;
    },
    async remove(key) {
      const files = [fileOf(key)];
      const left = await readdir(unfinished).catch(() => []);
      for (const name of left) if (name.startsWith(`${key}.`)) files.push(path.join(unfinished, name));
      await Promise.all(files.map((file) => rm(file, { force: true })));
    },
  };
}

/** Whether the disk is full, or the user's quota exceeded. */
const isFull = (error: unknown): boolean => /^(ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '');

/** Flushes the bytes to disk before the file is renamed. */
async function fill(handle: FileHandle, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    await handle.writeFile(chunk);
  }
  await handle.sync();
  return size;
}
