// The store of `aep login`: a file that only the person can read, in the folder that the XDG Base Directory Specification defines. Only one
// program at a time changes the file, because a refresh token works only once.
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface SignIn {
  issuer: string;
  clientId: string;
  accessToken: string;
  refreshToken: string | null;
  /** Expiry of the access token, epoch milliseconds. */
  expiresAt: number;
}

export interface Store {
  /** Service URL of the last sign-in. */
  url: string | null;
  /** The sign-ins. Each key is the URL of a service. */
  signIns: Record<string, SignIn>;
}

const folder = path.join(process.env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'aep');
export const storeFile = path.join(folder, 'credentials.json');
const lockFile = `${storeFile}.lock`;

/** Age of a lock above which its process is considered dead. */
const abandonedAfterMs = 30_000;
const lockRetryMs = 50;

export async function readStore(): Promise<Store> {
  try {
    return JSON.parse(await readFile(storeFile, 'utf8')) as Store;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { url: null, signIns: {} };
    throw new Error(`${storeFile} cannot be read: ${(error as Error).message}`);
  }
}

/** Changes the store under a lock. An error in `change` leaves it unchanged. */
export async function changeStore<T>(change: (store: Store) => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await lock();
  try {
    const store = await readStore();
    const result = await change(store);
    const draft = `${storeFile}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(store, null, 2)}\n`, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, storeFile);
    return result;
  } finally {
    await rm(lockFile, { force: true });
  }
}

async function lock(): Promise<void> {
  for (;;) {
    try {
      await (await open(lockFile, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const since = await stat(lockFile).catch(() => null);
    if (since && Date.now() - since.mtimeMs > abandonedAfterMs) await rm(lockFile, { force: true });
    else await pause(lockRetryMs);
  }
}
