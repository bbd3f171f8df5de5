// The authorization code grant: code and verifier → a sign-in with its first tokens (RFC 6749 §4.1.3, RFC 7636 §4.5; agent
// authentication §7.3). A code that is presented is used up, whether or not it was presented well.
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { newId } from '#foundation/ids.ts';
import { lifetimes } from '#limits.ts';
import { holdMembership } from '../../memberships/operations.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { offlineAccess } from '../authorization-request.ts';
import { requireClient } from '../clients.ts';
import { type AuthorizationCode, bindCode, signInOfCode, useCode } from '../codes.ts';
import { invalidGrant, invalidTarget, OAuthFault } from '../fault.ts';
import { isVerifierOf } from '../pkce.ts';
import { resourceOf } from '../resources.ts';
import { endSignIn, issueRefreshToken, SignIn } from '../sign-ins.ts';
import { type Grant, required, type TokenParameters, type TokenResponse } from '../token-request.ts';

const refused = () => invalidGrant('The code is unknown, expired, used, or was made for another request.');

export const authorizationCode: Grant = async (parameters) => {
  const secret = required(parameters, 'code');
  const verifier = required(parameters, 'code_verifier');
  await requireClient(required(parameters, 'client_id'));
  const resource = parameters.resource === undefined ? null : resourceOf(parameters.resource);
  // A fault is given back, not thrown: that the code is used up, or its sign-in ended, has to stand.
  const outcome = await transaction(async (trx) => {
    const code = await useCode(trx, secret);
    if (!code) return undo(trx, secret);
    if (!isPresentedWell(code, parameters, verifier)) return refused();
    if (resource && resource !== code.resource) return invalidTarget('resource: the person agreed to another one.');
    if (!(await holdMembership(trx, code.orgId, code.userId))) return refused();
    return issue(trx, code);
  });
  if (outcome instanceof OAuthFault) throw outcome;
  return outcome;
};

/** RFC 6749 §4.1.2: whoever brings a used code may be a thief, or may have been robbed. */
async function undo(trx: Transaction, secret: string): Promise<OAuthFault> {
  const signInId = await signInOfCode(trx, secret);
  if (signInId) await endSignIn(trx, signInId);
  return refused();
}

/** The redirect address may be left out (OAuth 2.1 §10.2); one that is sent must be the one of the request. */
const isPresentedWell = (code: AuthorizationCode, { client_id, redirect_uri }: TokenParameters, verifier: string) =>
  code.expiresAt > now() &&
  code.clientId === client_id &&
  (redirect_uri ?? code.redirectUri) === code.redirectUri &&
  isVerifierOf(code.codeChallenge, verifier);

async function issue(trx: Transaction, code: AuthorizationCode): Promise<TokenResponse> {
  const { clientId, clientName, userId, orgId, projectId, resource, scopes } = code;
  const isOffline = scopes.includes(offlineAccess);
  const createdAt = now();
  // Without refresh tokens the sign-in is over when its only access token is.
  const expiresAt = isOffline
    ? code.accessExpiresAt
    : Math.min(code.accessExpiresAt, createdAt + lifetimes.oauthAccessToken);
  const id = newId('signIn');
  await SignIn.query(trx).insert({
    id,
    clientId,
    clientName,
    userId,
    orgId,
    projectId,
    resource,
    scopes,
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
