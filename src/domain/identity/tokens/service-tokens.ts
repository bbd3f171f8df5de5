// Service tokens (`srv_`), with which internal services such as the runtime authenticate. The operator creates and revokes them; admins
// of an organization manage those bound to it (runtime-tokens.ts). They do not expire.
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { findCredential, sql, type Transaction } from '#foundation/postgres/database.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { allowsAddressSql, joinOrganizationSql } from '../../organization/organizations/join.ts';
import { callerOfService, type ServiceBearer } from '../credentials/bearer.ts';
import type { OwnerFilter } from '../credentials/owner.ts';

export class ServiceToken extends table('service_tokens', {
  id: column<Id<'service'>>(),
  /** The organization of the token; null means that it serves every organization. */
  orgId: column<Id<'organization'> | null>(),
  name: column<string>(),
  scopes: column<Scope[]>(),
  createdAt: column<number>(),
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
  /** Names of the token's runtimes that are draining: they take no new missions. */
  draining: column<string[]>(),
}) {
  static override noun = 'service token';

  declare digest: Buffer;
}

export interface NewServiceToken {
  name: string;
  orgId?: Id<'organization'> | undefined;
}

/** The record with the raw bearer value, which is returned only once. */
export async function createServiceToken({ name, orgId }: NewServiceToken, trx?: Transaction) {
  const token = newSecret('srv_');
  const scopes: Scope[] = ['runtime:report'];
  const record = { id: newId('service'), name, orgId: orgId ?? null, scopes, createdAt: now() };
  await ServiceToken.query(trx).insert({ ...record, digest: digest(token) });
  return { ...record, token };
}

/** Revokes a service token at once; a repeated call changes nothing. @throws 404 */
export async function revokeServiceToken(id: string): Promise<{ id: string; revokedAt: number }> {
  await ServiceToken.patch(undefined, { id, revokedAt: null }, { revokedAt: now() });
  const { revokedAt } = await ServiceToken.get({ id });
  return { id, revokedAt: revokedAt! };
}

/** Revokes all service tokens of this name that are bound to the organization or, with null, that serve every organization. */
export async function revokeServiceTokensNamed(orgId: Id<'organization'> | null, name: string): Promise<void> {
  await ServiceToken.patch(undefined, { orgId, name, revokedAt: null }, { revokedAt: now() });
}

/** Revokes all service tokens bound to this organization. */
export async function revokeServiceTokensOf(trx: Transaction, orgId: Id<'organization'>): Promise<void> {
  await ServiceToken.patch(trx, { orgId, revokedAt: null }, { revokedAt: now() });
}

const listSql = `select s.id, o.slug as org, s.name, s.scopes, s.created_at, s.last_used_at, s.revoked_at
  from service_tokens s ${joinOrganizationSql('s.org_id')}
  where $1::text is null or o.slug = $1 order by s.created_at desc, s.id desc limit $2`;

/** The operator's list: service tokens, including ended ones, newest first. */
export const listServiceTokens = ({ org, limit }: Omit<OwnerFilter, 'email'>): Promise<object[]> =>
  sql(listSql, [org ?? null, limit]);

const findCallerSql = `select t.id, t.org_id, t.scopes, t.last_used_at, ${allowsAddressSql('t.org_id', '$2')} as is_allowed
  from service_tokens t where t.digest = $1 and t.revoked_at is null`;
type Found = ServiceBearer & Pick<ServiceToken, 'scopes'>;

/**
 * The service of a `srv_` secret; null when the secret is unknown or revoked.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfServiceToken(secret: string, address: string | null = null): Promise<Caller | null> {
  const row = await findCredential<Found>(findCallerSql, [digest(secret), address]);
  return callerOfService(ServiceToken, row, row?.scopes);
}
