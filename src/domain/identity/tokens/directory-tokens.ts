// Directory tokens (`scm_`), with which the identity provider of one organization provisions its users and groups (SCIM 2.0). They are
// accepted only at the SCIM endpoint, and have no scopes. Owners create and revoke them.
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { findCredential, sql, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { requireOwner } from '../../organization/directory/owner.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { allowsAddressSql, joinOpenOrganizationSql } from '../../organization/organizations/join.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { callerOfService, type ServiceBearer } from '../credentials/bearer.ts';

export class DirectoryToken extends table('directory_tokens', {
  id: column<Id<'directoryToken'>>(),
  orgId: column<Id<'organization'>>(),
  name: column<string>(),
  createdByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  /** Time of the last use, accurate to the minute. */
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
}) {
  static override noun = 'directory token';

  declare digest: Buffer;
}

/** Maximum number of live tokens per organization, maximum number of listed tokens, and days until a token expires. */
export const directoryTokens = {
  perOrganization: 5,
  listed: 50,
  lifetimeDays: { min: 1, max: 730, default: 365 },
} as const;
const { perOrganization, listed } = directoryTokens;

/** The record with the raw bearer value, which is returned only once. */
export type CreatedDirectoryToken = Omit<DirectoryToken, 'digest'> & { token: string };

/**
 * Creates a token; its bearer value is returned only here. The caller must be a person, because a token cannot create tokens.
 * @throws 403 unless the caller is an owner in the console, 409 at the limit or in a closed organization
 */
export function createDirectoryToken(
  caller: Caller,
  input: { name: string; expiresInDays: number },
): Promise<CreatedDirectoryToken> {
  admit(caller, 'person');
  requireOwner(caller);
  const orgId = ownOrganization(caller);
  const token = newSecret('scm_');
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    // The role is read again, because it may have changed since the caller was authenticated.
    const { role, userId } = await lockOwnMembership(trx, caller);
    requireOwner({ ...caller, role });
    const createdAt = now();
    const live = await DirectoryToken.query(trx)
      .where({ orgId, revokedAt: null })
      .where('expiresAt', '>', createdAt)
      .resultSize();
    if (live >= perOrganization) {
      throw conflict(`An organization can have at most ${perOrganization} active directory tokens; revoke one first.`);
    }
    const record = {
      ...{ id: newId('directoryToken'), orgId, name: input.name, createdByUserId: userId, createdAt },
      ...{ expiresAt: createdAt + days(input.expiresInDays), lastUsedAt: null, revokedAt: null },
    };
    await DirectoryToken.insert(trx, { ...record, digest: digest(token) });
    return { ...record, token };
  });
}

const listSql = `select ${columnsOf(DirectoryToken)} from directory_tokens where org_id = $1
  order by revoked_at is not null, created_at desc, id limit ${listed}`;

/** The organization's tokens: unrevoked tokens, then revoked ones, each newest first. */
export async function listDirectoryTokens(caller: Caller): Promise<DirectoryToken[]> {
  requireOwner(caller);
  return sql(listSql, [ownOrganization(caller)]);
}

const lastSql = `select id, name, created_at, expires_at from directory_tokens where org_id = $1 and revoked_at is null
  order by expires_at desc, id limit 1`;

/** The organization's token with the latest expiry, past or future; undefined when there is none. */
export const findLastDirectoryToken = async (
  orgId: string,
): Promise<Pick<DirectoryToken, 'id' | 'name' | 'createdAt' | 'expiresAt'> | undefined> =>
  (await sql<Pick<DirectoryToken, 'id' | 'name' | 'createdAt' | 'expiresAt'>>(lastSql, [orgId]))[0];

/** Revokes a token at once; a repeated call changes nothing. @throws 404 */
export async function revokeDirectoryToken(caller: Caller, id: string): Promise<DirectoryToken> {
  requireOwner(caller);
  const filter = { id, orgId: ownOrganization(caller) };
  await DirectoryToken.get(filter);
  await DirectoryToken.patch(undefined, { ...(filter as object), revokedAt: null }, { revokedAt: now() });
  return DirectoryToken.get(filter);
}

const findCallerSql = `select t.id, t.org_id, t.last_used_at, ${allowsAddressSql('t.org_id', '$3')} as is_allowed
  from directory_tokens t ${joinOpenOrganizationSql('t.org_id')}
  where t.digest = $1 and t.expires_at > $2 and t.revoked_at is null`;

/**
 * The caller of a `scm_` secret; null when it is unknown, expired or revoked, or its organization is closed.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfDirectoryToken(secret: string, address: string | null = null): Promise<Caller | null> {
  return callerOfService(
    DirectoryToken,
    await findCredential<ServiceBearer>(findCallerSql, [digest(secret), now(), address]),
  );
}
