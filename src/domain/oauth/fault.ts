// What goes wrong on the OAuth endpoints, in the words of the RFCs: 6749 §5.2 (token), 7591 §3.2.2 (registration), 8707 §2
// (resource), 8628 §3.5 (polling). The status is born with the fault; a surface only prints it.

/** The specification's `OAuthError`. */
export interface OAuthErrorBody {
  error: string;
  error_description: string;
}

export class OAuthFault extends Error {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, description: string, headers: Record<string, string> = {}) {
    super(`${error}: ${description}`);
    this.name = 'OAuthFault';
    this.status = status;
    this.error = error;
    this.description = described(description);
    this.headers = headers;
  }
}

/** In the characters that RFC 6749 §5.2 allows, which are also safe in a quoted header parameter. */
const described = (text: string): string => text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');

const maker =
  (error: string, status = 400) =>
  (description: string): OAuthFault =>
    new OAuthFault(status, error, description);

/** RFC 6749 §5.2: a parameter is missing, repeated, malformed or out of bounds. */
export const invalidRequest = maker('invalid_request');
/** RFC 6749 §5.2: the client is unknown. It is a 401, upon which clients register anew. */
export const invalidClient = maker('invalid_client', 401);
/** RFC 6749 §5.2: what was presented is unknown, expired, used, revoked, or another's: the text never tells which. */
export const invalidGrant = maker('invalid_grant');
export const unauthorizedClient = maker('unauthorized_client');
export const unsupportedGrantType = maker('unsupported_grant_type');
/** RFC 6749 §5.2: unknown, or beyond what was granted. */
export const invalidScope = maker('invalid_scope');
/** RFC 8707 §2: the resource is unknown, malformed, or outside the grant. */
export const invalidTarget = maker('invalid_target');

/** RFC 6749 §4.1.2.1, at the authorization endpoint. */
export const unsupportedResponseType = maker('unsupported_response_type');
/** RFC 6749 §4.1.2.1 and RFC 8628 §3.5: the person said no. */
export const accessDenied = maker('access_denied');

/** RFC 8628 §3.5: ask again after the interval. */
export const authorizationPending = maker('authorization_pending');
/** RFC 8628 §3.5: ask again, five seconds later than before from now on. */
export const slowDown = maker('slow_down');
/** RFC 8628 §3.5: the code ran out; a new one is needed. */
export const expiredToken = maker('expired_token');

/** RFC 7591 §3.2.2. */
export const invalidRedirectUri = maker('invalid_redirect_uri');
export const invalidClientMetadata = maker('invalid_client_metadata');
