// Sends errors as `OAuthError` (RFC 6749 §5.2). A problem outside OAuth (rate, size, availability) also has the members of `Error`, for
// clients that read either.
import { OAuthError, type OAuthErrorBody } from '#domain/identity/oauth/errors.ts';
import { apiResourceMetadata } from '#foundation/http/addresses.ts';
import { answerJson, type Exchange, type Headers } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';

/** Sends an error of the OAuth protocol; returns false for any other error. */
export function refuseOAuthError(exchange: Exchange, error: unknown): boolean {
  if (!(error instanceof OAuthError)) return false;
  const { status, headers } = error;
  const challenge: Headers = status === 401 ? { 'www-authenticate': challenges(exchange, error) } : {};
  const body: OAuthErrorBody = { error: error.error, error_description: error.description };
  answerJson(exchange, status, body, { ...headers, ...challenge });
  return true;
}

export function refuseClient(exchange: Exchange, problem: Problem): void {
  const body = { error: errorCode(problem), error_description: problem.body.description, ...problem.body };
  answerJson(exchange, problem.status, body, { ...problem.headers });
}

function errorCode({ status }: Problem): string {
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/**
 * Every 401 of the API contains the resource metadata (docs/contract.md#challenges) and repeats the error for clients that read
 * challenges. A client that authenticated by header also gets the scheme that it used (RFC 6749 §5.2).
 */
function challenges({ req }: Exchange, { error, description }: OAuthError): string[] {
  const metadata = `resource_metadata="${apiResourceMetadata()}"`;
  const bearer = `Bearer error="${error}", error_description="${description}", ${metadata}`;
  return req.headers.authorization === undefined ? [bearer] : ['Basic realm="oauth"', bearer];
}
