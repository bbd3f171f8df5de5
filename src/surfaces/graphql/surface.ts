// The graph at /graphql: GraphQL over HTTP, with batches and limits. Yoga executes the operations. Before that, this module checks the
// caller, the rate and the body; afterwards, it checks the errors and the size of the response.
import { pipeline } from 'node:stream/promises';
import { mapAsyncIterator } from '@graphql-tools/utils';
import type { GraphQLError, GraphQLSchema } from 'graphql';
import { type Plugin, YogaServer } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import type { Capacity } from '#foundation/http/capacity.ts';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { invalid, notFound, Problem } from '#foundation/problem.ts';
import { type Context, createContext } from '#graph/context.ts';
import { printGraph } from '#graph/print.ts';
import { perSchema } from '#graph/projection/per-schema.ts';
import { bytes, graphql } from '#limits.ts';
import { allowMethods, type CallerSettings, framed, type Report } from '../frame.ts';
import { boundPlugins, documentCache, introspectionPlugin, mayReadSchema, schemaIsClosed } from './bounds.ts';
import { createExecutions, createQueryBudget, type RequestBudget } from './budget.ts';
import { costPlugin, pricePages } from './cost.ts';
import { answerGraphiql, answerPageFile } from './graphiql.ts';
import { idempotencyKeyOf, idempotencyPlugin, type Keyed } from './idempotency.ts';
import { introspectionCache } from './introspection.ts';
import { createKnownQueries } from './known-queries.ts';
import { answerTooLarge, describeError, refuseGraphql } from './problems.ts';
import { replicaPlugin } from './replica.ts';
import { acceptable, acceptsEvents, readOperations, wantsPage } from './requests.ts';
import { knownResultPlugin, PlainResponse, type Request, respond } from './respond.ts';
import { subscriptionPlugin } from './subscriptions.ts';
import { tracePlugin } from './trace.ts';
import { mayBeUrgent } from './urgent.ts';

export interface GraphqlSettings extends CallerSettings {
  schema: GraphQLSchema;
  /** Looks the caller up again while the request is being answered. @throws 401 when the credential is no longer valid */
  recheckCaller(exchange: Exchange, caller: Caller): Promise<Caller>;
  /** Maximum number of open subscriptions of one organization. */
  subscriptionsPerOrganization?: number;
  /** The capacity that all requests share; created here when absent. */
  executions?: Capacity;
}

interface ParsedRequest extends Request {
  caller: Caller;
  budget: RequestBudget;
  keyed: Keyed | undefined;
}

const path = '/graphql';
const schemaPath = `${path}/schema.graphql`;
/** The text of the schema, printed at the first request so that the start is faster. */
const printed = perSchema(printGraph);

function createYoga(settings: GraphqlSettings & { executions: Capacity }, knownQueriesPlugin: Plugin) {
  const { schema } = settings;
  return new YogaServer<ParsedRequest, Context>({
    schema,
    fetchAPI: { Response: PlainResponse as never },
    context: ({ caller, exchange }) => createContext(caller, exchange.requestId),
    parserAndValidationCache: { documentCache: documentCache(), errorCache: documentCache() },
    batching: { limit: graphql.operationsPerBatch },
    // errorPlugin formats and reports errors; yoga would mask and log them a second time.
    maskedErrors: false,
    logging: false,
    cors: false,
    landingPage: false,
    graphiql: false,
    // The body is read here, with its own limit.
    maxRequestBodySize: false,
    plugins: [
      ...boundPlugins(),
      introspectionPlugin(),
      costPlugin(schema),
      introspectionCache(),
      knownQueriesPlugin,
      replicaPlugin(),
      tracePlugin(),
      idempotencyPlugin(),
      parsedParamsPlugin,
      knownResultPlugin,
      subscriptionPlugin(settings),
      errorPlugin(settings.report),
    ],
  });
}

