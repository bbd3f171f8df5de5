// The graph at /graphql: GraphQL over HTTP, in batches, within bounds. Yoga executes and writes the answer; what must be exact
// before it (caller, rate, body) and after it (errors, size) is done here.
import { pipeline } from 'node:stream/promises';
import { mapAsyncIterator } from '@graphql-tools/utils';
import type { GraphQLError, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import type { Capacity } from '#foundation/capacity.ts';
import { answer, type Exchange, type Headers } from '#foundation/http.ts';
import { invalid, isTooBusy, methodNotAllowed, notFound, toProblem } from '#foundation/problem.ts';
import { createContext } from '#graph/context.ts';
import { printGraph } from '#graph/print.ts';
import { bytes, graphql } from '#limits.ts';
import { boundPlugins, documentCache, introspectionPlugin, mayReadSchema, schemaIsClosed } from './bounds.ts';
import { createBudget, createExecutions, type RequestBudget } from './budget.ts';
import { compiling } from './compiled.ts';
import { costPlugin, pricePages } from './cost.ts';
import { answerTooLarge, refuse, tell } from './failures.ts';
import { answerPage, answerPageFile } from './graphiql.ts';
import { introspectionCache } from './introspection.ts';
import { acceptable, acceptsEvents, type Operations, readOperations, wantsPage } from './requests.ts';
import { type Reader, subscribing } from './subscriptions.ts';

export interface GraphqlSettings {
  schema: GraphQLSchema;
  /** Who is asking; throws 401. */
  authenticate(exchange: Exchange): Promise<Caller>;
  /** The caller of an exchange that goes on, as it is now; throws 401. */
  callerStill(exchange: Exchange, caller: Caller): Promise<Caller>;
  /** Counts points against the caller's rate; throws 429. */
  meter(exchange: Exchange, caller: Caller, points: number): Promise<void>;
  /** Open at once. */
  subscriptionsPerOrganization?: number;
  /** What all requests share; created here when absent. */
  executions?: Capacity;
  /** Told of every problem of ours (5xx) with its cause, once. */
  report(exchange: Exchange, error: unknown): void;
}

interface Asked extends Reader {
  operations: Operations;
  budget: RequestBudget;
}

const path = '/graphql';
const schemaPath = `${path}/schema.graphql`;

export function createGraphql(settings: GraphqlSettings) {
  const { schema, executions = createExecutions() } = settings;
  const text = printGraph(schema);
  pricePages(schema);

  const yoga = createYoga<Asked>({
    schema,
    graphqlEndpoint: path,
    context: ({ caller, exchange }) => createContext(caller, exchange.requestId),
    parserAndValidationCache: { documentCache: documentCache(), errorCache: documentCache() },
    batching: { limit: graphql.operationsPerBatch },
    // Errors get their words in one place, below; yoga would mask and log them a second time.
    maskedErrors: false,
    logging: false,
    cors: false,
    landingPage: false,
    graphiql: false,
    plugins: [
      ...boundPlugins(),
      introspectionPlugin(),
      costPlugin(schema),
      introspectionCache(),
      compiling(),
      given,
      subscribing({ ...settings, executions }),
      telling(settings.report),
    ],
  });

  /** Everything at and below /graphql. */
  async function handle(exchange: Exchange): Promise<void> {
    try {
      exchange.route = exchange.path === schemaPath ? schemaPath : path;
      if (exchange.path === path) await (wantsPage(exchange) ? answerPage(exchange) : operate(exchange));
      else if (exchange.path === schemaPath) await answerSchema(exchange);
      else if (!(await answerPageFile(exchange))) throw notFound('path');
    } catch (error) {
      if (exchange.res.headersSent || exchange.res.destroyed) return;
      const problem = toProblem(error);
      if (problem.status >= 500 && !isTooBusy(problem)) settings.report(exchange, error);
      refuse(exchange, problem);
    }
  }

  async function operate(exchange: Exchange): Promise<void> {
    const accept = acceptable(exchange);
    const caller = await settings.authenticate(exchange);
    // One is counted before the body is read, so that broken bodies count too; the rest of a batch when it is known.
    await settings.meter(exchange, caller, 1);
    const operations = await readOperations(exchange);
    const size = Array.isArray(operations) ? operations.length : 1;
    if (size > 1) await settings.meter(exchange, caller, size - 1);
    const budget = createBudget(exchange, caller, { operations: size, executions, meter: settings.meter });
    // A request of our own making: yoga parses the address, and a broken Host header must not reach that.
    const method = exchange.req.method!;
    const request = new yoga.fetchAPI.Request(`http://localhost${path}`, { method, headers: { accept } });
    const response = await yoga.fetch(request, { exchange, caller, operations, budget });
    if (budget.refusal) throw budget.refusal;
    await send(exchange, response, budget);
  }

  async function answerSchema(exchange: Exchange): Promise<void> {
    if (exchange.req.method !== 'GET' && exchange.req.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
    if (!mayReadSchema(await settings.authenticate(exchange))) throw schemaIsClosed();
    answer(exchange, 200, text, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'private, no-cache' });
  }

  const owns = (asked: string) => asked === path || asked.startsWith(`${path}/`);
  return { name: 'graphql', owns, handle };
}

/** Hands yoga the parameters that were read before it, and keeps subscriptions to where their events can go. */
const given: Plugin<Asked, Asked> = {
  onRequestParse({ serverContext, setRequestParser }) {
    setRequestParser(() => serverContext.operations as never);
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const { exchange, operations }: Asked = args.contextValue;
    if (acceptsEvents(exchange) && !Array.isArray(operations)) return;
    const problem = invalid(
      'A subscription is answered as text/event-stream: accept that, and send it outside of a batch.',
    );
    setResultAndStopExecution({ errors: [problem] });
  },
};

type Result = { data?: unknown; errors?: readonly GraphQLError[] };

/** Gives every error its words, and tells the log of those that are ours. */
function telling(report: GraphqlSettings['report']): Plugin<object, Asked> {
  function told<R extends Result>(result: R, { exchange, caller }: Asked): R {
    if (!result.errors) return result;
    const errors = result.errors.map((one) => {
      const { error, problem } = tell(one, 'data' in result, !mayReadSchema(caller));
      if (problem.status >= 500) report(exchange, one);
      return error;
    });
    return { ...result, errors };
  }
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result)) setResult(result.map((one) => told(one as Result, serverContext)) as never);
      else if (Symbol.asyncIterator in result) {
        setResult(mapAsyncIterator(result as AsyncIterable<Result>, (event) => told(event, serverContext)) as never);
      } else setResult(told(result as Result, serverContext) as never);
    },
  };
}

/** Sends what yoga wrote: a body at once, or the events of a subscription until either side ends them. */
async function send(exchange: Exchange, response: Response, budget: RequestBudget): Promise<void> {
  response.headers.delete('content-encoding');
  const headers: Headers = { ...Object.fromEntries(response.headers), 'cache-control': 'no-store' };
  if (response.headers.get('content-type')?.startsWith('application/')) {
    const text = await response.text();
    const size = Buffer.byteLength(text);
    if (size > bytes.graphqlAnswer) throw answerTooLarge(size);
    budget.answer(size);
    return answer(exchange, response.status, text, headers);
  }
  // Not for a proxy to gather; nor is the connection kept when it ends, or a process could not leave.
  exchange.res.writeHead(response.status, { ...headers, 'x-accel-buffering': 'no', connection: 'close' });
  await pipeline(response.body as AsyncIterable<Uint8Array>, exchange.res);
}
