// The agent-to-agent endpoint at {a2a_url}: a resource of its own, with the agent card beside it for anyone (A2A 1.0 §8.2;
// specification, Authentication 3).
import type { Caller } from '#access/principal.ts';
import { addresses } from '#foundation/addresses.ts';
import { answerJson, type Exchange, mediaType, readText } from '#foundation/http.ts';
import { methodNotAllowed, toProblem, unsupportedMediaType } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { agentCard } from './card.ts';
import { respond } from './messages.ts';

export interface A2aSettings {
  version: string;
  /** Who is asking; throws 401. */
  authenticate(exchange: Exchange): Promise<Caller>;
  /** Counts the call against the caller's rate; throws 429. */
  meter(exchange: Exchange, caller: Caller): Promise<void>;
  /** Told of every problem of ours (5xx) with its cause. */
  report(exchange: Exchange, error: unknown): void;
}

const wellKnown = '/.well-known/agent-card.json';

export function createA2a(settings: A2aSettings) {
  const { host, pathname: endpoint } = new URL(addresses().a2a);
  const card = agentCard(settings.version);
  // RFC 8615 puts it at the host; clients that are given {a2a_url} itself look below it.
  const cards = new Set([wellKnown, endpoint.replace(/\/$/, '') + wellKnown]);

  function answerCard(exchange: Exchange): void {
    if (!['GET', 'HEAD'].includes(exchange.req.method!)) throw methodNotAllowed('GET, HEAD');
    answerJson(exchange, 200, card, { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' });
  }

  async function operate(exchange: Exchange): Promise<void> {
    const { req } = exchange;
    const caller = await settings.authenticate(exchange);
    await settings.meter(exchange, caller);
    if (req.method !== 'POST') throw methodNotAllowed('POST');
    if (mediaType(exchange) !== 'application/json') throw unsupportedMediaType('Send the request as application/json.');
    const version = req.headers['a2a-version'];
    const response = respond(await readText(exchange, bytes.jsonBody), version ? String(version) : undefined);
    answerJson(exchange, 200, response, { 'cache-control': 'no-store' });
  }

  async function handle(exchange: Exchange): Promise<void> {
    const isCard = cards.has(exchange.path);
    exchange.route = isCard ? wellKnown : endpoint;
    try {
      await (isCard ? answerCard(exchange) : operate(exchange));
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) settings.report(exchange, error);
      answerJson(exchange, problem.status, problem.body, { ...problem.headers, 'cache-control': 'no-store' });
    }
  }

  /** An endpoint on a host of its own may be that host's root, which elsewhere is the console's. */
  const owns = (path: string, asked: string | undefined): boolean =>
    cards.has(path) || (path === endpoint && (endpoint !== '/' || asked === host));
  return { name: 'a2a', owns, handle };
}
