// Sends a problem to a client that may still be sending. Closing its connection at once would discard a response that it has not read (RFC
// 9112 §9.6), so the response is sent first, and further data is read and discarded for a moment before the exchange ends.
import { finished } from 'node:stream';
import { seconds } from '#foundation/clock.ts';
import { type Exchange, jsonType } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';

/** How long the body of a refused request is still read after the response was sent. */
const lingerMs = seconds(5);

export function refuseUpload({ req, res }: Exchange, { status, body, headers }: Problem): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': jsonType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  res.write(text);
  const late = setTimeout(() => req.destroy(), lingerMs);
  finished(req, () => {
    clearTimeout(late);
    res.end();
  });
  req.resume();
}
