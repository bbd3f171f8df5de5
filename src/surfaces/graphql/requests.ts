// Reads the operations of a request (GraphQL over HTTP): POST with JSON, one operation or an array of them, or a query with GET.
import { type Exchange, mediaType, readJson } from '#foundation/http/http.ts';
import { invalid, methodNotAllowed, Problem, unsupportedMediaType } from '#foundation/problem.ts';
import { bytes, graphql } from '#limits.ts';

/** The parameters of one operation, or of each operation of a batch. Yoga validates their content. */
export type Operations = Record<string, unknown> | Record<string, unknown>[];

const parameters = new Set(['query', 'operationName', 'variables', 'extensions']);

/** Reads and parses the body or query of the request. Throws 400, 405, 413 or 415. */
export async function readOperations(exchange: Exchange): Promise<Operations> {
  if (exchange.req.method === 'GET') return fromQuery(exchange.search);
  if (exchange.req.method !== 'POST') throw methodNotAllowed('GET, POST');
  // A form or plain text needs no preflight: accepting them would allow cross-site posts.
  if (mediaType(exchange) !== 'application/json') throw unsupportedMediaType('Send the operation as application/json.');
  const body = await readJson(exchange, bytes.graphqlBody);
  if (body === null || typeof body !== 'object') throw invalid('The body must be a JSON object or an array of them.');
  if (!Array.isArray(body)) {
    // The names of parameters are checked before yoga, which treats a body with a member `then` as a promise.
    const unknown = Object.entries(body).find(([name, value]) => value !== null && !parameters.has(name));
    if (unknown) throw invalid(`Unexpected parameter ${JSON.stringify(unknown[0])} in the request body.`);
    return body as Record<string, unknown>;
  }
  const { operationsPerBatch: most } = graphql;
  if (body.length < 1 || body.length > most) {
    throw invalid(`A batch can have 1 to ${most} operations; this one has ${body.length}.`);
  }
  return body;
}

function fromQuery(search: string): Record<string, unknown> {
  const parameter = new URLSearchParams(search);
  return {
    query: parameter.get('query'),
    operationName: parameter.get('operationName'),
    variables: json('variables', parameter.get('variables')),
    extensions: json('extensions', parameter.get('extensions')),
  };
}

function json(name: string, text: string | null): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid.field(name, 'must be JSON');
  }
}

const jsonTypes = ['application/json', 'application/graphql-response+json'];
const events = 'text/event-stream';
const answerable = [...jsonTypes, events, 'multipart/mixed'];
const wildcards = ['application/*', '*/*'];

const accepted = ({ req }: Exchange): string[] =>
  (req.headers.accept ?? '*/*').split(',').map((type) => type.split(';', 1)[0]!.trim().toLowerCase());

/**
 * The Accept header for yoga. Throws 406 before anything is executed: yoga would execute a mutation and then be unable to send its
 * result.
 */
export function acceptable(exchange: Exchange): string {
  const types = accepted(exchange).filter((type) => [...answerable, ...wildcards].includes(type));
  if (types.length > 0) return types.join(',');
  const description = `Accept: must name one of ${answerable.join(', ')}.`;
  const title = 'Not acceptable';
  throw new Problem(406, { category: 'validation', title, description, retryable: false, code: 'not_acceptable' });
}

export const acceptsEvents = (exchange: Exchange): boolean =>
  accepted(exchange).some((type) => type === events || type === '*/*');

/** The first JSON type that the caller accepts; undefined for a caller that accepts only events. */
export function acceptedJson(exchange: Exchange): string | undefined {
  const type = accepted(exchange).find((one) => jsonTypes.includes(one) || wildcards.includes(one));
  return type && wildcards.includes(type) ? jsonTypes[0] : type;
}

/** The media type of a response that is not the result of an execution. */
export const answerType = (exchange: Exchange): string => acceptedJson(exchange) ?? jsonTypes[0]!;

export const wantsPage = (exchange: Exchange): boolean =>
  exchange.req.method === 'GET' && accepted(exchange).includes('text/html');
