// The agent-to-agent endpoint at {a2a_url}: a resource of its own, with the agent card beside it for anyone (A2A 1.0 §8.2;
// specification, Authentication 3).
import { addresses } from '#foundation/addresses.ts';
import { answerJson, type Exchange, mediaType, readText } from '#foundation/http.ts';
import { unsupportedMediaType } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { agentCard } from './card.ts';
import { respond } from './messages.ts';

export interface A2aSettings extends CallerSettings {
  version: string;
}

const wellKnown = '/.well-known/agent-card.json';

export function createA2a(settings: A2aSettings) {
  const { host, pathname: endpoint } = new URL(addresses().a2a);
  const card = agentCard(settings.version);
  // RFC 8615 puts it at the host; clients that are configured with {a2a_url} itself look below it.
  const cards = new Set([wellKnown, endpoint.replace(/\/$/, '') + wellKnown]);

  function answerCard(exchange: Exchange): void {
    allowMethods(exchange, 'GET', 'HEAD');
    answerJson(exchange, 200, card, { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' });
  }

  async function answerMessage(exchange: Exchange): Promise<void> {
    await identify(settings, exchange);
    allowMethods(exchange, 'POST');
    if (mediaType(exchange) !== 'application/json') throw unsupportedMediaType('Send the request as application/json.');
    const version = exchange.req.headers['a2a-version'];
    const response = respond(await readText(exchange, bytes.jsonBody), version ? String(version) : undefined);
    answerJson(exchange, 200, response, { 'cache-control': 'no-store' });
  }

  async function handle(exchange: Exchange): Promise<void> {
    const isCard = cards.has(exchange.path);
    exchange.route = isCard ? wellKnown : endpoint;
    await (isCard ? answerCard(exchange) : answerMessage(exchange));
  }

  /** An endpoint on a host of its own may be that host's root, which elsewhere is the console's. */
  const owns = (path: string, requestHost: string | undefined): boolean =>
    cards.has(path) || (path === endpoint && (endpoint !== '/' || requestHost === host));
  return { name: 'a2a', owns, handle: framed(handle, settings) };
}
