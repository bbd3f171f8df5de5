// Operations on personal access tokens: create, list, revoke, and find the caller of a token.
import { refusedScopes, requireFewScopes } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { findCredential, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, missingScopes } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { tokens } from '#limits.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { allowsAddressSql } from '../../organization/organizations/join.ts';
import { lockPerson } from '../../organization/people/operations.ts';
import { type Bearer, callerOfBearer } from '../credentials/bearer.ts';
import { lend } from '../credentials/lend.ts';
import { type OwnerFilter, ofOwnerSql, ownerValues } from '../credentials/owner.ts';
import { Token } from './model.ts';

export interface NewToken {
  name: string;
  scopes: readonly string[];
  expiresInDays: number;
  projectId?: string | undefined;
}

/** The record with the raw bearer value, which is returned only once. */
export type CreatedToken = Omit<Token, 'digest'> & { token: string };

/**
 * Creates a token whose scopes do not exceed the caller's.
 * @throws 403 naming each scope beyond the caller's, 400 for too many scopes, 404 for an unknown project or another organization's
 */
export async function createToken(caller: Caller, input: NewToken): Promise<CreatedToken> {
  const [orgId, userId] = [ownOrganization(caller), ownPerson(caller)];
  const scopes = [...new Set(input.scopes)];
  const refused = refusedScopes(scopes, caller);
  if (refused.length > 0) throw missingScopes(refused);
  requireFewScopes(scopes);
  const token = newSecret('pat_');
  const createdAt = now();
  return transaction(async (trx) => {
    await refuseBeyondQuota(trx, userId);
    const lender = { userId, orgId, projectId: input.projectId ?? null, isOrgOnly: caller.isOrgOnly };
    const lent = await lend(trx, lender, scopes);
    // The role is read again, because it may have changed since the caller was authenticated.
    if (lent.scopes.length < scopes.length) throw missingScopes(scopes.filter((scope) => !lent.scopes.includes(scope)));
    const record = {
      id: newId('token'),
      ...lent,
      name: input.name,
      createdAt,
      expiresAt: createdAt + days(input.expiresInDays),
      lastUsedAt: null,
      revokedAt: null,
    };
    await Token.insert(trx, { ...record, digest: digest(token) });
    return { ...record, token };
  });
}

let perPerson: number = tokens.perPerson;
/** Sets the maximum number of live tokens per person, across all organizations; called once at start. */
export function bindTokenQuota(quota: number): void {
  perPerson = quota;
}

/**
 * Locks the row of the person until `trx` ends, so that concurrent calls are counted exactly. Must be called before any weaker lock of that
 * row is taken, because concurrent upgrades would deadlock.
 */
async function refuseBeyondQuota(trx: Transaction, userId: Id<'person'>): Promise<void> {
  await lockPerson(trx, userId);
  const [row] = await sql<{ live: number }>(
    'select count(*)::int as live from tokens where user_id = $1 and expires_at > $2 and revoked_at is null',
    [userId, now()],
    trx,
  );
  if (row!.live >= perPerson) {
    throw conflict(`A person can have at most ${perPerson} active tokens across all organizations; revoke one first.`);
  }
}

/** The person's own tokens in this organization, including ended ones; newest first. */
export const listTokens = (caller: Caller): Promise<Token[]> =>
  Token.findAll({ userId: ownPerson(caller), orgId: ownOrganization(caller) });

const expiringTokensSql = `select ${columnsOf(Token)} from tokens
  where user_id = $1 and org_id = $2 and revoked_at is null and expires_at > $3 and expires_at <= $4
  order by expires_at, id limit 20`;

/** The person's live tokens that expire before `by`, earliest expiry first; at most 20. */
export const listExpiringTokens = (orgId: string, userId: string, by: number): Promise<Token[]> =>
  sql(expiringTokensSql, [userId, orgId, now(), by]);

const expiringOwnersSql = `select distinct user_id from tokens
  where org_id = $1 and revoked_at is null and expires_at > $2 and expires_at <= $3`;

/** The people whose live tokens expire before `by`. */
export const listOwnersOfExpiringTokens = async (orgId: string, by: number): Promise<string[]> =>
  (await sql<{ userId: string }>(expiringOwnersSql, [orgId, now(), by])).map(({ userId }) => userId);

const listAllSql = `select t.id, o.slug as org, p.email, t.name, t.scopes, t.project_id, t.created_at, t.expires_at,
    t.last_used_at, t.revoked_at
  from tokens t ${ofOwnerSql('t')} order by t.created_at desc, t.id desc limit $3`;

/** Lists tokens of all organizations for the operator, the newest first. Revoked and expired tokens are included. */
export const listAllTokens = (filter: OwnerFilter): Promise<object[]> => sql(listAllSql, ownerValues(filter));

export const revocationKinds = ['revoked', 'already-revoked'] as const;

export interface RevokedToken {
  kind: (typeof revocationKinds)[number];
  tokenId: string;
  revokedAt: number;
}

/** Revokes one of the person's own tokens at once; a repeated call changes nothing. @throws 404 for a token of another person */
export async function revokeToken(caller: Caller, tokenId: string): Promise<RevokedToken> {
  const filter = { id: tokenId, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  const revokedAt = now();
  const revoked = await Token.patch(undefined, { ...filter, revokedAt: null }, { revokedAt });
  if (revoked > 0) return { kind: 'revoked', tokenId, revokedAt };
  const token = await Token.get(filter);
  return { kind: 'already-revoked', tokenId, revokedAt: token.revokedAt! };
}

/** Revokes every token of a person. */
export const revokeTokensOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  Token.patch(trx, { ...person, revokedAt: null }, { revokedAt: now() });

const findCallerSql = `select t.id, t.user_id, t.org_id, t.project_id, array_to_string(t.scopes, ' ') as granted,
    t.last_used_at, t.org_only, m.role, ${allowsAddressSql('t.org_id', '$3')} as is_allowed
  from tokens t ${joinMembershipSql('t')}
  where t.digest = $1 and t.expires_at > $2 and t.revoked_at is null`;

/**
 * The caller of a `pat_` secret, in one statement; null when the secret is unknown, expired or revoked, or the person who holds it has left
 * the organization. Read on every request and never cached, so that a revocation or a changed role takes effect on the next request.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfToken(secret: string, address: string | null = null): Promise<Caller | null> {
  return callerOfBearer(Token, await findCredential<Bearer>(findCallerSql, [digest(secret), now(), address]));
}
