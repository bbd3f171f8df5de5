// What goes wrong, as `OAuthError` (RFC 6749 §5.2). A problem that is not OAuth's own (too many, too large, away) carries the
// members of `Error` beside it, so that either reader is satisfied.
import { type OAuthErrorBody, OAuthFault } from '#domain/oauth/fault.ts';
import { apiResourceMetadata } from '#foundation/addresses.ts';
import { answerJson, type Exchange, type Headers } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';

export type Report = (exchange: Exchange, error: unknown) => void;

export function answerFailure(exchange: Exchange, error: unknown, report: Report): void {
  if (error instanceof OAuthFault) {
    const { status, headers } = error;
    const challenge: Headers = status === 401 ? { 'www-authenticate': challenges(exchange, error) } : {};
    const body: OAuthErrorBody = { error: error.error, error_description: error.description };
    answerJson(exchange, status, body, { ...headers, ...challenge });
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
 * Every 401 of the API says where the resource metadata is (specification, Authentication 4). Clients that look for the error in a
 * challenge find it there too; one that tried to authenticate by header is told the scheme as well (RFC 6749 §5.2).
 */
function challenges({ req }: Exchange, { error, description }: OAuthFault): string[] {
  const metadata = `resource_metadata="${apiResourceMetadata()}"`;
  const bearer = `Bearer error="${error}", error_description="${description}", ${metadata}`;
  return req.headers.authorization === undefined ? [bearer] : ['Basic realm="oauth"', bearer];
}
