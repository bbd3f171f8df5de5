// Receives an artifact's content from the holder of a signed URL: PUT, streamed into the storage (RFC 9110 §9.3.4).
import type { IncomingMessage } from 'node:http';
import { addressExpiry } from '#domain/work/artifacts/address.ts';
import { organizationOfContent, receiveContent } from '#domain/work/artifacts/content.ts';
import { minutes } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { answerJson, type Exchange } from '#foundation/http/http.ts';
import { forbidden, invalid, tooLarge, unsupportedMediaType } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';

/** Maximum silence of a client: longer than a pause of its network, shorter than the time for which the content is reserved. */
const silenceMs = minutes(1);

export const maxPerOrganization = 16;
const maxPerProcess = 64;
const uploads = createCapacity({
  name: 'uploads',
  all: maxPerProcess,
  perKey: maxPerOrganization,
  description: `Too many uploads at the same time: an organization may send ${maxPerOrganization} at once.`,
});

/** Stores the body, and responds 201 with the key and the size. @throws 400, 403, 404, 409, 413, 415, 503 */
export async function upload(exchange: Exchange, contentKey: string): Promise<void> {
  admit(exchange, contentKey);
  const hold = await uploads.take(await organizationOfContent(contentKey));
  try {
    const sizeBytes = await receiveContent(contentKey, arriving(exchange.req));
    answerJson(exchange, 201, { contentKey, sizeBytes }, { 'cache-control': 'no-store' });
  } finally {
    hold.release();
  }
}

function admit({ req, search }: Exchange, contentKey: string): void {
  if (addressExpiry('upload', contentKey, new URLSearchParams(search)) === null) {
    throw forbidden('This URL is invalid or expired: createArtifactUpload returns a new one.');
  }
  const { 'content-encoding': encoding, 'content-range': range, 'content-length': length } = req.headers;
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw unsupportedMediaType.field('Content-Encoding', 'must be absent: send the content without a content coding');
  }
  if (range !== undefined) throw invalid.field('Content-Range', 'must be absent: the content is sent as a whole');
  if (Number(length) > bytes.artifact) throw tooLarge(bytes.artifact);
}

/** The body, chunk by chunk. A client that is silent for too long is disconnected; time spent in the storage does not count. */
async function* arriving(req: IncomingMessage): AsyncGenerator<Uint8Array> {
  // The connection is kept when reading ends early, because the response is still to be sent.
  const chunks = req.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const silent = setTimeout(() => req.destroy(), silenceMs);
      const { done, value } = await chunks.next().finally(() => clearTimeout(silent));
      if (done) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
}
