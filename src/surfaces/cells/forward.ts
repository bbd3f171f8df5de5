// Sends a request to the cell of its organization, and sends that cell's response to the client. Both are passed on as streams. Clients
// need no change, whereas a redirect would make many of them drop their Authorization header
// (docs/decisions/0082-requests-find-their-cell.md).
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { CellPlace } from '#domain/lifecycle/moves/locate.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { cellHeader, sendToCell } from '#foundation/http/cells.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { upstreamUnavailable } from '#foundation/problem.ts';
import { subscriptions } from '#limits.ts';

/** Headers of one connection (RFC 9110 §7.6.1), and headers that this cell sets itself. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['host', cellHeader, 'x-request-id', 'x-forwarded-for'],
]);

const queue = { perKey: 500, all: 2_000, waitMs: seconds(5) };
/**
 * Maximum number of open requests of one organization to other cells, including streams. It is higher than the number of subscriptions that
 * an organization can have open.
 */
const ofOrganization = createCapacity({
  ...{ name: 'forwarded requests', all: 2_000, perKey: subscriptions.perOrganization + 100, queue },
  description: 'Too many requests of this organization are being forwarded to its cell.',
});
/** Maximum number of open requests to one cell. If a cell does not answer, half of the total remains for other cells. */
const ofCell = createCapacity({
  ...{ name: 'forwarded requests of cells', all: 2_000, perKey: 1_000, queue },
  description: 'Too many requests are being forwarded to this cell.',
});
/** Time after which a cell that neither reads nor sends is considered lost: longer than any request waits for its first byte. */
const silenceMs = minutes(10);

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name) && !named.has(name)));
}

/** A cell sets this header in its response to a forwarded request when the cell does not have the organization of the request. */
export const missingHeader = 'x-aep-cell-missing';

/**
 * Forwards the request. Returns false, and sends no response, when the organization is no longer in that cell. @throws 503 when the cell
 * does not answer, or too many requests are open
 */
export async function forwardToCell(place: CellPlace, exchange: Exchange): Promise<boolean> {
  const hold = await ofOrganization.take(place.orgId ?? place.cell);
  try {
    const cellHold = await ofCell.take(place.cell);
    return await forward(place.cell, exchange).finally(() => cellHold.release());
  } finally {
    hold.release();
  }
}

async function forward(cell: string, { req, res, requestId, address }: Exchange): Promise<boolean> {
  // The client may have disconnected while the request was waiting.
  if (res.destroyed) return true;
  const gone = new AbortController();
  res.once('close', () => gone.abort());

  // Node frames the body of a GET or DELETE only when it is told to: the other cell would read unframed bytes as the next request on the
  // connection.
  const framing = req.headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' };
  const response = await sendToCell(cell, {
    method: req.method!,
    url: req.url!,
    headers: { ...endToEnd(req.headers), ...framing, 'x-request-id': requestId },
    client: address,
    signal: gone.signal,
    silenceMs,
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
  // When the client or the cell disconnects, the other connection is closed, too.
  await pipeline(response, res).catch(() => {});
  return true;
}

/** Whether the request has a body, which can be sent only once. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
