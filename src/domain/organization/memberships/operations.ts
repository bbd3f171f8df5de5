// Operations on memberships: lists the members, adds a person who has an account, and locks the row of a membership while a credential is
// created.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson } from '#access/reach.ts';
import { isAtLeast, type OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, forbidden, notFound, organizationClosed } from '#foundation/problem.ts';
import { joinEnabledPersonSql } from '../people/join.ts';
import { Person } from '../people/model.ts';
import { Membership } from './model.ts';

/** All members of the organization, oldest first. @throws 404 for an organization other than the caller's */
export async function listMemberships(caller: Caller, orgId: string): Promise<Membership[]> {
  return Membership.findAll({ orgId: ownOrganizationOnly(caller, orgId) });
}

export interface NewMembership {
  userId: string;
  role: OrgRole;
}

/** Adds a person. @throws 404 without such an account, 409 for a member, 403 for a role above the caller's own */
export async function createMembership(caller: Caller, orgId: string, input: NewMembership): Promise<Membership> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  refuseRoleAbove(caller, input.role);
  const person = await Person.get({ id: input.userId });
  return transaction(async (trx) => {
    const membership = await addMember(trx, ownOrgId, person.id, input.role);
    if (!membership) throw conflict.field('userId', `${person.id} is already a member of this organization`);
    return membership;
  });
}

/** Adds a person as part of a larger transaction. If the person is already a member, changes nothing and returns null. */
export async function addMember(
  trx: Transaction,
  orgId: Id<'organization'>,
  userId: Id<'person'>,
  role: OrgRole,
): Promise<Membership | null> {
  const membership = { orgId, userId, role, createdAt: now(), closedAt: null };
  return (await Membership.insertNew(trx, membership, ['orgId', 'userId'])) ? membership : null;
}

const lockMemberSql = `select ${columnsOf(Membership, 'm')}
  from memberships m ${joinEnabledPersonSql('m.user_id')}
  where m.org_id = $1 and m.user_id = $2 and m.closed_at is null
  for key share of m for share of p`;

/**
 * The membership, locked until the transaction ends. Code that creates a credential for a member calls this first, so that no credential is
 * created while the member is being removed or disabled, or the organization is being closed. Undefined for a person who is not a member,
 * for a disabled account, and in a closed organization.
 */
export const lockMembership = async (
  trx: Transaction,
  orgId: string,
  userId: string,
): Promise<Membership | undefined> => (await sql<Membership>(lockMemberSql, [orgId, userId], trx))[0];

const otherOwnerSql = `select m.user_id from memberships m join people p on p.id = m.user_id
  where m.org_id = $1 and m.role = 'owner' and m.user_id <> $2 and p.disabled_at is null limit 1`;

const ownersSql = `select p.email from memberships m join people p on p.id = m.user_id
  where m.org_id = $1 and m.role = 'owner' and p.disabled_at is null order by p.email`;

/** Email addresses of the owners with an enabled account. */
export const ownersOf = async (orgId: string): Promise<string[]> =>
  (await sql<{ email: string }>(ownersSql, [orgId])).map(({ email }) => email);

/** Whether the organization has another owner with an enabled account. */
export const hasOtherOwner = async (trx: Transaction, { orgId, userId }: Membership): Promise<boolean> =>
  (await sql(otherOwnerSql, [orgId, userId], trx)).length > 0;

const setRolesSql = `update memberships m set role = w.role from unnest($2::text[], $3::text[]) w (user_id, role)
  where m.org_id = $1 and m.user_id = w.user_id and m.role <> 'owner' and m.role <> w.role`;

/** Sets the roles of several members, except owners. The organization must be locked. */
export async function setRoles(
  trx: Transaction,
  orgId: string,
  roles: readonly { userId: string; role: OrgRole }[],
): Promise<void> {
  await sql(setRolesSql, [orgId, roles.map(({ userId }) => userId), roles.map(({ role }) => role)], trx);
}

/** Locks a membership in the same way as `lockMembership` does. @throws 404 for a person who is not a member, 409 in a closed organization */
export async function requireMembership(trx: Transaction, orgId: string, userId: string): Promise<Membership> {
  const membership = await lockMembership(trx, orgId, userId);
  if (membership) return membership;
  const closed = await Membership.query(trx).select('closedAt').findById([orgId, userId]);
  throw closed?.closedAt ? organizationClosed() : notFound('organization');
}

/** Locks the membership of the caller, who may have been removed since the request began. */
export const lockOwnMembership = (trx: Transaction, caller: Caller): Promise<Membership> =>
  requireMembership(trx, ownOrganization(caller), ownPerson(caller));

/** Ends the access of all members, and locks their memberships, so that no credential is created for them afterwards. Returns the memberships. */
export async function closeMemberships(trx: Transaction, orgId: string): Promise<Membership[]> {
  const members = await Membership.query(trx)
    .select(...Membership.columns)
    .where('orgId', orgId)
    .orderBy('userId')
    .forUpdate();
  await Membership.query(trx).where('orgId', orgId).patch({ closedAt: now() });
  return members;
}

export const findMembership = (orgId: string, userId: string): Promise<Membership | undefined> =>
  Membership.find({ orgId, userId });

/** Checks that the caller's role is at least the given one. @throws 403 for a role above the caller's (docs/contract.md#members) */
export function refuseRoleAbove(caller: Caller, role: OrgRole): void {
  if (caller.role && isAtLeast(caller.role, role)) return;
  throw forbidden.field('role', `${role} is above your own role${caller.role ? ` (${caller.role})` : ''}`);
}

/** Checks that the organization is the caller's. @throws 404 for another organization */
export function ownOrganizationOnly(caller: Caller, orgId: string): Id<'organization'> {
  beyondOneProject(caller);
  if (caller.orgId === orgId) return caller.orgId;
  throw notFound('organization');
}