export function createGraphql(settings: GraphqlSettings) {
  const { schema, executions = createExecutions() } = settings;
  pricePages(schema);
  const { answerKnown, plugin } = createKnownQueries(schema, settings.report);
  const yoga = createYoga({ ...settings, executions }, plugin);

  /** Handles all requests at and below /graphql. */
  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = exchange.path === schemaPath ? schemaPath : path;
    if (exchange.path === path) await (wantsPage(exchange) ? answerGraphiql(exchange) : answerOperations(exchange));
    else if (exchange.path === schemaPath) await answerSchema(exchange);
    else if (!(await answerPageFile(exchange))) throw notFound('path');
  }

  async function answerOperations(exchange: Exchange): Promise<void> {
    const accept = acceptable(exchange);
    const caller = await settings.authenticate(exchange);
    // One operation is counted before the body is read, so that malformed bodies count too; the rest of a batch is counted once its size is
    // known.
    const over = await countFirst(exchange, caller);
    const operations = await readOperations(exchange);
    if (over && !mayBeUrgent(schema, operations)) throw over;
    const size = Array.isArray(operations) ? operations.length : 1;
    if (size > 1) await settings.meter(exchange, caller, size - 1);
    const budget = createQueryBudget(exchange, caller, { operations: size, executions, meter: settings.meter, over });
    const keyed = idempotencyKeyOf(exchange, operations);
    const response = await respond(yoga, answerKnown, accept, { exchange, caller, operations, budget, keyed });
    const refusal = budget.refusal() ?? keyed?.refusal;
    if (refusal) throw refusal;
    if (keyed?.replayed) response.headers['idempotency-replayed'] = 'true';
    await send(exchange, response, budget);
  }

  /**
   * Counts an operation against the caller's rate. If a runtime is over its rate, the 429 is returned and not thrown, because urgent
   * operations of a runtime are executed nevertheless.
   */
  async function countFirst(exchange: Exchange, caller: Caller): Promise<Problem | undefined> {
    try {
      await settings.meter(exchange, caller, 1);
    } catch (error) {
      if (error instanceof Problem && caller.scopes.has('runtime:report')) return error;
      throw error;
    }
    return undefined;
  }

  async function answerSchema(exchange: Exchange): Promise<void> {
    allowMethods(exchange, 'GET', 'HEAD');
    if (!mayReadSchema(await settings.authenticate(exchange))) throw schemaIsClosed();
    answer(exchange, 200, printed(schema), {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'private, no-cache',
    });
  }

  const owns = (asked: string) => asked === path || asked.startsWith(`${path}/`);
  return { name: 'graphql', owns, handle: framed(handle, { report: settings.report, refuse: refuseGraphql }) };
}

/**
 * Passes the parsed parameters to yoga. Refuses a subscription if the client does not accept a stream of events, or has sent it in a batch.
 */
const parsedParamsPlugin: Plugin<ParsedRequest, ParsedRequest> = {
  onRequestParse({ serverContext, setRequestParser }) {
    setRequestParser(() => serverContext.operations as never);
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const { exchange, operations }: ParsedRequest = args.contextValue;
    if (acceptsEvents(exchange) && !Array.isArray(operations)) return;
    const problem = invalid(
      'A subscription is answered as text/event-stream: accept this media type, and do not send the subscription in a batch.',
    );
    setResultAndStopExecution({ errors: [problem] });
  },
};

type Result = { data?: unknown; errors?: readonly GraphQLError[] };

/** Formats every error for clients, and reports internal ones. */
function errorPlugin(report: Report): Plugin<object, ParsedRequest> {
  function withProblems<R extends Result>(result: R, { exchange, caller }: ParsedRequest): R {
    if (!result.errors) return result;
    const errors = result.errors.map((one) => {
      const { error, problem } = describeError(one, 'data' in result, !mayReadSchema(caller));
      if (problem.status >= 500) report(exchange, one);
      return error;
    });
    return { ...result, errors };
  }
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result)) setResult(result.map((one) => withProblems(one as Result, serverContext)) as never);
      else if (Symbol.asyncIterator in result) {
        const events = result as AsyncIterable<Result>;
        setResult(mapAsyncIterator(events, (event) => withProblems(event, serverContext)) as never);
      } else setResult(withProblems(result as Result, serverContext) as never);
    },
  };
}

/** Sends yoga's response: a body at once, or the events of a subscription until either side ends them. */
async function send(exchange: Exchange, { status, headers, body }: PlainResponse, budget: RequestBudget) {
  headers['cache-control'] = 'no-store';
  if (typeof body === 'string') {
    const size = Buffer.byteLength(body);
    if (size > bytes.graphqlAnswer) throw answerTooLarge(size);
    budget.answer(size);
    return answer(exchange, status, body, headers);
  }
  // Yoga's value `none` is not a valid content coding (RFC 9110 §8.4), so the header is removed.
  delete headers['content-encoding'];
  // Proxies must not buffer the events. The connection closes after the last event, because an open connection would delay the end of the
  // process.
  exchange.res.writeHead(status, { ...headers, 'x-accel-buffering': 'no', connection: 'close' });
  // When the pipeline breaks, the socket is closed and no response can be sent.
  await pipeline(body, exchange.res).catch(() => {});
}
