// Sends errors as `AgentAuthError`. A problem outside that protocol (rate, size, availability) also has the members of `Error`, for
// clients that read either (docs/contract.md#agent-errors).
import { AgentAuthError } from '#domain/identity/agent-identities/errors.ts';
import { apiResourceMetadata } from '#foundation/http/addresses.ts';
import { answerJson, type Exchange } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';

/** Sends an error of the agents' protocol; returns false for any other. */
export function refuseAgentError(exchange: Exchange, error: unknown): boolean {
  if (!(error instanceof AgentAuthError)) return false;
  const { status, description, maxAge } = error;
  const members = maxAge === undefined ? {} : { max_age: maxAge };
  answerError(exchange, status, { error: error.error, error_description: description, ...members });
  return true;
}

export function refuseAgent(exchange: Exchange, problem: Problem): void {
  const body = { error: errorCode(problem), error_description: problem.body.description, ...problem.body };
  // The status is 400 for every malformed body, including one of another media type.
  answerJson(exchange, problem.status === 415 ? 400 : problem.status, body, { ...problem.headers });
}

interface ErrorBody {
  error: string;
  error_description: string;
  max_age?: number;
}

/** A 401 has two challenges: the challenge of the agent endpoints, and the challenge of every 401 of the API (docs/contract.md#challenges). */
export function answerError(exchange: Exchange, status: number, body: ErrorBody): void {
  answerJson(exchange, status, body, status === 401 ? { 'www-authenticate': challenges(body) } : {});
}

function challenges({ error, error_description, max_age }: ErrorBody): string[] {
  const parameters = [
    `error="${error}"`,
    ...(max_age === undefined ? [] : [`max_age="${max_age}"`]),
    `error_description="${quotable(error_description)}"`,
  ];
  return [`AgentAuth ${parameters.join(', ')}`, `Bearer resource_metadata="${apiResourceMetadata()}"`];
}

/** The text escaped for a quoted string in a header (RFC 9110 §5.6.4). */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').replace(/["\\]/g, '\\$&');

function errorCode({ status }: Problem): string {
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}
