// Runtime tokens: service tokens bound to one organization. Its admins create, list and revoke them.
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, organizationClosed } from '#foundation/problem.ts';
import { isOrganizationOpen, lockOrganization } from '../../organization/organizations/operations.ts';
import { createServiceToken, revokeServiceToken, ServiceToken } from './service-tokens.ts';

/** Maximum number of active tokens per organization, and maximum number of listed tokens, including revoked ones. */
export const runtimeTokens = { perOrganization: 20, listed: 100 } as const;
const { perOrganization, listed } = runtimeTokens;

export interface CreatedRuntimeToken {
  id: string;
  name: string;
  createdAt: number;
  token: string;
}

/**
 * Creates a runtime token; its bearer value is returned only here. The caller must be a person, because a token cannot create tokens.
 * @throws 403 for a token, 409 at the limit or once the organization is closed
 */
export function createRuntimeToken(caller: Caller, name: string): Promise<CreatedRuntimeToken> {
  admit(caller, 'person');
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    if (!(await isOrganizationOpen(trx, orgId))) throw organizationClosed();
    const active = await ServiceToken.query(trx).where({ orgId, revokedAt: null }).resultSize();
    if (active >= perOrganization) {
      throw conflict(`An organization can have at most ${perOrganization} active runtime tokens; revoke one first.`);
    }
    return createServiceToken({ name, orgId }, trx);
  });
}

const listSql = `select ${columnsOf(ServiceToken)} from service_tokens where org_id = $1
  order by revoked_at is not null, created_at desc, id limit ${listed}`;

/** The organization's tokens: the active ones, then the revoked ones, newest first. */
export async function listRuntimeTokens(caller: Caller): Promise<ServiceToken[]> {
  return sql(listSql, [wholeOrganization(caller)]);
}

/** Revokes a token at once; a repeated call changes nothing. @throws 404 */
export async function revokeRuntimeToken(caller: Caller, id: string): Promise<ServiceToken> {
  const filter = { id, orgId: wholeOrganization(caller) };
  await ServiceToken.get(filter);
  await revokeServiceToken(id);
  return ServiceToken.get(filter);
}
