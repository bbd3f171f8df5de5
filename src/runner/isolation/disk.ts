// Disk that a mission takes: the folder of its place is measured now and then, since quotas are not to be had everywhere. One
// file is bounded by the kernel (RLIMIT_FSIZE).
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** Bytes that one mission may take unless the operator sets them: at most half of what is free at the start. */
export async function usualDiskBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  return Math.min(10 * 1024 ** 3, Math.floor((bavail * bsize) / 2));
}

/** Kibibytes are POSIX; -x leaves out what is mounted there. */
const du = (folder: string) =>
  new Promise<{ bytes: number; errors: string }>((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, LC_ALL: 'C' }, maxBuffer: 64 * 1024 ** 2 };
    // It fails for files that go meanwhile, and counts the others.
    execFile('du', ['-skx', folder], options, (error, stdout, stderr) => {
      const bytes = Number.parseInt(stdout, 10) * 1_024;
      if (Number.isNaN(bytes)) reject(error ?? new Error('du printed nothing'));
      else resolve({ bytes, errors: stderr });
    });
  });

/** Measurements in a row after which a folder that cannot be read counts as full: an agent could hide files from its runner there. */
const longestHiding = 10;

/** Measures the folder, each time it is called. */
export function openDiskMeter(folder: string): () => Promise<number> {
  let hidden = 0;
  return async () => {
    const { bytes, errors } = await du(folder);
    hidden = errors.includes('Permission denied') ? hidden + 1 : 0;
    return hidden < longestHiding ? bytes : Number.POSITIVE_INFINITY;
  };
}
