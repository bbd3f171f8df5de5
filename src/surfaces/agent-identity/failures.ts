// What goes wrong, as `AgentAuthError`. A problem that is not the agents' own (too many, too large, away) carries the members of
// `Error` beside it, so that either reader is satisfied (agent authentication §4.5).
import { AgentAuthFault } from '#domain/agent-identities/fault.ts';
import { apiResourceMetadata } from '#foundation/addresses.ts';
import { answerJson, type Exchange } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';

export type Report = (exchange: Exchange, error: unknown) => void;

export function answerFailure(exchange: Exchange, error: unknown, report: Report): void {
  if (error instanceof AgentAuthFault) {
    const { status, description, maxAge } = error;
    const members = maxAge === undefined ? {} : { max_age: maxAge };
    answerFault(exchange, status, { error: error.error, error_description: description, ...members });
    return;
  }
  const problem = toProblem(error);
  if (problem.status >= 500) report(exchange, error);
  const body = { error: wordOf(problem), error_description: problem.body.description, ...problem.body };
  // Of bodies there is one kind of wrong ones here, whatever the media type was.
  answerJson(exchange, problem.status === 415 ? 400 : problem.status, body, { ...problem.headers });
}

interface FaultBody {
  error: string;
  error_description: string;
  max_age?: number;
}

/** With two challenges when it is a 401: ours, and the one that every 401 of the API has (specification, Authentication 4). */
export function answerFault(exchange: Exchange, status: number, body: FaultBody): void {
  answerJson(exchange, status, body, status === 401 ? { 'www-authenticate': challenges(body) } : {});
}

function challenges({ error, error_description, max_age }: FaultBody): string[] {
  const parameters = [
    `error="${error}"`,
    ...(max_age === undefined ? [] : [`max_age="${max_age}"`]),
    `error_description="${quotable(error_description)}"`,
  ];
  return [`AgentAuth ${parameters.join(', ')}`, `Bearer resource_metadata="${apiResourceMetadata()}"`];
}

/** Fit for a quoted string in a header (RFC 9110 §5.6.4). */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').replace(/["\\]/g, '\\$&');

function wordOf({ status }: Problem): string {
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}
