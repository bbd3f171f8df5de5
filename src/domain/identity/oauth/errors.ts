// Errors of the OAuth endpoints, with the codes of RFC 6749 §5.2 (token), RFC 7591 §3.2.2 (registration), RFC 8707 §2 (resource) and RFC
// 8628 §3.5 (polling). Each error contains the HTTP status with which the endpoint answers.

/** The error of an OAuth endpoint: `OAuthError` in the contract. */
export interface OAuthErrorBody {
  error: string;
  error_description: string;
}

export class OAuthError extends Error {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, description: string, headers: Record<string, string> = {}) {
    super(`${error}: ${description}`);
    this.name = 'OAuthError';
    this.status = status;
    this.error = error;
    this.description = described(description);
    this.headers = headers;
  }
}

/** The text with only the characters that RFC 6749 §5.2 allows, which are also safe in a quoted header parameter. */
const described = (text: string): string => text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');

const errorOf =
  (error: string, status = 400) =>
  (description: string): OAuthError =>
    new OAuthError(status, error, description);

/** RFC 6749 §5.2: a parameter is missing, repeated, malformed or out of range. */
export const invalidRequest = errorOf('invalid_request');
/** RFC 6749 §5.2: the client is unknown. A 401 makes clients register again. */
export const invalidClient = errorOf('invalid_client', 401);
/** RFC 6749 §5.2: the code or token is unknown, expired, used, revoked, or another client's; the text never says which. */
export const invalidGrant = errorOf('invalid_grant');
export const unauthorizedClient = errorOf('unauthorized_client');
export const unsupportedGrantType = errorOf('unsupported_grant_type');
/** RFC 6749 §5.2: the scope is unknown, or beyond the grant. */
export const invalidScope = errorOf('invalid_scope');
/** RFC 8707 §2: the resource is unknown, malformed, or outside the grant. */
export const invalidTarget = errorOf('invalid_target');

/** RFC 6749 §4.1.2.1, for the authorization endpoint. */
export const unsupportedResponseType = errorOf('unsupported_response_type');
/** RFC 6749 §4.1.2.1 and RFC 8628 §3.5: the person denied the request. */
export const accessDenied = errorOf('access_denied');

/** RFC 8628 §3.5: poll again after the interval. */
export const authorizationPending = errorOf('authorization_pending');
/** RFC 8628 §3.5: the polling interval increases by five seconds from now on. */
export const slowDown = errorOf('slow_down');
/** RFC 8628 §3.5: the code has expired; a new one is needed. */
export const expiredToken = errorOf('expired_token');

/** RFC 7591 §3.2.2: a redirect URI is invalid. */
export const invalidRedirectUri = errorOf('invalid_redirect_uri');
export const invalidClientMetadata = errorOf('invalid_client_metadata');
