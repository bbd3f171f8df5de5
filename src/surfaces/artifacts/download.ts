// Sends an artifact's content to the holder of a signed URL: all of it or a range (RFC 9110 §14), or a 304 if it is unchanged (RFC 9110 §13).
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findArchive } from '#domain/lifecycle/closure/export.ts';
import { addressExpiry } from '#domain/work/artifacts/address.ts';
import { readContent } from '#domain/work/artifacts/content.ts';
import { findArtifactByAddress } from '#domain/work/artifacts/operations.ts';
import { openLines, readingCapacity } from '#domain/work/recordings/content.ts';
import { partsOfRun } from '#domain/work/recordings/operations.ts';
import { now } from '#foundation/clock.ts';
import { drained } from '#foundation/http/event-stream.ts';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { isNotModified } from '#foundation/http/http-cache.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { type ByteRange, storage } from '#foundation/storage/storage.ts';
import { presentation } from './disposition.ts';
import { rangeOf } from './range.ts';

/** Sends an artifact. @throws 403, 404 */
export async function download(exchange: Exchange, artifactId: string): Promise<void> {
  const expiry = addressExpiry('artifact', artifactId, new URLSearchParams(exchange.search));
  if (expiry === null) {
    throw forbidden('This URL is invalid or expired: GET /v1/artifacts/{artifactId} returns a new one.');
  }
  const artifact = await findArtifactByAddress(artifactId);
  const { sizeBytes: size, contentKey, contentType, kind, id } = artifact;
  const file = { size, key: contentKey, presentation: presentation(contentType, `${kind}-${id}`) };
  await send(exchange, { ...file, read: (range) => readContent(artifact, range) }, expiry);
}

/** Sends the archive of a closed organization. @throws 403, 404 */
export async function downloadExport(exchange: Exchange, orgId: string): Promise<void> {
  const expiry = addressExpiry('export', orgId, new URLSearchParams(exchange.search));
  if (expiry === null) {
    throw forbidden('This URL is invalid or expired: the query organizationExport returns a new one.');
  }
  const { key, size } = await findArchive(orgId);
  const file = { size, key, presentation: presentation('application/zip', `export-${orgId}`) };
  await send(exchange, { ...file, read: (range) => storage().read(key, range) }, expiry);
}

/** The lines of a recording. @throws 403, 404, 502 when a part was altered */
export async function downloadRecording({ res, search }: Exchange, runId: string): Promise<void> {
  if (addressExpiry('recording', runId, new URLSearchParams(search)) === null) {
    throw forbidden('This URL is invalid or expired: GET /v1/runs/{runId}/recording returns a new one.');
  }
  const parts = await partsOfRun(runId);
  if (parts.length === 0) throw notFound('recording');
  const hold = await readingCapacity.take(parts[0]!.orgId);
  try {
    const lines = await openLines(parts, () => res.destroyed);
    res.writeHead(200, {
      'content-type': 'application/jsonl',
      'content-disposition': `attachment; filename="recording-${runId}.jsonl"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    await sendLines(res, lines);
  } finally {
    hold.release();
  }
}

/**
 * Number of bytes that are written at a time. The client must read each of these pieces within `deliveryMs`. If pieces were larger, such as
 * a whole part of the recording, a slow client would be disconnected although it makes progress.
 */
const pieceBytes = 64 * 1024;

async function sendLines(res: ServerResponse, lines: AsyncGenerator<Buffer>): Promise<void> {
  for await (const part of lines) {
    for (let at = 0; at < part.length && !res.destroyed; at += pieceBytes) {
      if (!res.write(part.subarray(at, at + pieceBytes))) await drained(res);
    }
  }
  res.end();
}

interface SentFile {
  size: number;
  /** Key of the content, which is also its entity tag because the content of a key never changes. */
  key: string;
  presentation: Record<string, string>;
  read(range?: ByteRange): Promise<Readable | null>;
}

async function send(exchange: Exchange, file: SentFile, expiry: number): Promise<void> {
  const { req, res } = exchange;
  const { size, key, read } = file;
  const etag = `"${key}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${Math.floor((expiry - now()) / 1_000)}, immutable`,
    // Trace viewers are pages of other origins. They may read the content, because no cookie or credential is involved.
    'access-control-allow-origin': '*',
    ...file.presentation,
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
  const content = await read(range);
  if (!content) throw notFound('content');
  res.writeHead(status, head);
  await pipeline(content, res);
}
