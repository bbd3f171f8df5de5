// What goes wrong, as `OAuthError` (RFC 6749 §5.2). A problem that is not OAuth's own (too many, too large, away) carries the
// members of `Error` beside it, so that either reader is satisfied.
import { type OAuthErrorBody, OAuthFault } from '#domain/oauth/fault.ts';
import { answerJson, type Exchange } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';

export type Report = (exchange: Exchange, error: unknown) => void;

export function answerFailure(exchange: Exchange, error: unknown, report: Report): void {
  if (error instanceof OAuthFault) {
    const { status, headers } = error;
    const body: OAuthErrorBody = { error: error.error, error_description: error.description };
    answerJson(exchange, status, body, { ...headers, ...challenge(exchange, status) });
    return;
  }
  const problem = toProblem(error);
  if (problem.status >= 500) report(exchange, error);
  const body = { error: wordOf(problem), error_description: problem.body.description, ...problem.body };
  answerJson(exchange, problem.status, body, { ...problem.headers });
}

function wordOf({ status }: Problem): string {
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/**
 * RFC 6749 §5.2: a client that tried to authenticate by header is told the scheme. Others are not, because real clients look for
 * the error in a challenge rather than in the body once there is one.
 */
const challenge = ({ req }: Exchange, status: number): Record<string, string> =>
  status === 401 && req.headers.authorization !== undefined ? { 'www-authenticate': 'Basic realm="oauth"' } : {};
