// The one error and its makers. A problem knows its status and its body from birth (specification, Errors; RFC 9110 words);
// each surface only prints it. It is a GraphQLError that keeps its name, because yoga masks every other kind.
import { GraphQLError } from 'graphql';
import { databaseFault } from './database-errors.ts';

export type Category = 'auth' | 'rate_limit' | 'timeout' | 'validation' | 'infrastructure' | 'agent' | 'unknown';

/** The specification's `Error` record; DuplicateProjectError adds its one field. */
export interface ProblemBody {
  category: Category;
  title: string;
  description: string;
  retryable: boolean;
  code?: string;
  conflictingProjectId?: string;
}

export class Problem extends GraphQLError {
  readonly status: number;
  readonly body: ProblemBody;
  readonly headers: Record<string, string>;

  constructor(status: number, body: ProblemBody, headers: Record<string, string> = {}) {
    super(body.description, { extensions: { code: body.code ?? body.category, problem: body } });
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

function maker(status: number, category: Category, title: string, code: string, retryable = false) {
  return (description: string, headers?: Record<string, string>) =>
    new Problem(status, { category, title, description, retryable, code }, headers);
}

/** 400: unreadable, of a wrong type, out of bounds, or an unknown value. The description names each field. */
export const invalid = maker(400, 'validation', 'Invalid request', 'invalid_request');
/** 401: no credential, or none that is good here. */
export const unauthenticated = maker(401, 'auth', 'Unauthenticated', 'unauthenticated');
/** 402: the organization may not start a mission now. */
export const outOfMeans = (code: 'credits_exhausted' | 'daily_cost_cap', description: string) =>
  maker(402, 'agent', 'Payment required', code)(description);
export const forbidden = maker(403, 'auth', 'Forbidden', 'forbidden');
export const agentNotClaimed = maker(403, 'auth', 'Agent not claimed', 'agent_not_claimed');
export const methodNotAllowed = (allow: string) =>
  maker(405, 'validation', 'Method not allowed', 'method_not_allowed')(`Allowed here: ${allow}.`, { allow });
export const conflict = maker(409, 'validation', 'Conflict', 'conflict');
/** 409: the runtime has lost what it reports on; somebody else may have it by now. */
export const leaseLost = maker(409, 'validation', 'Lease lost', 'lease_lost');
export const tooLarge = (limit: number) =>
  maker(
    413,
    'validation',
    'Payload too large',
    'payload_too_large',
  )(`The body is limited to ${limit} bytes.`, {
    connection: 'close',
  });
export const unsupportedMediaType = maker(415, 'validation', 'Unsupported media type', 'unsupported_media_type');
/** 421 (RFC 9110 §15.5.20). */
export const misdirectedRequest = () =>
  maker(
    421,
    'validation',
    'Misdirected request',
    'misdirected_request',
  )('Host: is not a name of this service. PUBLIC_URL, ISSUER_URL, MCP_URL and A2A_URL set its names.');
export const unprocessable = maker(422, 'validation', 'Unprocessable request', 'idempotency_key_reused');
export const badGateway = maker(502, 'infrastructure', 'Upstream failed', 'upstream_failed', true);
/** 503 with `Retry-After`: a service that we need wants us to wait. */
export const upstreamBusy = (description: string, retryAfterSeconds: number) =>
  maker(
    503,
    'rate_limit',
    'Upstream is busy',
    'upstream_busy',
    true,
  )(description, { 'retry-after': String(retryAfterSeconds) });
export const gatewayTimeout = maker(504, 'timeout', 'Upstream timed out', 'upstream_timeout', true);

/** 403 for a token that lacks scopes: each is named as `missing-scope:<scope>` (specification, Errors). */
export const missingScopes = (scopes: readonly string[]) =>
  maker(
    403,
    'auth',
    'Missing scope',
    'missing_scope',
  )(`${scopes.map((scope) => `missing-scope:${scope}`).join(', ')}. Repeating with the same credential does not help.`);

/** 404: unknown, or of another organization: the two can't be told apart. */
export const notFound = (noun: string) => maker(404, 'validation', 'Not found', 'not_found')(`No such ${noun}.`);

/** 429 with `Retry-After`. */
export const tooMany = (retryAfterSeconds: number, description = 'Too many requests.') =>
  maker(
    429,
    'rate_limit',
    'Too many requests',
    'rate_limited',
    true,
  )(`${description} Try again in ${retryAfterSeconds} s.`, { 'retry-after': String(retryAfterSeconds) });

/** 503 with `Retry-After`: the database is away or overloaded. */
export const unavailable = (retryAfterSeconds = 2) =>
  maker(
    503,
    'infrastructure',
    'Temporarily unavailable',
    'unavailable',
    true,
  )('The service can not answer at the moment. Try again shortly.', { 'retry-after': String(retryAfterSeconds) });

/** 503 with `Retry-After`: this process has its hands full, or the caller's share of it is taken. */
export const tooBusy = (description: string, retryAfterSeconds: number) =>
  maker(
    503,
    'infrastructure',
    'Too busy',
    'too_busy',
    true,
  )(`${description} Try again in ${retryAfterSeconds} s.`, { 'retry-after': String(retryAfterSeconds) });

export const isTooBusy = ({ body }: Problem): boolean => body.code === 'too_busy';

const internal = maker(500, 'unknown', 'Internal error', 'internal', false);

/** The problem behind any thrown thing. What is not ours to explain becomes 503 or 500, without a word of its inside. */
export function toProblem(error: unknown): Problem {
  for (let e = error; e instanceof Error; e = (e as GraphQLError).originalError ?? e.cause) {
    if (e instanceof Problem) return e;
  }
  const inner = (error as GraphQLError | undefined)?.originalError ?? error;
  const fault = databaseFault(inner);
  if (fault === 'retry' || fault === 'overload' || fault === 'unknown') return unavailable();
  return internal('Something went wrong on our side. The request id tells us where.');
}
