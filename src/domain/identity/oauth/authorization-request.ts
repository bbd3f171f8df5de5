// Authorization requests, parsed from the query of the authorization endpoint (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2), and the
// redirect URLs that return the outcome to the client (RFC 6749 §4.1.2, RFC 9207).

import { isAtLeast } from '#access/roles.ts';
import { catalog, type GrantableScope, isGrantable } from '#access/scopes.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type Client, findClient } from './clients.ts';
import {
  accessDenied,
  invalidRequest,
  invalidScope,
  invalidTarget,
  OAuthError,
  unsupportedResponseType,
} from './errors.ts';
import { isCodeChallenge } from './pkce.ts';
import { isSameRedirectUri, redirectUriError, withParameters } from './redirect-uris.ts';
import { type Resource, resourceOf } from './resources.ts';

/** URL to which the outcome is sent: always a redirect URI that the client has registered. */
export interface ReturnAddress {
  redirectUri: string;
  state: string | undefined;
}

export interface AuthorizationRequest extends ReturnAddress {
  client: Client;
  codeChallenge: string;
  resource: Resource;
  /** The scopes that the person may choose from. */
  scopes: GrantableScope[];
  /** Whether the client requests a refresh token. */
  isOffline: boolean;
}

/** An error that is sent to the client's redirect URI. */
export interface ReturnedError extends ReturnAddress {
  error: OAuthError;
}

export const offlineAccess = 'offline_access';

/** Scopes offered to a client that names none: those that a member of the organization may grant. */
export const defaultScopes: readonly GrantableScope[] = catalog
  .filter((entry) => entry.isOffered && isAtLeast('member', entry.requiredRole))
  .map((entry) => entry.scope);

/**
 * Parses the request; returns an error if the client has to be told about it. @throws OAuthError when the client or the redirect URI cannot
 * be trusted; such an error is shown only to the person
 */
export async function readAuthorizationRequest(
  query: URLSearchParams,
  beforeFetch: () => Promise<unknown>,
): Promise<AuthorizationRequest | ReturnedError> {
  const clientId = single(query, 'client_id');
  const redirectUri = single(query, 'redirect_uri');
  if (clientId.includes('\0')) throw invalidRequest('client_id: must be text without NUL characters.');
  const client = await findClient(clientId, beforeFetch);
  const isRegistered = client.redirectUris.some((registered) => isSameRedirectUri(registered, redirectUri));
  if (!isRegistered || redirectUriError(redirectUri)) {
    throw invalidRequest('redirect_uri: is not registered for this client.');
  }
  const back = { redirectUri, state: query.getAll('state').length === 1 ? query.get('state') || undefined : undefined };
  try {
    return { client, ...back, ...readParameters(query) };
  } catch (error) {
    if (error instanceof OAuthError) return { ...back, error };
    throw error;
  }
}

/** The value of a parameter that must be present exactly once. */
function single(query: URLSearchParams, name: string): string {
  const values = query.getAll(name);
  if (values.length > 1) throw invalidRequest(`${name}: must not be repeated.`);
  if (!values[0]) throw invalidRequest(`${name}: is required.`);
  return values[0];
}

function readParameters(query: URLSearchParams) {
  const names = [...query.keys()];
  const repeated = names.find((name, i) => name !== 'resource' && names.indexOf(name) < i);
  if (repeated) throw invalidRequest(`${repeated.slice(0, 100)}: must not be repeated.`);
  if (single(query, 'response_type') !== 'code') throw unsupportedResponseType('response_type: must be "code".');
  if ((query.get('response_mode') || 'query') !== 'query') throw invalidRequest('response_mode: must be "query".');
  const codeChallenge = single(query, 'code_challenge');
  if (!isCodeChallenge(codeChallenge)) {
    throw invalidRequest('code_challenge: must be the base64url of a SHA-256, 43 characters.');
  }
  if (query.get('code_challenge_method') !== 'S256') throw invalidRequest('code_challenge_method: must be "S256".');
  return { codeChallenge, resource: oneResource(query.getAll('resource')), ...readScope(query.get('scope') ?? '') };
}

/** The single resource of a request: RFC 8707 allows several, but a token is valid for one. @throws invalid_target */
export function oneResource(uris: readonly string[]): Resource {
  const [first, ...others] = new Set(uris.filter((uri) => uri !== '').map(resourceOf));
  if (others.length > 0) throw invalidTarget('resource: a token is for one resource; name one.');
  return first ?? 'api';
}

/** Unknown scopes are ignored unless all of them are unknown. */
function readScope(scope: string): { scopes: GrantableScope[]; isOffline: boolean } {
  const words = [...new Set(scope.split(' ').filter((word) => word !== ''))];
  const isOffline = words.includes(offlineAccess);
  const scopes = words.filter(isGrantable);
  if (words.length > 0 && scopes.length === 0 && !isOffline) {
    throw invalidScope('scope: must name a scope of this service; GET /v1/scopes lists them.');
  }
  return { scopes: scopes.length > 0 ? scopes : [...defaultScopes], isOffline };
}

/** The URL to which the browser is redirected. It includes `iss`, even on errors, so that the client can verify the issuer (RFC 9207). */
const outcomeAddress = ({ redirectUri, state }: ReturnAddress, parameters: Record<string, string>): string =>
  withParameters(redirectUri, { ...parameters, ...(state !== undefined && { state }), iss: addresses().issuer });

export const codeAddress = (to: ReturnAddress, code: string): string => outcomeAddress(to, { code });

export const errorAddress = ({ error, ...to }: ReturnedError): string =>
  outcomeAddress(to, { error: error.error, error_description: error.description });

export const denialAddress = (to: ReturnAddress): string =>
  errorAddress({ ...to, error: accessDenied('The person denied the request.') });
