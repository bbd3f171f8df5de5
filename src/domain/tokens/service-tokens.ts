// Service tokens (`srv_`): what internal services such as the runtime carry. The operator makes and ends them; no person
// grants their scope, and they don't expire by themselves.
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { find, Stored } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { noteUse } from './last-used.ts';

export class ServiceToken extends Stored {
  static override tableName = 'service_tokens';
  static override columns = ['id', 'orgId', 'name', 'scopes', 'createdAt', 'lastUsedAt', 'revokedAt'];

  declare id: Id<'service'>;
  declare digest: Buffer;
  /** Null: it serves every organization. */
  declare orgId: Id<'organization'> | null;
  declare name: string;
  declare scopes: Scope[];
  declare createdAt: number;
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}

export interface NewServiceToken {
  name: string;
  orgId?: Id<'organization'> | undefined;
}

/** The record and, this once, the raw bearer value. */
export async function createServiceToken({ name, orgId }: NewServiceToken) {
  const token = newSecret('srv_');
  const scopes: Scope[] = ['runtime:report'];
  const record = { id: newId('service'), name, orgId: orgId ?? null, scopes, createdAt: now() };
  await ServiceToken.query().insert({ ...record, digest: digest(token) });
  return { ...record, token };
}

/** Ends a service token at once; a second time changes nothing. */
export async function revokeServiceToken(id: string): Promise<{ id: string; revokedAt: number }> {
  await ServiceToken.query().where({ id, revokedAt: null }).patch({ revokedAt: now() });
  const { revokedAt } = await find<ServiceToken>(ServiceToken, 'service token', { id });
  return { id, revokedAt: revokedAt! };
}

/** Revokes all service tokens of this name of an organization, or, with null, of those that serve every organization. */
export async function revokeServiceTokensNamed(orgId: Id<'organization'> | null, name: string): Promise<void> {
  await ServiceToken.query().where({ orgId, name, revokedAt: null }).patch({ revokedAt: now() });
}

const lookUp = 'select id, org_id, scopes, last_used_at from service_tokens where digest = $1 and revoked_at is null';

/** The service behind a `srv_` secret; null when it is unknown or revoked. */
export async function callerOfServiceToken(secret: string): Promise<Caller | null> {
  const [row] = await sql<Pick<ServiceToken, 'id' | 'orgId' | 'scopes' | 'lastUsedAt'>>(lookUp, [digest(secret)]);
  if (!row) return null;
  noteUse('service_tokens', row.id, row.lastUsedAt);
  return {
    principalType: 'service',
    credentialId: row.id,
    userId: null,
    orgId: row.orgId,
    role: null,
    scopes: new Set(row.scopes),
    projectId: null,
  };
}
