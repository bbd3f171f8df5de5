// Generates the service key of an installation whose operator has configured none. The key is created at first use, and stored in the data
// folder in a file that only its owner can read. Without this key, everything that was sealed with it is lost, so operators must back up
// the file.
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

export const secretKeyFile = (dataDir: string): string => path.join(dataDir, 'secret-key');

/**
 * Reads or creates the key of 32 bytes. Concurrent processes get the same key: it is written completely under a unique name and then
 * linked, which succeeds only once. @throws when the file contains no valid key
 */
export async function readOrMakeSecretKey(dataDir: string): Promise<Buffer> {
  const file = secretKeyFile(dataDir);
  return (await readKey(file)) ?? (await makeKey(file)) ?? (await readOrMakeSecretKey(dataDir));
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch(unless('ENOENT'));
  if (text === undefined) return undefined;
  if (/^[A-Za-z0-9+/]{43}=\s*$/.test(text)) return Buffer.from(text, 'base64');
  throw new Error(`${file} does not contain a service key (32 bytes in base64): restore it from a backup`);
}

/**
 * Creates the data folder. If this process runs as root, the embedded database runs under another account, which must be able to traverse the folder.
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** Writes a new key and returns it; undefined when another process has written one first. */
async function makeKey(file: string): Promise<Buffer | undefined> {
  const key = randomBytes(32);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await makeDataDir(path.dirname(file));
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${key.toString('base64')}\n`);
    await handle.sync();
    return await link(draft, file).then(() => key, unless('EEXIST'));
  } finally {
    await handle.close();
    await rm(draft);
  }
}

const unless =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };
