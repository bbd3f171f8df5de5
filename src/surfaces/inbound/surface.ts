// POST /hooks/{hookId}: events of other systems (docs/triggers.md). The signature is verified over the raw body, the event is stored and
// answered; a job does the rest.

import { receiveEvent } from '#domain/work/inbound/receive.ts';
import { eventsPerMinute, inboundPayload } from '#domain/work/inbound-hooks/bounds.ts';
import { answerJson, type Exchange, mediaType, readBody } from '#foundation/http/http.ts';
import { createThrottle } from '#foundation/http/throttle.ts';
import { notFound } from '#foundation/problem.ts';
import { allowMethods, framed, type Report } from '../frame.ts';

const base = '/hooks/';

export function createInbound({ report }: { report: Report }) {
  // Events are counted per hook, so that a sender at its limit does not block senders of other organizations.
  const throttle = createThrottle('inbound events', eventsPerMinute, 60, 'Too many events were sent to this hook.');

  async function handle(exchange: Exchange): Promise<void> {
    const { req, res, path } = exchange;
    exchange.route = `${base}{hookId}`;
    res.setHeader('cache-control', 'no-store');
    allowMethods(exchange, 'POST');
    const hookId = path.slice(base.length);
    if (!/^hok_[0-9a-f]{32}$/.test(hookId)) throw notFound('inbound hook');
    await throttle.take(`${hookId} ${exchange.address}`);
    const read = (each: (part: Buffer) => void) =>
      readBody(exchange, inboundPayload.verifiedBytes, { kept: inboundPayload.bytes, each });
    const answered = await receiveEvent(hookId, { headers: req.headers, type: mediaType(exchange), read });
    answerJson(exchange, answered.status, answered.body);
  }

  return { name: 'inbound', owns: (path: string) => path.startsWith(base), handle: framed(handle, { report }) };
}
