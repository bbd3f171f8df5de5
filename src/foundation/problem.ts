// Problem, the error type of all APIs, and a function for each kind. A problem has its status and body from the start
// (docs/contract.md#errors; RFC 9110); the APIs only print it. It extends GraphQLError because yoga masks all other errors.
import { GraphQLError } from 'graphql';
import { databaseErrorKind, isMovingError } from './postgres/database-errors.ts';
import { type ProblemCode, problemCodes } from './problem-codes.ts';

export type Category = 'auth' | 'rate_limit' | 'timeout' | 'validation' | 'infrastructure' | 'agent' | 'unknown';

/** An error in one member of the input, or in a header; an empty path refers to the whole input. */
export interface FieldError {
  path: string;
  message: string;
}

/** Machine-readable data; the description is generated from it. */
export interface ProblemData {
  /** The code of the error, if the record that the contract defines for this error has no field `code`. */
  code?: ProblemCode;
  fields?: readonly FieldError[];
  missingScopes?: readonly string[];
  retryAfterSeconds?: number;
  conflictingProjectId?: string;
}

/** The contract's `Error` record; DuplicateProjectError adds its one field. */
export interface ErrorBody {
  category: Category;
  title: string;
  description: string;
  retryable: boolean;
  code?: ProblemCode;
  conflictingProjectId?: string;
}

export type ProblemDetails = ErrorBody & ProblemData;

type ProblemHeaders = Record<string, string>;
type ProblemOptions = ProblemData & { headers?: ProblemHeaders; noun?: string };

export class Problem extends GraphQLError {
  readonly status: number;
  /** The body with only those members that the contract's error record has. */
  readonly body: ErrorBody;
  /** The body with all members: those of the contract's record, and the data for programs. */
  readonly details: ProblemDetails;
  readonly headers: ProblemHeaders;
  /** The kind of record that was not found, for APIs whose errors depend on the kind. */
  readonly noun: string | undefined;

  constructor(status: number, error: ErrorBody, { headers, noun, ...data }: ProblemOptions = {}) {
    const { conflictingProjectId, retryAfterSeconds } = data;
    const body = { ...error, ...(conflictingProjectId !== undefined && { conflictingProjectId }) };
    const details = { ...body, ...data };
    super(body.description, { extensions: { code: details.code ?? body.category, problem: details } });
    this.status = status;
    this.body = body;
    this.details = details;
    this.noun = noun;
    const retryAfter = retryAfterSeconds === undefined ? null : { 'retry-after': String(retryAfterSeconds) };
    this.headers = { ...headers, ...retryAfter };
  }
}

/** Field errors as a text: `name: must be at least 1 character; scopes.0: must be a string.` */
export function describeFields(fields: readonly FieldError[]): string {
  const parts = fields.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return parts.join('; ').replace(/\.?$/, '.');
}

function problemFactory(category: Category, title: string, code: ProblemCode, retryable = false) {
  const create = (description: string, options?: ProblemOptions) =>
    new Problem(problemCodes[code].status, { category, title, description, retryable, code }, options);
  const fields = (fields: readonly FieldError[], options?: ProblemOptions) =>
    create(describeFields(fields), { fields, ...options });
  /** Creates a problem about one field. `message` ends without a full stop, because the description adds it. */
  const field = (path: string, message: string, options?: ProblemOptions) => fields([{ path, message }], options);
  return Object.assign(create, { field, fields });
}

/** 400: the input is unreadable, or a value is unknown, of a wrong type or out of bounds. The description names each field. */
export const invalid = problemFactory('validation', 'Invalid request', 'invalid_request');
/** 401: no credential, or an invalid one. */
export const unauthenticated = problemFactory('auth', 'Unauthenticated', 'unauthenticated');
/** 402: the organization cannot start a mission, or create a project, now. */
export const paymentRequired = (
  code: 'credits_exhausted' | 'daily_cost_cap' | 'budget_exhausted' | 'plan_limit',
  description: string,
) => problemFactory('agent', 'Payment required', code)(description);
export const forbidden = problemFactory('auth', 'Forbidden', 'forbidden');
/** 403: the organization does not allow the network address of the request. */
export const addressNotAllowed = (address: string | null) =>
  problemFactory(
    'auth',
    'Address not allowed',
    'address_not_allowed',
  )(`The organization does not allow requests from ${address ?? 'an unknown address'}.`);
export const agentNotClaimed = problemFactory('auth', 'Agent not claimed', 'agent_not_claimed');
export const methodNotAllowed = (allow: string) =>
  problemFactory(
    'validation',
    'Method not allowed',
    'method_not_allowed',
  )(`This path supports only ${allow}.`, {
    headers: { allow },
  });
