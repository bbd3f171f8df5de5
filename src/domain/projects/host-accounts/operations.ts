// Operations on the accounts of members: link, unlink, and find the member of an account.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { findMembership, ownOrganizationOnly, requireMembership } from '../../organization/memberships/operations.ts';
import { joinEnabledPersonSql } from '../../organization/people/join.ts';
import { Integration } from '../integrations/model.ts';
import type { Project } from '../projects/model.ts';
import { findAccountAt, hostNameOf } from '../vendors/source-host-of.ts';
import { type AccountAt, HostAccount } from './model.ts';

export interface Link {
  userId: string;
  /** A connector of the source host, with which the account is looked up. */
  integrationId: string;
  login: string;
}

const linkSql = `insert into host_accounts (org_id, user_id, vendor, host, account, login, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (org_id, user_id, vendor, host) do update set account = excluded.account, login = excluded.login`;

/**
 * Links an account to a member, and replaces the member's earlier account at the host.
 * @throws 404 for an unknown member or connector, 400 for an unknown login, 409 for an account that is linked to another member, and the
 * errors of the host
 */
export async function linkAccount(
  caller: Caller,
  orgId: string,
  { userId, integrationId, login }: Link,
): Promise<Membership> {
  const own = ownOrganizationOnly(caller, orgId);
  if (!(await findMembership(own, userId))) Membership.refuse();
  const connector = await Integration.get({ id: integrationId, orgId: own });
  const host = hostNameOf(connector);
  if (host === null) throw invalid.field('integrationId', 'must be a connector of a source host that has accounts');
  await releaseTransaction();
  const found = await findAccountAt(connector, login);
  if (!found) throw invalid.field('login', `is not the login of a person at ${host}`);
  return transaction(async (trx) => {
    const membership = await requireMembership(trx, own, userId);
    const values = [own, userId, connector.vendor, host, found.id, found.login, now()];
    await sql(linkSql, values, trx);
    return membership;
  }).catch((error) => {
    if (!isUniqueViolation(error, 'host_accounts_pkey')) throw error;
    throw conflict.field('login', `${found.login} is already linked to another member`);
  });
}

/** Unlinks an account from its member. @throws 404 for an account that is not linked */
export async function unlinkAccount(
  caller: Caller,
  orgId: string,
  { userId, vendor, host }: { userId: string; vendor: string; host: string },
): Promise<Membership> {
  const own = ownOrganizationOnly(caller, orgId);
  const ended = await HostAccount.query().delete().where({ orgId: own, userId, vendor, host });
  if (ended === 0) throw notFound('account');
  return (await findMembership(own, userId))!;
}

/** Accounts of these members in the caller's organization. */
export const accountsOf = (userIds: readonly string[], caller: Caller): Promise<HostAccount[]> =>
  HostAccount.findByKeys('userId', userIds, { orgId: ownOrganization(caller) });

const memberSql = `select m.user_id, m.role from host_accounts a
    ${joinMembershipSql('a')} ${joinEnabledPersonSql('m.user_id')}
  where a.org_id = $1 and a.vendor = $2 and a.host = $3 and a.account = $4`;

/** The member who caused an event at the source host of the project; null for an outsider or a program. */
export async function memberBehind(
  { orgId, scmConnectorId }: Project,
  author: { id: string | null } | null,
): Promise<Id<'person'> | null> {
  if (author?.id == null || scmConnectorId === null) return null;
  const connector = await Integration.find({ id: scmConnectorId, orgId });
  const host = connector ? hostNameOf(connector) : null;
  return host === null ? null : memberOf(orgId, { vendor: connector!.vendor, host, account: author.id });
}

/** The member to whom the account is linked; null when the account is not linked, or the member's role does not allow starting missions. */
export async function memberOf(orgId: string, { vendor, host, account }: AccountAt): Promise<Id<'person'> | null> {
  const [found] = await sql<{ userId: Id<'person'>; role: OrgRole }>(memberSql, [orgId, vendor, host, account]);
  return found && scopesOfRole(found.role).has('missions:run') ? found.userId : null;
}
