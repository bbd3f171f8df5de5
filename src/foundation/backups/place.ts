// The storage of scheduled backups: files in a folder, or objects in a bucket. A backup gets its name only when it is complete.
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { moveIntoPlace } from '../postgres/embedded/files.ts';
import { bucketStorage, readBucket } from '../storage/s3.ts';

export interface KeptBackup {
  name: string;
  bytes: number;
}

export interface BackupPlace {
  /** The complete backups, newest first. */
  list(): Promise<KeptBackup[]>;
  /** Writes a backup and returns its size. When the source fails, no backup of that name exists, and the error of the source is thrown. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<number>;
  read(name: string): Promise<Readable | null>;
  /** Removes a backup, and the remains of an interrupted `write` of it. */
  remove(name: string): Promise<void>;
}

/**
 * The names of one installation sort by time. The digits before the time identify its data folder, so that installations can share a folder
 * or bucket.
 */
const backupName = /^aep-[0-9a-f]{8}-\d{8}T\d{6}Z$/;
export const isBackupName = (text: string): boolean => backupName.test(text);
export const backupNameOf = (source: string, at: number): string =>
  `aep-${source}-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

/** Maximum bytes of a backup: an object has at most 10,000 parts, and the client uploads parts of a fixed size. */
const maxBytes = 48 * 2 ** 30;

const newestFirst = (backups: KeptBackup[]): KeptBackup[] =>
  backups.sort((a, b) => (a.name.slice(13) < b.name.slice(13) ? 1 : -1));

/** The backup storage at a URL, which was validated with the settings. */
export function backupPlace(url: string): BackupPlace {
  const bucket = readBucket(url);
  return bucket ? bucketPlace(bucketStorage(bucket)) : folderPlace(fileURLToPath(url));
}

const bucketPlace = ({ list, write, read, remove }: ReturnType<typeof bucketStorage>): BackupPlace => ({
  list: async () => newestFirst((await list('aep-')).filter(({ name }) => isBackupName(name))),
  write: (name, content) => write(name, content, maxBytes),
  read: (name) => read(name),
  remove,
});

function folderPlace(folder: string): BackupPlace {
  const fileOf = (name: string) => path.join(folder, `${name}.backup`);
  const partialOf = (name: string) => path.join(folder, `${name}.partial`);
  return {
    async list() {
      const names = (await readdir(folder).catch(without([])))
        .map((file) => path.basename(file, '.backup'))
        .filter((name, n, all) => isBackupName(name) && all.indexOf(name) === n);
      const sizes = await Promise.all(names.map((name) => stat(fileOf(name)).catch(without(null))));
      return newestFirst(names.flatMap((name, n) => (sizes[n] ? { name, bytes: sizes[n].size } : [])));
    },
    async write(name, content) {
      let handle: FileHandle | undefined;
      let bytes = 0;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        handle = await open(partialOf(name), 'wx', 0o600);
        for await (const chunk of content) {
          bytes += chunk.length;
          await handle.writeFile(chunk);
        }
        await handle.sync();
        await handle.close();
        moveIntoPlace(partialOf(name), fileOf(name));
        return bytes;
      } catch (error) {
        await handle?.close().catch(() => {});
        await rm(partialOf(name), { force: true }).catch(() => {});
        throw error;
      }
    },
    async read(name) {
      return (await stat(fileOf(name)).catch(without(null))) && createReadStream(fileOf(name));
    },
    async remove(name) {
      await Promise.all([fileOf(name), partialOf(name)].map((file) => rm(file, { force: true })));
    },
  };
}

const without =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
