// The storage of contents that are too large for the database: bytes under a key, written once, read whole or in part; in a folder
// (folder.ts) or a bucket (s3.ts). Process-wide like the clock: bound once at start.
import type { Readable } from 'node:stream';

/** A range of bytes, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface Storage {
  /**
   * Stores content and returns its size; when its source fails, stores nothing and throws that error. One of several concurrent writes to
   * one key is stored completely. @throws 413 as soon as it is longer than `maxBytes`
   */
  write(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** The bytes as a stream; null when the content does not exist. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** Removes content, and the remains of interrupted `write`s. An unknown key is not an error. */
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

/** Refuses a key that is not an id of this service, because a key such as `../name` could lead to a file outside of the storage. */
export function checkKey(key: string): void {
  if (!/^[\w-]{3,200}$/.test(key)) throw new Error(`${JSON.stringify(key)} is not a valid storage key`);
}
