// Where contents that are too large for the database are kept: bytes under a key, written once, read whole or in part. In a
// folder (storage-folder.ts) or in a bucket (storage-s3.ts). Process-wide like the clock: bound once at start.
import type { Readable } from 'node:stream';

/** Bytes of a content by their numbers, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface Storage {
  /**
   * Keeps all of a content and gives its size, or, when its source breaks off, keeps nothing and throws what broke. Two that
   * write under one key at once do not mix: what is kept is all of one of them.
   * @throws 413 as soon as it is longer than `maxBytes`
   */
  write(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** The bytes, as they are read; null when there is no such content. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** Also what interrupted `write`s left behind. What is not there needs no removing. */
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

/** Keys are ids of ours; anything else could name a place outside of the storage. */
export function checkKey(key: string): void {
  if (!/^[\w-]{3,200}$/.test(key)) throw new Error(`${JSON.stringify(key)} is no key of a content`);
}
