// Serves the fields of the GraphQL schema as REST routes under /v1. Each request is routed, its caller is identified, its arguments are
// read, its operation is executed (sofa.ts), and the response is written.
import type { GraphQLSchema } from 'graphql';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { baseUrl } from '#foundation/http/addresses.ts';
import { answer, type Exchange, type Headers, jsonType } from '#foundation/http/http.ts';
import { etagOf, isNotModified } from '#foundation/http/http-cache.ts';
import { once } from '#foundation/postgres/idempotency.ts';
import type { Outcome } from '#graph/projection/operation.ts';
import { perSchema } from '#graph/projection/per-schema.ts';
import { refuseFor } from '../bearer.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { type Arguments, argumentReader } from './arguments.ts';
import { type OpenApiSettings, openApiDocument } from './openapi.ts';
import { createRouter } from './router.ts';
import { isConditional, type RestRoute, routesOf } from './routes.ts';
import { createSofa, type RouteCall } from './sofa.ts';

export interface RestSettings extends CallerSettings {
  schema: GraphQLSchema;
  version: string;
  /** OpenAPI paths and records of the endpoints under /v1 that are not in the graph. */
  beside: OpenApiSettings['beside'];
}

interface ServedRoute extends RestRoute {
  read: ReturnType<typeof argumentReader>;
  call: RouteCall;
  /** Handles the GET of one record, whose response has an ETag. */
  conditional: boolean;
}

const base = '/v1';
const documentPath = `${base}/openapi.json`;

const prepare = perSchema((schema) => {
  const routes = routesOf(schema);
  return { routes, sofa: createSofa(schema, routes, base) };
});

export function createRest(settings: RestSettings) {
  const { schema, version, beside, report } = settings;
  const { routes, sofa } = prepare(schema);
  const router = createRouter<ServedRoute>(
    routes.routes.map((route) => ({
      ...route,
      read: argumentReader(route),
      call: sofa.callOf(route),
      conditional: isConditional(route),
    })),
  );
  let text: string | undefined;
  /** Returns the OpenAPI document. The document is written at the first request for it, so that the service starts faster. */
  const document = (): string => {
    text ??= JSON.stringify(openApiDocument({ skeleton: sofa.skeleton, routes, version, beside }));
    return text;
  };

  async function handle(exchange: Exchange): Promise<void> {
    const { method, headers } = exchange.req;
    if (exchange.path === documentPath) return answerDocument(exchange, document());
    const match = router.match(method!, exchange.path.slice(base.length));
    if ('allow' in match) return answer(exchange, 204, undefined, { allow: match.allow });
    const { route, values } = match;
    exchange.route = route.template;
    // The checks run in this order: identity (401), rate (429), authorization (403), and only then the input (400).
    const caller = await identify(settings, exchange);
    admit(caller, route.exposure.scope, route.name);
    const args = await route.read(exchange, values);
    const key = route.method === 'POST' ? headers['idempotency-key'] : undefined;
    if (typeof key === 'string') return answerOnce(exchange, route, caller, args, key);
    const outcome = await route.call(caller, exchange.requestId, args);
    const body = JSON.stringify(outcome.value);
    if (route.conditional) return answerConditional(exchange, route.status, body);
    answer(exchange, route.status, body, { ...plain, ...nextLink(exchange, outcome), ...ownLink(route, body) });
  }

  const owns = (path: string) => path === base || path.startsWith(`${base}/`);
  return { name: 'rest', owns, handle: framed(handle, { report, refuse: refuseFor('api') }), document };
}

/** The OpenAPI document, public because it contains no caller's data. */
function answerDocument(exchange: Exchange, document: string): void {
  exchange.route = '/openapi.json';
  allowMethods(exchange, 'GET', 'HEAD');
  answer(exchange, 200, document, {
    ...plain,
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
  });
}

const plain = { 'content-type': jsonType, 'cache-control': 'no-store' };

/** Executes a POST with an Idempotency-Key, or replays the response to its first call. */
async function answerOnce(exchange: Exchange, route: ServedRoute, caller: Caller, input: Arguments, key: string) {
  const { credentialId, orgId } = caller;
  const keyed = { credentialId, orgId, key, route: `${route.method} ${route.template}`, path: exchange.path, input };
  const { status, body, replayed } = await once({ ...keyed, isAlone: true }, async () => {
    const { value } = await route.call(caller, exchange.requestId, input);
    return { status: route.status, body: JSON.stringify(value) };
  });
  answer(exchange, status, body, {
    ...plain,
    ...ownLink(route, body),
    ...(replayed && { 'idempotency-replayed': 'true' }),
  });
}

function answerConditional(exchange: Exchange, status: number, body: string): void {
  const etag = etagOf(body);
  const cacheControl = 'private, no-cache';
  if (isNotModified(exchange, etag)) answer(exchange, 304, undefined, { etag, 'cache-control': cacheControl });
  else answer(exchange, status, body, { 'content-type': jsonType, etag, 'cache-control': cacheControl });
}

/** The `Link` header of a page. It is derived from the text of the body, so that a repeated response has it too. */
const ownLink = ({ exposure }: ServedRoute, body: string): Headers => {
  const { link } = exposure.rest!;
  return link ? { link: link.of(JSON.parse(body) as never) } : {};
};

/** The URL of the next page (RFC 8288), for a record that does not contain its cursor. */
function nextLink({ path, search }: Exchange, { nextCursor }: Outcome): Headers {
  if (!nextCursor) return {};
  const query = new URLSearchParams(search);
  query.set('cursor', nextCursor);
  return { link: `<${baseUrl()}${path.slice(base.length)}?${query}>; rel="next"` };
}
