// The refresh grant: exchanges a refresh token for the next one and an access token, within the person's grant (RFC 6749 §6; RFC
// 9700 §4.14.2; docs/contract.md#refresh-tokens). A token that is presented twice, even concurrently, ends the sign-in.
import type { RequestSource } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { plainAddress } from '#foundation/http/network.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { joinMembershipSql } from '../../../organization/memberships/join.ts';
import { allowsAddressSql } from '../../../organization/organizations/join.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { requireClient } from '../clients.ts';
import { deniedAddress } from '../denied-address.ts';
import { invalidGrant, invalidScope, invalidTarget, OAuthError } from '../errors.ts';
import { type Resource, resourceOf } from '../resources.ts';
import { endSignIn, issueRefreshToken, lockSignIn, useRefreshToken } from '../sign-ins.ts';
import { type GrantHandler, required, type TokenParameters } from '../token-request.ts';

const refused = () =>
  invalidGrant('The refresh token is unknown, expired, used, revoked, or was issued to another client.');

interface Family {
  usedAt: number | null;
  signInId: Id<'signIn'>;
  clientId: string;
  clientName: string | null;
  orgId: string;
  userId: string;
  resource: Resource;
  granted: string;
  expiresAt: number;
  revokedAt: number | null;
  /** Present role of the person; null for a person who has left the organization. */
  role: OrgRole | null;
  /** Whether the organization allows the address of the request. */
  isAllowed: boolean;
}

const findFamilySql = `select r.used_at, s.id as sign_in_id, s.client_id, s.client_name, s.org_id, s.user_id, s.resource, array_to_string(s.scopes, ' ') as granted,
    s.expires_at, s.revoked_at, m.role, ${allowsAddressSql('s.org_id', '$2')} as is_allowed
  from refresh_tokens r
  join sign_ins s on s.id = r.sign_in_id
  left ${joinMembershipSql('s')}
  where r.digest = $1`;

export const refreshToken: GrantHandler = async (parameters, source) => {
  const secret = required(parameters, 'refresh_token');
  if (parameters.client_id !== undefined) await requireClient(parameters.client_id);
  const [family] = await sql<Family>(findFamilySql, [digest(secret), plainAddress(source.address)]);
  if (!family) throw refused();
  const { signInId, resource, expiresAt } = family;
  // A refresh token that was already used ends the sign-in in the transaction below, so the requested scopes are not checked.
  const scopes = family.usedAt === null ? requestedScopes(family, parameters, source) : [];
  // An error is returned, not thrown, because the transaction must commit: it marks the token as used, or ends the sign-in.
  const outcome = await transaction(async (trx) => {
    if (!(await useRefreshToken(trx, secret))) {
      await endSignIn(trx, signInId);
      return refused();
    }
    if (!(await lockSignIn(trx, signInId))) return refused();
    const issued = await issueAccessToken(trx, { owner: { signInId }, resource, scopes, grantExpiresAt: expiresAt });
    return { ...issued, next: await issueRefreshToken(trx, signInId) };
  });
  if (outcome instanceof OAuthError) throw outcome;
  return {
    access_token: outcome.accessToken,
    token_type: 'Bearer',
    expires_in: outcome.expiresIn,
    scope: outcome.scope,
    refresh_token: outcome.next,
  };
};

/** The scopes of the next access token. An error thrown here leaves the refresh token unused. */
function requestedScopes(
  family: Family,
  { client_id, resource, scope }: TokenParameters,
  source: RequestSource,
): string[] {
  const { signInId: id, clientId, clientName: name, orgId, userId, revokedAt, expiresAt, role } = family;
  if (revokedAt !== null || expiresAt <= now() || role === null) throw refused();
  if (client_id !== undefined && client_id !== clientId) throw refused();
  if (!family.isAllowed) throw deniedAddress(source, { id, orgId, userId, name });
  if (resource !== undefined && resourceOf(resource) !== family.resource) {
    throw invalidTarget('resource: must be the one that the person consented to.');
  }
  const granted = family.granted.split(' ');
  if (scope === undefined) return granted;
  const requested = [...new Set(scope.split(' ').filter((word) => word !== ''))];
  const beyond = requested.filter((word) => !granted.includes(word));
  if (beyond.length > 0) throw invalidScope('scope: must not go beyond what the person granted.');
  return requested;
}
