// Errors of the client, a class for each kind: the service's response (the API's `Error` record), or the reason why there was no response.
import { type ErrorBody, type ErrorCode, errorStatuses } from './api.ts';

/** Code of a failure without a response. */
export type ConnectionCode = 'connection_failed' | 'timed_out';

/** An invalid member of the input, or an invalid header. */
export interface FieldError {
  /** Names joined by dots, such as `scopes.0`; empty for the whole input. */
  path: string;
  /** The rule that the value must meet. */
  message: string;
}

/** The body of an error, with the members that programs act on. */
export interface Problem extends ErrorBody {
  fields?: FieldError[];
  missingScopes?: string[];
  retryAfterSeconds?: number;
}

export interface ErrorDetails {
  /** HTTP status; null without a response. */
  status: number | null;
  body: Problem;
  /** The `X-Request-Id` of the response, which is also in the log of the service; null without a response. */
  requestId: string | null;
  /** How many milliseconds the client should wait before it tries again; null if the service has not asked for a wait. */
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** An error of the API. Subclasses and `code` tell errors apart; `description` is for people. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number | null;
  readonly category: ErrorBody['category'];
  readonly title: string;
  readonly description: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** A later release of the service may add further codes. */
  readonly code: ErrorCode | ConnectionCode | (string & {}) | undefined;
  /** Invalid members of the input; empty for other errors. */
  readonly fields: readonly FieldError[];
  /** Scopes that the credential lacks. */
  readonly missingScopes: readonly string[];
  /** The other project on the same repository. */
  readonly conflictingProjectId: string | undefined;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;

  constructor({ status, body, requestId, retryAfterMs, cause }: ErrorDetails) {
    super(`${body.title}: ${body.description}`, { cause });
    this.status = status;
    this.category = body.category;
    this.title = body.title;
    this.description = body.description;
    this.retryable = body.retryable;
    this.code = body.code;
    this.fields = body.fields ?? [];
    this.missingScopes = body.missingScopes ?? [];
    this.conflictingProjectId = body.conflictingProjectId;
    this.requestId = requestId;
    const { retryAfterSeconds } = body;
    this.retryAfterMs = retryAfterMs ?? (retryAfterSeconds === undefined ? null : retryAfterSeconds * 1000);
  }
}

/** 400, 413, 415, 422: the request must be corrected. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the credential is missing or invalid. */
export class UnauthenticatedError extends ApiError {
  override readonly name = 'UnauthenticatedError';
}
/** 402: credits, the daily cost cap or the plan allow no more. */
export class PaymentRequiredError extends ApiError {
  override readonly name = 'PaymentRequiredError';
}
/** 403: the credential is not allowed to do this. */
export class ForbiddenError extends ApiError {
  override readonly name = 'ForbiddenError';
}
/** 404: the record is unknown, or belongs to another organization. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}
/** 409: the state of the record does not allow the call, or the record already exists. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}
/** 429: too many calls; `retryAfterMs` says when to continue. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}
/** 5xx: the service, or one that it calls, failed. */
export class ServiceError extends ApiError {
  override readonly name = 'ServiceError';
}
/** The service did not respond. */
export class ConnectionError extends ApiError {
  override readonly name = 'ConnectionError';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: UnauthenticatedError,
  402: PaymentRequiredError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError,
};

/**
 * Creates an error. Its class depends on the error code, because a GraphQL response has the status 200 even when it reports an error. If the
 * code is missing or unknown, the status of the response decides.
 */
export function createError(details: ErrorDetails): ApiError {
  const status = (errorStatuses as Record<string, number>)[details.body.code ?? ''] ?? details.status ?? 0;
  const ErrorClass = classes[status] ?? (status >= 500 ? ServiceError : ApiError);
  return new ErrorClass(details);
}

/** The error of an unsuccessful response. */
export function errorOfResponse(response: Response, body: unknown, now: number): ApiError {
  const { status, headers } = response;
  return createError({
    status,
    body: problemOf(body) ?? foreignBody(status),
    requestId: headers.get('x-request-id'),
    retryAfterMs: retryAfter(headers.get('retry-after'), now),
  });
}

/** The error of a call without a response. */
export function connectionError(code: ConnectionCode, description: string, cause: unknown): ApiError {
  const title = code === 'timed_out' ? 'Timed out' : 'Connection failed';
  const category = code === 'timed_out' ? 'timeout' : 'infrastructure';
  return new ConnectionError({
    status: null,
    body: { category, title, description, retryable: true, code },
    requestId: null,
    cause,
  });
}

export const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' && value !== null && 'category' in value && 'description' in value && 'retryable' in value;

/** The problem in a body: problem details (RFC 9457) or an `Error` of REST, or the first error of GraphQL. */
function problemOf(body: unknown): Problem | undefined {
  const { errors, detail } = (body ?? {}) as { errors?: { extensions?: { problem?: unknown } }[]; detail?: unknown };
  const details = typeof detail === 'string' && { ...(body as object), description: detail };
  return [details, body, errors?.[0]?.extensions?.problem].find(isProblem);
}

/** The body of an error for a response that some other program, such as a proxy, has sent instead of the service. */
const foreignBody = (status: number): ErrorBody => ({
  category: 'unknown',
  title: 'Unexpected answer',
  description: `HTTP ${status} without a body of this API.`,
  retryable: [502, 503, 504].includes(status),
});

/** Milliseconds in a `Retry-After` header, which has seconds or a date (RFC 9110 §10.2.3). */
function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}
