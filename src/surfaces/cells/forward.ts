// Sends a request to the cell of its organization and its response to the client, both as streams. Clients need no change: a redirect
// would make many of them drop their Authorization header (docs/decisions/0082-requests-find-their-cell.md).
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { sendToCell } from '#foundation/http/cells.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { upstreamUnavailable } from '#foundation/problem.ts';

/** Headers of one connection (RFC 9110 §7.6.1), and headers that this cell sets itself. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['host', 'x-aep-cell', 'x-request-id', 'x-forwarded-for'],
]);

/** Open requests to other cells, streams among them. */
const open = createCapacity({
  name: 'forwarded requests',
  all: 2_000,
  perKey: 500,
  queue: { perKey: 500, all: 2_000, waitMs: seconds(5) },
  description: 'Too many requests are being forwarded to this cell.',
});

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));

/** Header of the answer of a cell that does not have the organization of a forwarded request. */
export const missingHeader = 'x-aep-cell-missing';

/**
 * Forwards the request. Returns false, and answers nothing, when the organization is no longer in that cell. @throws 503 when the cell does
 * not answer, or too many requests are open
 */
export async function forwardToCell(cell: string, exchange: Exchange): Promise<boolean> {
  const { req, res, requestId, address } = exchange;
  const hold = await open.take(cell);
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  try {
    const response = await sendToCell(cell, {
      method: req.method!,
      url: req.url!,
      headers: { ...endToEnd(req.headers), 'x-request-id': requestId },
      client: address,
      signal: gone.signal,
      ...(hasBody(req.headers) && { body: req }),
    }).catch((error: unknown) => {
      const unavailable = upstreamUnavailable(`The cell ${cell}, which has the organization, does not answer.`, 5);
      unavailable.cause = error;
      throw unavailable;
    });
    if (response.headers[missingHeader]) {
      response.resume();
      return false;
    }
    res.writeHead(response.statusCode!, endToEnd(response.headers) as Record<string, string>);
    res.flushHeaders();
    // When the client or the cell disconnects, the other side is ended too.
    await pipeline(response, res).catch(() => {});
    return true;
  } finally {
    hold.release();
  }
}

/** Whether the request has a body, which can be sent only once. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
