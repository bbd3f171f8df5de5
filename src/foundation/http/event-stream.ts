// Responses of server-sent events (WHATWG HTML, section 9.2).
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { seconds } from '../clock.ts';
import { deliveryMs } from './http.ts';

/** Comments in the stream keep a connection open through proxies while no event is sent. */
const commentIntervalMs = seconds(15);

interface Events<Event> {
  /**
   * The first event. The caller reads it before the stream begins: if reading it fails, the caller can still send an ordinary error
   * response.
   */
  first: IteratorResult<Event>;
  /** Later events. The iterator is ended when the reader disconnects. */
  rest: AsyncGenerator<Event>;
  blocksOf(event: Event): string;
  /**
   * Returns the text to send when the source of the events fails before the response ends. If this function is absent, the connection is
   * closed, and the reader reconnects.
   */
  blocksOfError?(error: unknown): string;
}

/**
 * Sends events until the source ends or the reader disconnects. While a reader is slow, no event is taken from the source; a reader that
 * reads nothing for `deliveryMs` is disconnected.
 */
export async function sendEvents<Event>(
  res: ServerResponse,
  { first, rest, blocksOf, blocksOfError }: Events<Event>,
): Promise<void> {
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const comments = setInterval(() => res.write(':\n\n'), commentIntervalMs);
  try {
    for (let step = first; !step.done && !res.destroyed; step = await rest.next()) {
      if (!res.write(blocksOf(step.value))) await drained(res);
    }
  } catch (error) {
    if (!blocksOfError) throw error;
    res.write(blocksOfError(error));
  } finally {
    clearInterval(comments);
    await rest.return(undefined);
  }
  res.end();
}

/** Waits until a slow reader has read what was written, or has left. A reader that reads nothing for `deliveryMs` is disconnected. */
export async function drained(res: ServerResponse): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  const late = setTimeout(() => res.destroy(), deliveryMs);
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  } finally {
    clearTimeout(late);
    // Removes the listener of the event that did not occur; otherwise each wait would leave a listener.
    settled.abort();
  }
}
