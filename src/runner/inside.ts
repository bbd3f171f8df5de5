// Opens files of a folder that a script may change at any moment, also putting a link where a file was.
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

export const isInside = (folder: string, file: string): boolean => file.startsWith(folder + path.sep);

/**
 * A regular file below the folder, opened for reading. Its location is checked on the open file, not on its name.
 * @param folder A real path. @throws for everything else, whatever links lead to it
 */
export async function openInside(folder: string, file: string): Promise<FileHandle> {
  // Opening a pipe would block until something writes.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    const isLinux = process.platform === 'linux';
    const real = isLinux ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(file);
    const same = isLinux || (await lstat(real).then((now) => now.dev === opened.dev && now.ino === opened.ino));
    if (!same || !isInside(folder, real) || !opened.isFile()) throw new Error('not a file of this folder');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
