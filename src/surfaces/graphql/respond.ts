// Connects yoga to the HTTP streams of Node.js. Yoga parses, validates and executes operations, and formats errors, batches and streams of
// events. This module writes the most frequent response, a single result without errors, itself. No objects of the fetch API are created,
// because they are expensive (bench/README.md).
import type { ExecutionResult } from 'graphql';
import type { Plugin, YogaServer } from 'graphql-yoga';
import type { Exchange, Headers } from '#foundation/http/http.ts';
import type { Context } from '#graph/context.ts';
import { acceptedJson, type Operations } from './requests.ts';

/** The context of yoga's plugins. */
export interface Request {
  exchange: Exchange;
  operations: Operations;
  /** The result; undefined until the operation is executed. */
  result?: Result;
}
type Result = ExecutionResult | AsyncIterable<ExecutionResult>;

/** The response that yoga creates in place of a fetch Response. */
export class PlainResponse {
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Headers;
  /** The body: a text, or the event stream of a subscription. */
  readonly body: string | AsyncIterable<Uint8Array>;

  constructor(body: PlainResponse['body'] | null, { status = 200, headers = {} }: ResponseInit = {}) {
    this.status = status;
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.body = body ?? '';
  }
}
interface ResponseInit {
  status?: number;
  headers?: Headers;
}

/** Responds to a request without yoga. Returns undefined if yoga has to respond to it. */
type AnswerKnown<R> = (request: R) => Promise<string | undefined>;

/** The response to the operations of a request, in a type that `accept` includes. */
export async function respond<R extends Request>(
  yoga: YogaServer<R, Context>,
  answerKnown: AnswerKnown<R>,
  accept: string,
  request: R,
): Promise<PlainResponse> {
  const { exchange, operations } = request;
  const type = acceptedJson(exchange);
  const headers = { 'content-type': `${type}; charset=utf-8` };
  const known = type && (await answerKnown(request));
  if (known) return new PlainResponse(known, { headers });
  const fetched = fetchRequest(exchange.req.method!, accept);
  if (type && !Array.isArray(operations)) {
    const result = await execute(yoga, request, fetched);
    if (isSuccess(result)) return new PlainResponse(JSON.stringify(result), { headers });
    request.result = result;
  }
  return (await yoga.handle(fetched, request as never)) as unknown as PlainResponse;
}

/** The part of a fetch Request that yoga reads; the body was already parsed. */
const fetchRequest = (method: string, accept: string) =>
  ({ method, headers: { get: (name: string) => (name === 'accept' ? accept : null) } }) as never;

async function execute<R extends Request>(yoga: YogaServer<R, Context>, context: R, request: never) {
  try {
    const result = await yoga.getResultForParams({ params: context.operations as object, request }, context);
    return result as Result;
  } catch (error) {
    // An invalid parameter is left to yoga, which reports it.
    return { errors: [error] } as Result;
  }
}

const isSuccess = (result: Result): boolean => 'data' in result && !('errors' in result);

/** A plugin that makes yoga use the known result instead of executing the operation again. */
export const knownResultPlugin: Plugin<Request> = {
  onParams({ context, setResult }) {
    const { result } = context as unknown as Request;
    if (result) setResult(result);
  },
};
