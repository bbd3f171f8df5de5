// What can be done with memberships: see who belongs to the organization, and add a person who has an account.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson } from '#access/reach.ts';
import { isAtLeast, type OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { conflict, forbidden, notFound } from '#foundation/problem.ts';
import { find, missing, readAll, readByKeys, readOne } from '#foundation/record.ts';
import { Person } from '../people/model.ts';
import { Membership } from './model.ts';

const oldestFirst = '"created_at", "user_id"';

/** Everybody who belongs to the organization, the founder first. */
export async function listMemberships(caller: Caller, orgId: string): Promise<Membership[]> {
  ownOrganizationOnly(caller, orgId);
  return readAll<Membership>(Membership, { orgId }, oldestFirst);
}

/** The memberships of organizations that the caller has been shown. */
export async function membershipsOf(orgIds: readonly string[], caller: Caller): Promise<Membership[]> {
  beyondOneProject(caller);
  return readByKeys<Membership>(Membership, 'orgId', orgIds, {}, oldestFirst);
}

export interface NewMembership {
  userId: string;
  role: OrgRole;
}

/** Adds a person: 404 without such an account, 409 for a member, 403 for a role above the caller's own. */
export async function createMembership(caller: Caller, orgId: string, input: NewMembership): Promise<Membership> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  refuseRoleAbove(caller, input.role);
  const person = await find<Person>(Person, 'person', { id: input.userId });
  return transaction(async (trx) => {
    const membership = await addMember(trx, ownOrgId, person.id, input.role);
    if (!membership) throw conflict(`userId: ${person.id} is a member of this organization already.`);
    return membership;
  });
}

/** Makes the person a member, as part of a larger unit of work; null, and nothing changed, for somebody who is one. */
export async function addMember(
  trx: Transaction,
  orgId: Id<'organization'>,
  userId: Id<'person'>,
  role: OrgRole,
): Promise<Membership | null> {
  const membership = { orgId, userId, role, createdAt: now() };
  // Not by Objection: for a row that was there already it gives back what it was handed.
  const inserted = await trx(Membership.tableName)
    .insert(membership)
    .onConflict(['orgId', 'userId'])
    .ignore()
    .returning('userId');
  return inserted.length > 0 ? (membership as Membership) : null;
}

const holdMemberSql = `select m.org_id, m.user_id, m.role, m.created_at
  from memberships m join people p on p.id = m.user_id
  where m.org_id = $1 and m.user_id = $2 and p.disabled_at is null
  for key share of m for share of p`;

/**
 * The membership, locked until the transaction ends: whoever creates a credential of a member calls it first, so that none is
 * created while the member is removed or disabled. Undefined for somebody who is no member, and for a disabled account.
 */
export const holdMembership = async (
  trx: Transaction,
  orgId: string,
  userId: string,
): Promise<Membership | undefined> => (await sql<Membership>(holdMemberSql, [orgId, userId], trx))[0];

/** `holdMembership` of the caller. @throws 404 when the caller has just been removed */
export async function holdOwnMembership(trx: Transaction, caller: Caller): Promise<Membership> {
  return (await holdMembership(trx, ownOrganization(caller), ownPerson(caller))) ?? missing('organization');
}

export interface OwnOrganization {
  id: Id<'organization'>;
  name: string;
  slug: string;
  role: OrgRole;
}

/** Where a person belongs, and as what; the first joined first. */
export const organizationsOf = (userId: string): Promise<OwnOrganization[]> =>
  sql<OwnOrganization>(
    `select o.id, o.name, o.slug, m.role from memberships m join organizations o on o.id = m.org_id
      where m.user_id = $1 order by m.created_at, o.id`,
    [userId],
  );

export const findMembership = (orgId: string, userId: string): Promise<Membership | undefined> =>
  readOne<Membership>(Membership, { orgId, userId });

/** "Never more than the giver": nobody hands out a role above their own. */
export function refuseRoleAbove(caller: Caller, role: OrgRole): void {
  if (caller.role && isAtLeast(caller.role, role)) return;
  throw forbidden(`role: ${role} is above your own role${caller.role ? ` (${caller.role})` : ''}.`);
}

/** @throws 404 for another organization than the caller's */
export function ownOrganizationOnly(caller: Caller, orgId: string): Id<'organization'> {
  beyondOneProject(caller);
  if (caller.orgId === orgId) return caller.orgId;
  throw notFound('organization');
}
