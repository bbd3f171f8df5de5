// Requests and responses of the token endpoint (docs/contract.md#token-endpoint).
import type { RequestSource } from '#access/principal.ts';
import { invalidRequest } from './errors.ts';

/** Each parameter occurs once; an empty one counts as absent (RFC 6749 §3.1). */
export interface TokenParameters {
  readonly grant_type: string;
  readonly assertion?: string;
  readonly claim_token?: string;
  /** The resource parameter, not yet validated; `resourceOf` parses it. */
  readonly resource?: string;
  readonly code?: string;
  readonly redirect_uri?: string;
  readonly client_id?: string;
  readonly code_verifier?: string;
  readonly refresh_token?: string;
  readonly scope?: string;
}

export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds until the token expires. */
  expires_in: number;
  /** Scopes separated by spaces; empty for an unclaimed agent. */
  scope: string;
  refresh_token?: string;
  identity_assertion?: string;
  /** When the token expires: ISO 8601, UTC, with milliseconds. */
  assertion_expires?: string;
}

/** The handler of one grant. @throws OAuthError */
export type GrantHandler = (parameters: TokenParameters, source: RequestSource) => Promise<TokenResponse>;

/** The value of a required parameter. @throws invalid_request when it is absent */
export function required(parameters: TokenParameters, name: keyof TokenParameters): string {
  const value = parameters[name];
  if (value === undefined) throw invalidRequest(`${name}: is required.`);
  return value;
}
