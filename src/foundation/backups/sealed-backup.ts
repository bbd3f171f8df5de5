// Writes and reads a backup as one encrypted stream: a line of JSON that anybody can read, then a compressed archive of the backup's
// folder, encrypted by AES-256-GCM with a key that is derived from the service key. The end of the stream authenticates the line and every
// byte before it (docs/decisions/0078-backups-are-sealed-with-the-service-key.md).
import { createCipheriv, createDecipheriv, type DecipherGCM, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { backupKeyId, keyOfBackups } from '../secrets/secrets.ts';

const format = 'agent-engineering-platform backup 1';
const [maxLineBytes, nonceBytes, tagBytes] = [1_000, 12, 16];

/** The library for archives, loaded at the first backup. */
const tar = () => import('tar');

/** Yields the folder of a backup as an encrypted stream. */
export async function* sealBackup(folder: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const line = Buffer.from(`${JSON.stringify({ format, key: backupKeyId() })}\n`);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', keyOfBackups(), nonce).setAAD(line);
  yield Buffer.concat([line, nonce]);
  const { create } = await tar();
  const archive = create({ cwd: folder, gzip: true }, ['.']);
  for await (const chunk of archive as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    yield cipher.update(chunk);
  }
  yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
}

/** Unpacks a stream into a new folder. @throws Error that says what is wrong with the stream; the folder is then incomplete */
export async function openBackup(content: AsyncIterable<Buffer>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { extract } = await tar();
  const archive = extract({ cwd: folder, strict: true, preserveOwner: false });
  const ended = once(archive, 'close');
  ended.catch(() => {});
  try {
    for await (const chunk of plainOf(content)) {
      if (!archive.write(chunk)) await Promise.race([once(archive, 'drain'), ended]);
    }
    archive.end();
    await ended;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined || /^(TAR_|Z_)/.test(code) ? damaged(error) : error;
  }
}

class BackupError extends Error {}
const damaged = (error: unknown): Error =>
  error instanceof BackupError ? error : new BackupError('the backup is damaged or incomplete');

/** The decrypted bytes. The last of them are returned only after all bytes have been authenticated. */
async function* plainOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decipher: DecipherGCM | undefined;
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of content) {
    held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    if (!decipher) {
      const end = held.subarray(0, maxLineBytes).indexOf('\n') + 1;
      if (end === 0 && held.length >= maxLineBytes) throw new BackupError('this is not a backup');
      if (end > 0) checkLine(held.subarray(0, end));
      if (end === 0 || held.length < end + nonceBytes) continue;
      const nonce = held.subarray(end, end + nonceBytes);
      decipher = createDecipheriv('aes-256-gcm', keyOfBackups(), nonce).setAAD(held.subarray(0, end));
      held = held.subarray(end + nonceBytes);
    }
    // The last bytes are held back, because they may be the authentication tag.
    if (held.length <= tagBytes) continue;
    yield decipher.update(held.subarray(0, -tagBytes));
    held = held.subarray(-tagBytes);
  }
  if (!decipher || held.length < tagBytes) throw new BackupError('the backup is damaged or incomplete');
  yield decipher.setAuthTag(held).final();
}

function checkLine(line: Buffer): void {
  let found: { format?: unknown; key?: unknown };
  try {
    found = JSON.parse(line.toString());
  } catch {
    throw new BackupError('this is not a backup');
  }
  if (found.format !== format) throw new BackupError('this is not a backup');
  if (found.key !== backupKeyId()) throw new BackupError('the backup is encrypted with another SECRET_KEY');
}
