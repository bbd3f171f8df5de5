// Opens files in a folder that a script may change at any moment, for example by replacing a file with a link.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

export const isInside = (folder: string, file: string): boolean => file.startsWith(folder + path.sep);

/** O_PATH of Linux: refers to a file without opening it; Node.js has no name for it. */
const lookOnly = 0o10000000;

/**
 * Opens a regular file that is below the folder after all links are resolved; the file can only be read. Anything else is rejected without
 * being opened, because opening a pipe or device can have effects.
 * @param folder A real path
 * @throws for everything that is not a regular file below the folder
 */
export async function openInside(folder: string, file: string): Promise<FileHandle> {
  if (process.platform !== 'linux') return openReal(folder, file);
  const seen = await open(file, lookOnly);
  try {
    const itself = `/proc/self/fd/${seen.fd}`;
    check(folder, await readlink(itself), await seen.stat());
    return await open(itself, constants.O_RDONLY);
  } finally {
    await seen.close();
  }
}

/** Checks where the file is before opening it. Checks afterwards that the opened file is the one that was checked. */
async function openReal(folder: string, file: string): Promise<FileHandle> {
  const real = await realpath(file);
  const seen = await lstat(real);
  check(folder, real, seen);
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const opened = await handle.stat();
  if (opened.dev === seen.dev && opened.ino === seen.ino) return handle;
  await handle.close();
  throw refusal;
}

const refusal = new Error('the path is not a file in this folder');

function check(folder: string, real: string, entry: Stats): void {
  if (!isInside(folder, real) || !entry.isFile()) throw refusal;
}