export const conflict = problemFactory('validation', 'Conflict', 'conflict');
const recordChanged = problemFactory('validation', 'Record changed', 'record_changed');
/** Checks `ifUpdatedAt`. @throws 409 when the record was changed since the caller read it */
export function refuseChanged({ updatedAt }: { updatedAt: number }, seen: number | null | undefined): void {
  if (seen != null && updatedAt !== seen)
    throw recordChanged.field('ifUpdatedAt', 'the record has changed since it was read. Read it again');
}
/** 409: a closed organization is read-only until it is erased. */
export const organizationClosed = () =>
  problemFactory(
    'validation',
    'Organization closed',
    'organization_closed',
  )('The organization is closed: until it is erased, it can be read but not changed.');
/** 409: the service serves an organization file, which is read-only. */
export const readOnly = () =>
  problemFactory(
    'validation',
    'Read-only',
    'read_only',
  )('The service serves an organization file: the organization can be read but not changed.');
/** 409: every agent that may work on the mission lacks a model. */
export const modelRequired = problemFactory('validation', 'No model', 'model_required');
/** 409: the runtime has lost its lease; another runtime may hold it by now. */
export const leaseLost = problemFactory('validation', 'Lease lost', 'lease_lost');
export const tooLarge = (limit: number) =>
  problemFactory('validation', 'Payload too large', 'payload_too_large')(`The body is limited to ${limit} bytes.`);
export const unsupportedMediaType = problemFactory('validation', 'Unsupported media type', 'unsupported_media_type');
/** 421: the request was sent to a host that this service does not have (RFC 9110 §15.5.20). */
export const misdirectedRequest = () =>
  problemFactory('validation', 'Misdirected request', 'misdirected_request').field(
    'Host',
    'is not a name of this service. PUBLIC_URL, ISSUER_URL, MCP_URL and A2A_URL set its names',
  );
export const unprocessable = problemFactory('validation', 'Unprocessable request', 'idempotency_key_reused');
export const badGateway = problemFactory('infrastructure', 'Upstream failed', 'upstream_failed', true);
/** 503 with `Retry-After`: a service on which this service depends limits how often this service may call it. */
export const upstreamBusy = (description: string, retryAfterSeconds: number) =>
  problemFactory('rate_limit', 'Upstream is busy', 'upstream_busy', true)(description, { retryAfterSeconds });
/** 503 with `Retry-After`: a service that this one depends on does not answer. */
export const upstreamUnavailable = (description: string, retryAfterSeconds: number) =>
  problemFactory(
    'infrastructure',
    'Upstream is unavailable',
    'upstream_unavailable',
    true,
  )(`${description} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
export const gatewayTimeout = problemFactory('timeout', 'Upstream timed out', 'upstream_timeout', true);

/** 403 for a caller that lacks scopes: each is named as `missing-scope:<scope>` (docs/contract.md#errors). */
export const missingScopes = (scopes: readonly string[]) =>
  problemFactory(
    'auth',
    'Missing scope',
    'missing_scope',
  )(`The credential lacks ${scopes.map((scope) => `missing-scope:${scope}`).join(', ')}.`, { missingScopes: scopes });

/** 404: the record is unknown or belongs to another organization; both get the same response. */
export const notFound = (noun: string) =>
  problemFactory('validation', 'Not found', 'not_found')(`No such ${noun}.`, { noun });

/** 429 with `Retry-After`: the caller exceeds a rate limit. */
export const tooMany = (retryAfterSeconds: number, description = 'Too many requests.') =>
  problemFactory(
    'rate_limit',
    'Too many requests',
    'rate_limited',
    true,
  )(`${description} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });

/** 503 with `Retry-After`: the database is unreachable or overloaded. */
export const unavailable = (retryAfterSeconds = 2) =>
  problemFactory(
    'infrastructure',
    'Temporarily unavailable',
    'unavailable',
    true,
  )('The service is temporarily unavailable. Try again shortly.', { retryAfterSeconds });

/** 503 with `Retry-After`: this process, or the caller's share of it, is at capacity. */
export const tooBusy = (description: string, retryAfterSeconds: number) =>
  problemFactory(
    'infrastructure',
    'Too busy',
    'too_busy',
    true,
  )(`${description} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });

export const isTooBusy = ({ body }: Problem): boolean => body.code === 'too_busy';

/** 503 with `Retry-After`: the organization is moving to another cell, and is read-only until the move has ended. */
export const organizationMoving = () =>
  problemFactory(
    'infrastructure',
    'Organization moving',
    'organization_moving',
    true,
  )(
    'The organization is moving to another cell. It can be read, but not changed until the move ends. Try again in 5 s.',
    {
      retryAfterSeconds: 5,
    },
  );

const internal = problemFactory('unknown', 'Internal error', 'internal', false);

/** Converts any thrown value to a problem. Database failures become 503 and unexpected errors 500, without internal details. */
export function toProblem(error: unknown): Problem {
  for (let e = error; e instanceof Error; e = (e as GraphQLError).originalError ?? e.cause) {
    if (e instanceof Problem) return e;
  }
  const inner = (error as GraphQLError | undefined)?.originalError ?? error;
  if (isMovingError(inner)) return organizationMoving();
  const kind = databaseErrorKind(inner);
  if (kind === 'retry' || kind === 'overload' || kind === 'unknown') return unavailable();
  return internal('The service failed to answer. Report the request id.');
}
