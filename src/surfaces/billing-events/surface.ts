// POST /v1/billing/events/{provider}: events of payment providers, whose signatures are verified
// (docs/decisions/0035-test-money-and-events.md). A repeated event gets 200 and changes nothing; a forged or contradictory one gets 400.
import { applyEvent } from '#domain/money/billing/events.ts';
import { providerNamed } from '#domain/money/billing/provider.ts';
import { answerJson, type Exchange, readBody } from '#foundation/http/http.ts';
import { createEventThrottle } from '#foundation/http/throttle.ts';
import { notFound } from '#foundation/problem.ts';
import { bytes, rates } from '#limits.ts';
import { allowMethods, framed, type Report } from '../frame.ts';

const base = '/v1/billing/events/';

export function createBillingEvents({ report }: { report: Report }) {
  const throttle = createEventThrottle('payment events', rates.paymentEventsPerMinute);

  async function handle(exchange: Exchange): Promise<void> {
    const { res, req, path } = exchange;
    exchange.route = `${base}{provider}`;
    res.setHeader('cache-control', 'no-store');
    allowMethods(exchange, 'POST');
    await throttle.take(exchange.address);
    const provider = providerNamed(path.slice(base.length));
    if (!provider) throw notFound('payment provider');
    const event = await provider.readEvent(await readBody(exchange, bytes.jsonBody), req.headers);
    if (event.type !== 'ignored') await applyEvent(provider.name, event);
    answerJson(exchange, 200, { received: true });
  }

  return { name: 'billing-events', owns: (path: string) => path.startsWith(base), handle: framed(handle, { report }) };
}
