// Access tokens of programs: `agt_` of a registered agent, `oat_` of a sign-in. Each is good for one resource, for one hour at
// most, and can be revoked; kept as a digest (specification, Authentication 2 and 3; agent authentication §12).
import { narrowedText } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { lifetimes } from '#limits.ts';
import { noteUse } from '../tokens/last-used.ts';
import type { Resource } from './resources.ts';

export class AccessToken extends Stored {
  static override tableName = 'access_tokens';

  declare id: Id<'accessToken'>;
  declare digest: Buffer;
  declare kind: 'agent' | 'oauth';
  declare resource: Resource;
  declare registrationId: string | null;
  declare signInId: Id<'signIn'> | null;
  /** As granted; what of it the person's role still holds is asked at each use. */
  declare scopes: string[];
  declare createdAt: number;
  declare expiresAt: number;
  /** To the minute. */
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}

/** Whose token it is. */
export type TokenOwner = { registrationId: string } | { signInId: string };

export interface NewAccessToken {
  owner: TokenOwner;
  resource: Resource;
  scopes: readonly string[];
  /** Epoch ms: when the grant behind it ends; in the future. The token ends then or after its hour. */
  grantExpiresAt: number;
  /** Epoch ms: the moment that `grantExpiresAt` was counted from, where the grant begins with the token. */
  createdAt?: number;
}

export interface IssuedAccessToken {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  scope: string;
}

/** A new token, its secret shown here and never again. */
export async function issueAccessToken(
  trx: Transaction,
  { owner, resource, scopes, grantExpiresAt, createdAt = now() }: NewAccessToken,
): Promise<IssuedAccessToken> {
  const ofAgent = 'registrationId' in owner;
  const accessToken = newSecret(ofAgent ? 'agt_' : 'oat_');
  const lifetime = ofAgent ? lifetimes.agentAccessToken : lifetimes.oauthAccessToken;
  const expiresAt = Math.min(createdAt + lifetime, grantExpiresAt);
  await AccessToken.query(trx).insert({
    id: newId('accessToken'),
    digest: digest(accessToken),
    kind: ofAgent ? 'agent' : 'oauth',
    resource,
    ...(owner as Partial<AccessToken>),
    scopes: [...scopes],
    createdAt,
    expiresAt,
  });
  return { accessToken, expiresIn: Math.floor((expiresAt - createdAt) / 1_000), scope: scopes.join(' ') };
}

/** Ends the tokens of an owner, or the one with this secret, at once; gives how many were alive. */
export async function revokeAccessTokens(trx: Transaction, by: TokenOwner | { secret: string }): Promise<number> {
  const which = 'secret' in by ? { digest: digest(by.secret) } : by;
  const revokedAt = now();
  return AccessToken.query(trx)
    .where({ ...which, revokedAt: null })
    .where('expiresAt', '>', revokedAt)
    .patch({ revokedAt });
}

interface Bearer {
  id: Id<'accessToken'>;
  granted: string;
  lastUsedAt: number | null;
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  role: OrgRole;
}

const lookUp = `select a.id, array_to_string(a.scopes, ' ') as granted, a.last_used_at, s.user_id, s.org_id, s.project_id, m.role
  from access_tokens a
  join sign_ins s on s.id = a.sign_in_id
  join memberships m on m.org_id = s.org_id and m.user_id = s.user_id
  where a.digest = $1 and a.resource = $2 and a.expires_at > $3 and a.revoked_at is null
    and s.expires_at > $3 and s.revoked_at is null`;

/**
 * Who stands behind an `oat_` secret at this resource, in one statement; null when it is unknown, expired, revoked or made for
 * another resource, its sign-in has ended, or its person has left the organization. Asked on every request and never kept.
 */
export async function callerOfOAuthToken(secret: string, resource: Resource): Promise<Caller | null> {
  const [row] = await sql<Bearer>(lookUp, [digest(secret), resource, now()]);
  if (!row) return null;
  noteUse('access_tokens', row.id, row.lastUsedAt);
  return {
    principalType: 'user',
    credentialId: row.id,
    userId: row.userId,
    orgId: row.orgId,
    role: row.role,
    scopes: narrowedText(row.granted, row.role),
    projectId: row.projectId,
  };
}
