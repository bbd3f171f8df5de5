// Uploads a part of a recording, encrypted with a key of the platform for this part alone.
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { RunLease } from '../contract.ts';
import { openRecordingPart, reportRecordingPart } from '../generated/operations.ts';
import type { Platform } from './platform.ts';

const compress = promisify(brotliCompress);
// Each model call repeats the whole conversation. The window of 16 MiB is large enough for the compression to find the earlier calls.
const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 };

export interface RecordedLines {
  lines: string[];
  bytes: number;
  calls: number;
  omitted: number;
}

/** Encrypts, uploads and reports one part. @throws when the platform keeps no recording */
export async function uploadPart(
  platform: Platform,
  lease: RunLease,
  folder: string,
  { lines, bytes: sizeBytes, calls, omitted }: RecordedLines,
): Promise<void> {
  const part = randomUUID();
  const { key, keyId } = await platform.mutate(openRecordingPart, { ...lease, part });
  const file = path.join(folder, `recording-${part}`);
  await writeFile(file, encrypt(key, await compress(lines.join(''), { params })), { mode: 0o600 });
  try {
    const content = await open(file);
    const contentKey = await platform.upload(lease, 'recording', content).finally(() => content.close());
    await platform.mutate(reportRecordingPart, { ...lease, part, keyId, contentKey, calls, omitted, sizeBytes });
  } finally {
    await rm(file, { force: true });
  }
}

function encrypt(key: string, text: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'base64'), nonce);
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}
