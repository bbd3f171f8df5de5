// Access tokens of programs: `agt_` for a registered agent, `oat_` for a sign-in to a client. Each is valid for one resource and at most
// one hour, can be revoked, and is stored as a digest (docs/contract.md#tokens-and-resources).
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { findCredential, sql, type Transaction } from '#foundation/postgres/database.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import { allowsAddressSql } from '../../organization/organizations/join.ts';
import { type Bearer, callerOfBearer } from '../credentials/bearer.ts';
import type { Resource } from './resources.ts';

export class AccessToken extends table('access_tokens', {
  id: column<Id<'accessToken'>>(),
  kind: column<'agent' | 'oauth'>(),
  resource: column<Resource>(),
  registrationId: column<string | null>(),
  signInId: column<Id<'signIn'> | null>(),
  /** The granted scopes; each use is limited to those that the person's role still includes. */
  scopes: column<string[]>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  /** Time of the last use, accurate to the minute. */
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
}) {
  declare digest: Buffer;
}

/** The registration or sign-in to which the token belongs. */
export type TokenOwner = { registrationId: Id<'registration'> } | { signInId: Id<'signIn'> };

export interface NewAccessToken {
  owner: TokenOwner;
  resource: Resource;
  scopes: readonly string[];
  /** End of the grant, a future time in epoch milliseconds. The token expires then or after one hour, whichever is earlier. */
  grantExpiresAt: number;
  /**
   * Creation time of the token in epoch milliseconds; absent means now. A caller that creates the grant and this token together passes the
   * creation time of the grant.
   */
  createdAt?: number;
}

export interface IssuedAccessToken {
  accessToken: string;
  /** Seconds until the token expires. */
  expiresIn: number;
  scope: string;
}

/** Creates a token; its secret is returned only here. */
export async function issueAccessToken(
  trx: Transaction,
  { owner, resource, scopes, grantExpiresAt, createdAt = now() }: NewAccessToken,
): Promise<IssuedAccessToken> {
  const ofAgent = 'registrationId' in owner;
  const accessToken = newSecret(ofAgent ? 'agt_' : 'oat_');
  const lifetime = ofAgent ? lifetimesMs.agentAccessToken : lifetimesMs.oauthAccessToken;
  const expiresAt = Math.min(createdAt + lifetime, grantExpiresAt);
  await AccessToken.insert(trx, {
    id: newId('accessToken'),
    digest: digest(accessToken),
    kind: ofAgent ? 'agent' : 'oauth',
    resource,
    ...owner,
    scopes: [...scopes],
    createdAt,
    expiresAt,
  });
  return { accessToken, expiresIn: Math.floor((expiresAt - createdAt) / 1_000), scope: scopes.join(' ') };
}

/** Revokes all tokens of an owner, or the token with this secret. Returns how many live tokens were revoked. */
export async function revokeAccessTokens(trx: Transaction, by: TokenOwner | { secret: string }): Promise<number> {
  const which = 'secret' in by ? { digest: digest(by.secret) } : by;
  const revokedAt = now();
  return AccessToken.query(trx)
    .where({ ...which, revokedAt: null })
    .where('expiresAt', '>', revokedAt)
    .patch({ revokedAt });
}

/** SQL subquery for the live access token with the digest $1 for the resource $2 at the time $3. */
export const presentedTokenSql = `(select id, sign_in_id, registration_id, scopes, last_used_at from access_tokens
    where digest = $1 and resource = $2 and expires_at > $3 and revoked_at is null)`;

const findCallerSql = `select a.id, array_to_string(a.scopes, ' ') as granted, a.last_used_at, s.user_id, s.org_id, s.project_id, s.org_only, m.role,
    ${allowsAddressSql('s.org_id', '$4')} as is_allowed
  from ${presentedTokenSql} a
  join sign_ins s on s.id = a.sign_in_id
  ${joinMembershipSql('s')}
  where s.expires_at > $3 and s.revoked_at is null`;

/**
 * Finds the caller that presents an `oat_` secret at this resource. Returns null when the secret is unknown, expired, revoked or issued for
 * another resource. Also returns null when the sign-in of the token has ended, or when the person has left the organization. Every request
 * reads the caller with one SQL statement; nothing is cached.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfOAuthToken(
  secret: string,
  resource: Resource,
  address: string | null = null,
): Promise<Caller | null> {
  const values = [digest(secret), resource, now(), address];
  return callerOfBearer(AccessToken, await findCredential<Bearer>(findCallerSql, values));
}

/** The names of the clients that these access tokens belong to. */
export const clientsOfTokens = (ids: readonly string[]): Promise<{ id: string; name: string | null }[]> =>
  sql(
    `select a.id, s.client_name as name from access_tokens a join sign_ins s on s.id = a.sign_in_id where a.id = any($1)`,
    [ids],
  );
