// Where contents that are too large for the database are kept: bytes under a key, written once, read whole or in part. A
// folder by default; another kind of store is another `Storage`. Process-wide like the clock: bound once at start.
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { tooLarge } from './problem.ts';

/** Bytes of a content by their numbers, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface Storage {
  /**
   * Keeps all of a content and gives its size, or, when its source breaks off, keeps nothing and throws what broke.
   * @throws 413 as soon as it is longer than `maxBytes`
   */
  write(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** The bytes, as they are read; null when there is no such content. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** Also what an interrupted `write` left behind. What is not there needs no removing. */
  remove(key: string): Promise<void>;
}

let bound: Storage | undefined;

export function openStorage(storage: Storage): void {
  bound = storage;
}

export function storage(): Storage {
  if (!bound) throw new Error('the storage is not open');
  return bound;
}

/** Contents as files below `folder`, which is made when the first of them comes. */
export function folderStorage(folder: string): Storage {
  /** Keys are ids of ours; anything else could name a place outside of the folder. The last letters vary most. */
  function fileOf(key: string): string {
    if (!/^[\w-]{3,200}$/.test(key)) throw new Error(`${JSON.stringify(key)} is no key of a content`);
    return path.join(folder, key.slice(-2), key);
  }
  const partial = (file: string): string => `${file}.partial`;

  return {
    async write(key, content, maxBytes) {
      const file = fileOf(key);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const handle = await open(partial(file), 'w', 0o600);
      try {
        const size = await fill(handle, content, maxBytes);
        await handle.close();
        await rename(partial(file), file);
        return size;
      } catch (error) {
        await handle.close();
        await rm(partial(file), { force: true });
        throw error;
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
      const file = fileOf(key);
      await Promise.all([rm(file, { force: true }), rm(partial(file), { force: true })]);
    },
  };
}

/** The bytes reach the disk before the file gets its name. */
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
