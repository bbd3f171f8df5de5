// Sends an artifact's content to the holder of a signed address: whole or a range of it (RFC 9110 §14), unless unchanged (§13).
import { pipeline } from 'node:stream/promises';
import { addressExpiry } from '#domain/artifacts/address.ts';
import { readContent } from '#domain/artifacts/content.ts';
import type { Artifact } from '#domain/artifacts/model.ts';
import { findArtifactByAddress } from '#domain/artifacts/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { answer, type Exchange } from '#foundation/http.ts';
import { isNotModified } from '#foundation/http-cache.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { presentation } from './disposition.ts';
import { rangeOf } from './range.ts';

/** @throws 403, 404 */
export async function download(exchange: Exchange, artifactId: string): Promise<void> {
  const expiry = addressExpiry('artifact', artifactId, new URLSearchParams(exchange.search));
  if (expiry === null) {
    throw forbidden('This address is invalid or expired: GET /v1/artifacts/{artifactId} returns a new one.');
  }
  await send(exchange, await findArtifactByAddress(artifactId), expiry);
}

async function send(exchange: Exchange, artifact: Row<Artifact>, expiry: number): Promise<void> {
  const { req, res } = exchange;
  const { sizeBytes: size, contentKey, contentType, kind, id } = artifact;
  // A content never changes under its key.
  const etag = `"${contentKey}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${Math.floor((expiry - now()) / 1_000)}, immutable`,
    // Viewers of traces are pages of other origins. No credential is involved.
    'access-control-allow-origin': '*',
    ...presentation(contentType, `${kind}-${id}`),
  };
  if (isNotModified(exchange, etag)) return answer(exchange, 304, undefined, headers);
  const ifRange = req.headers['if-range'];
  const asked = req.method === 'GET' && (ifRange === undefined || ifRange === etag) ? req.headers.range : undefined;
  const range = rangeOf(asked, size);
  if (range === null) {
    return answer(exchange, 416, undefined, { 'content-range': `bytes */${size}`, 'cache-control': 'no-store' });
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const part = range && { 'content-range': `bytes ${first}-${last}/${size}` };
  const head = { ...headers, ...part, 'content-length': String(last - first + 1) };
  const status = range ? 206 : 200;
  if (req.method === 'HEAD') {
    res.writeHead(status, head).end();
    return;
  }
  const content = await readContent(artifact, range);
  if (!content) throw notFound('content');
  res.writeHead(status, head);
  await pipeline(content, res);
}
