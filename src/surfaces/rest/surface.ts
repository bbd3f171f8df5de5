// The graph as /v1. Sofa owns the operation documents, the picking of arguments and the call; this surface owns what must be
// exact: path, method, caller, arguments, nulls, errors and headers.
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { useSofa } from 'sofa-api';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { baseUrl } from '#foundation/addresses.ts';
import { answer, type Exchange, type Headers } from '#foundation/http.ts';
import { etagOf, isNotModified } from '#foundation/http-cache.ts';
import { type Answered, once } from '#foundation/idempotency.ts';
import { compilePrune } from '#graph/absent.ts';
import { createContext } from '#graph/context.ts';
import { causeOf } from '#graph/failures.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { type Arguments, argumentReader } from './arguments.ts';
import { type OpenApiSettings, openApiDocument } from './openapi.ts';
import { refuse } from './problems.ts';
import { isConditional, project, type Route } from './projection.ts';
import { createRouter } from './router.ts';

export interface RestSettings extends CallerSettings {
  schema: GraphQLSchema;
  version: string;
  /** OpenAPI paths and records of the handlers that stand beside the gateway under /v1. */
  beside: OpenApiSettings['beside'];
}

/** What a sofa route reads of a request. A whole fetch Request per call is not needed: it takes `params` first. */
interface SofaRequest {
  url: '';
  method: string;
  body: null;
  params: Arguments;
}
type SofaHandler = (request: SofaRequest, holder: Holder) => Promise<unknown>;

/** Passed through sofa as its server context; `execute` leaves the value here, past sofa's own Response. */
interface Holder {
  exchange: Exchange;
  caller: Caller;
  value?: unknown;
  nextCursor?: string | null;
  failure?: unknown;
}

interface CompiledRoute extends Route {
  read: ReturnType<typeof argumentReader>;
  run: SofaHandler;
  /** GET of one record: its answer carries an ETag. */
  conditional: boolean;
}

/** Stands for "the holder has it". */
const answered: Error[] = [];

const base = '/v1';
const documentPath = `${base}/openapi.json`;

export function createRest(settings: RestSettings) {
  const projection = project(settings.schema);
  const compiled = new WeakMap<DocumentNode, CompiledQuery>();
  const prunes = new Map(projection.routes.map((route) => [route.name, compilePrune(route.field.type)]));

  // The documents are sofa's own, one per route: compiling them once is safe; a client's would be unbounded.
  function compile(document: DocumentNode, operationName: string | undefined): CompiledQuery {
    const known = compiled.get(document);
    if (known) return known;
    const made = compileQuery(settings.schema, document, operationName);
    if (!isCompiledQuery(made)) throw new Error(`${operationName} does not compile: ${JSON.stringify(made)}`);
    compiled.set(document, made);
    return made;
  }

  const sofaPath = (route: Route) => route.template.replaceAll(/\{(\w+)\}/g, ':$1');
  const sofa = useSofa({
    basePath: base,
    schema: projection.schema,
    ignore: Object.keys(projection.schema.getTypeMap()), // no type collapses to its id
    depthLimit: 2, // how often one type may sit inside itself
    routes: Object.fromEntries(
      projection.routes.map((route) => [
        `${route.kind}.${route.name}`,
        { method: route.method, path: sofaPath(route) },
      ]),
    ),
    openAPI: { openapi: '3.1.0' } as never,
    swaggerUI: { endpoint: false as never },
    context: (holder: unknown) => holder as never,
    execute: (async ({ document, operationName, variableValues, contextValue }: Execution) => {
      const { exchange, caller } = contextValue;
      const context = createContext(caller, exchange.requestId);
      const result = await compile(document, operationName).query(undefined, context, variableValues);
      if (result.errors) contextValue.failure = causeOf(result.errors);
      else contextValue.value = Object.values(result.data!)[0];
      contextValue.nextCursor = context.nextCursor;
      return { errors: answered };
    }) as never,
    // Sofa would walk the value again into a polyfilled Response; it comes here instead, with nothing left to do.
    errorHandler: (errors) => {
      if (errors !== answered) throw errors[0];
      return undefined as never;
    },
  });

  const router = createRouter<CompiledRoute>(
    projection.routes.map((route) => ({
      ...route,
      read: argumentReader(route),
      run: sofa.__routes.find((one) => one.path === sofaPath(route) && one.method === route.method)!
        .handler as unknown as SofaHandler,
      conditional: isConditional(route),
    })),
  );

  async function execute(route: CompiledRoute, holder: Holder, params: Arguments): Promise<Answered> {
    await route.run({ url: '', method: route.method, body: null, params }, holder);
    if (holder.failure) throw holder.failure;
    prunes.get(route.name)?.(holder.value);
    return { status: route.status, body: JSON.stringify(holder.value) };
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { req } = exchange;
    if (exchange.path === documentPath) return answerDocument(exchange, document);
    const match = router.match(req.method!, exchange.path.slice(base.length));
    if ('allow' in match) return answer(exchange, 204, undefined, { allow: match.allow });
    const { route, values } = match;
    exchange.route = route.template;
    // In this order: who (401), how often (429), may they (403), only then what they sent (400).
    const caller = await identify(settings, exchange);
    admit(caller, route.exposure.scope);
    const params = await route.read(exchange, values);
    const key = route.method === 'POST' ? req.headers['idempotency-key'] : undefined;
    if (typeof key === 'string') {
      const request = { route: `${route.method} ${route.template}`, path: exchange.path, input: params };
      const run = () => execute(route, { exchange, caller }, params);
      const { status, body, replayed } = await once(`${caller.credentialId} ${caller.orgId}`, key, request, run);
      const headers = replayed ? { ...plain, 'idempotency-replayed': 'true' } : { ...plain };
      return answer(exchange, status, body, headers);
    }
    const holder: Holder = { exchange, caller };
    const { status, body } = await execute(route, holder, params);
    if (!route.conditional) return answer(exchange, status, body, { ...plain, ...nextLink(exchange, holder) });
    const etag = etagOf(body);
    if (isNotModified(exchange, etag)) {
      return answer(exchange, 304, undefined, { etag, 'cache-control': 'private, no-cache' });
    }
    answer(exchange, status, body, { ...plain, 'cache-control': 'private, no-cache', etag });
  }

  const document = JSON.stringify(
    openApiDocument({
      skeleton: sofa.openAPIDocument as never,
      projection,
      version: settings.version,
      beside: settings.beside,
    }),
  );
  const owns = (path: string) => path === base || path.startsWith(`${base}/`);
  return { name: 'rest', owns, handle: framed(handle, { report: settings.report, refuse }), document, projection };
}

/** The OpenAPI document, to anyone: it says what a caller could do, not what anyone has. */
function answerDocument(exchange: Exchange, document: string): void {
  exchange.route = '/openapi.json';
  allowMethods(exchange, 'GET', 'HEAD');
  answer(exchange, 200, document, {
    ...plain,
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
  });
}

const plain = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** The address of the next page (RFC 8288), for an answer whose body has no member for its cursor. */
function nextLink({ path, search }: Exchange, { nextCursor }: Holder): Headers {
  if (!nextCursor) return {};
  const query = new URLSearchParams(search);
  query.set('cursor', nextCursor);
  return { link: `<${baseUrl()}${path.slice(base.length)}?${query}>; rel="next"` };
}

interface Execution {
  document: DocumentNode;
  operationName?: string;
  variableValues: Record<string, unknown>;
  contextValue: Holder;
}
