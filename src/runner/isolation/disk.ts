// Disk usage of a mission: its folder is measured periodically, because quotas are not available everywhere. The kernel
// limits the size of one file (RLIMIT_FSIZE).
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import type { Limits } from '../contract.ts';

/** CPUs, memory and disk that a mission can have on this machine, as reported to the platform. */
export const capacityWithin = ({ memoryBytes, diskBytes }: Limits) => ({
  cpus: availableParallelism(),
  memoryMb: Math.floor(memoryBytes / 1024 ** 2),
  diskMb: Math.floor(diskBytes / 1024 ** 2),
});

/** Default disk limit of one mission in bytes: 10 GiB, but at most half of the space that is free when the runner starts. */
export async function defaultDiskBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  return Math.min(10 * 1024 ** 3, Math.floor((bavail * bsize) / 2));
}

/**
 * Measures a folder with du: `-k` counts in kibibytes, as POSIX defines; `-x` excludes mounted file systems.
 * @param prefix Words before the command
 * @param env Environment variables that these words need
 */
export const du = (folder: string, prefix: readonly string[] = [], env: Record<string, string> = {}) =>
  new Promise<{ bytes: number; errors: string }>((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, ...env, LC_ALL: 'C' }, maxBuffer: 64 * 1024 ** 2 };
    const [file, ...args] = [...prefix, 'du', '-skx', folder];
    // du fails for files that are removed while it runs, but counts all other files.
    execFile(file!, args, options, (error, stdout, stderr) => {
      const bytes = Number.parseInt(stdout, 10) * 1_024;
      if (Number.isNaN(bytes)) reject(error ?? new Error('du printed nothing'));
      else resolve({ bytes, errors: stderr });
    });
  });

/** Number of consecutive failed measurements after which an unreadable folder counts as full, because an agent could hide files in it. */
const maxHiddenReadings = 10;

/** Returns a function that measures the folder. */
export function openDiskMeter(folder: string): () => Promise<number> {
  let hidden = 0;
  return async () => {
    const { bytes, errors } = await du(folder);
    hidden = errors.includes('Permission denied') ? hidden + 1 : 0;
    return hidden < maxHiddenReadings ? bytes : Number.POSITIVE_INFINITY;
  };
}
