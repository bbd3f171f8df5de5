// The authorization code grant: exchanges a code and its verifier for a sign-in with its first tokens (RFC 6749 §4.1.3, RFC 7636 §4.5;
// docs/contract.md#authorization-code-flow). Presenting a code consumes it, even when the request is otherwise invalid. Only a
// request from an address that the organization does not allow leaves the code usable.

import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { lifetimesMs } from '#limits.ts';
import { lockMembership } from '../../../organization/memberships/operations.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { offlineAccess } from '../authorization-request.ts';
import { requireClient } from '../clients.ts';
import { type AuthorizationCode, bindCode, signInOfCode, useCode } from '../codes.ts';
import { requireGrantAddress } from '../denied-address.ts';
import { invalidGrant, invalidTarget, OAuthError } from '../errors.ts';
import { isVerifierOf } from '../pkce.ts';
import { resourceOf } from '../resources.ts';
import { endSignIn, issueRefreshToken, SignIn } from '../sign-ins.ts';
import { type GrantHandler, required, type TokenParameters, type TokenResponse } from '../token-request.ts';

const refused = () => invalidGrant('The code is unknown, expired, used, or was created for another request.');

export const authorizationCode: GrantHandler = async (parameters, source) => {
  const secret = required(parameters, 'code');
  const verifier = required(parameters, 'code_verifier');
  await requireClient(required(parameters, 'client_id'));
  const resource = parameters.resource === undefined ? null : resourceOf(parameters.resource);
  // An error is returned, not thrown, because the transaction must commit: it marks the code as used, or revokes the sign-in of a code that
  // is used twice.
  const outcome = await transaction(async (trx) => {
    const code = await useCode(trx, secret);
    if (!code) return revokeReused(trx, secret);
    if (!matchesRequest(code, parameters, verifier)) return refused();
    if (resource && resource !== code.resource)
      return invalidTarget('resource: must be the one that the person consented to.');
    if (!(await lockMembership(trx, code.orgId, code.userId))) return refused();
    await requireGrantAddress(trx, source, { id: code.clientId, ...code, name: code.clientName });
    return issue(trx, code);
  });
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
};

/** RFC 6749 §4.1.2: a code that is presented again may have been stolen, so all tokens issued for it are revoked. */
async function revokeReused(trx: Transaction, secret: string): Promise<OAuthError> {
  const signInId = await signInOfCode(trx, secret);
  if (signInId) await endSignIn(trx, signInId);
  return refused();
}

/** The redirect URI may be omitted (OAuth 2.1 §10.2); if present, it must equal the URI of the authorization request. */
const matchesRequest = (code: AuthorizationCode, { client_id, redirect_uri }: TokenParameters, verifier: string) =>
  code.expiresAt > now() &&
  code.clientId === client_id &&
  (redirect_uri ?? code.redirectUri) === code.redirectUri &&
  isVerifierOf(code.codeChallenge, verifier);

async function issue(trx: Transaction, code: AuthorizationCode): Promise<TokenResponse> {
  const { clientId, clientName, userId, orgId, projectId, resource, scopes, orgOnly } = code;
  const isOffline = scopes.includes(offlineAccess);
  const createdAt = now();
  // A sign-in without refresh tokens ends with its only access token.
  const expiresAt = isOffline
    ? code.accessExpiresAt
    : Math.min(code.accessExpiresAt, createdAt + lifetimesMs.oauthAccessToken);
  const id = newId('signIn');
  await SignIn.insert(trx, {
    id,
    clientId,
    clientName,
    userId,
    orgId,
    projectId,
    resource,
    scopes,
    orgOnly,
    createdAt,
    expiresAt,
  });
  await bindCode(trx, code, id);
  const owner = { signInId: id };
  const { accessToken, expiresIn, scope } = await issueAccessToken(trx, {
    owner,
    resource,
    scopes,
    grantExpiresAt: expiresAt,
    createdAt,
  });
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
    ...(isOffline && { refresh_token: await issueRefreshToken(trx, id) }),
  };
}
