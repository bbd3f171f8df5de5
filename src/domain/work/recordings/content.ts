// The lines of a recording, decrypted and decompressed part by part. A part consists of a 12-byte nonce, a 16-byte tag, and the AES-256-GCM
// ciphertext of a text that is compressed with Brotli.
import { createDecipheriv } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { createCapacity } from '#foundation/http/capacity.ts';
import { badGateway, notFound } from '#foundation/problem.ts';
import { storage } from '#foundation/storage/storage.ts';
import { keyOfPart } from './keys.ts';
import type { RecordingPart } from './model.ts';

type Part = Pick<RecordingPart, 'id' | 'orgId' | 'contentKey' | 'sizeBytes' | 'personIds'>;

const decompress = promisify(brotliDecompress);

/** Limits how many parts of recordings are decrypted in memory at once. */
export const readingCapacity = createCapacity({
  all: 4,
  perKey: 2,
  description: 'Too many recordings are being read: an organization can read 2 at the same time.',
});

/** The text of a part. @throws 404 when its content or key is gone, 502 when it was altered or is larger than reported */
export async function readPart(part: Part, number: number): Promise<Buffer> {
  const [content, found] = await Promise.all([storage().read(part.contentKey), keyOfPart(part)]);
  if (!content || !found) throw notFound('content');
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  try {
    const decipher = createDecipheriv('aes-256-gcm', found.key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    return await decompress(text, { maxOutputLength: Math.max(1, part.sizeBytes) });
  } catch (error) {
    const altered = badGateway(`Part ${number} of the recording was altered in the storage: it cannot be decrypted.`);
    throw Object.assign(altered, { cause: error });
  }
}

/**
 * The lines of all parts; stops when the reader has disconnected. Every part is checked before the first is returned. @throws as `readPart`
 */
export async function openLines(parts: readonly Part[], hasLeft: () => boolean): Promise<AsyncGenerator<Buffer>> {
  for (const [i, part] of parts.entries()) if (!hasLeft()) await readPart(part, i + 1);
  return (async function* () {
    for (const [i, part] of parts.entries()) if (!hasLeft()) yield await readPart(part, i + 1);
  })();
}
