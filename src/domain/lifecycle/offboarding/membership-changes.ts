// Changes of memberships: another role, and removal. They are serialized per organization, so that at least one owner always remains.
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { type Scope, scopesOfRole } from '#access/scopes.ts';
import type { Id } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, missingScopes, notFound } from '#foundation/problem.ts';
import { forgetIdentities } from '../../identity/identity-providers/operations.ts';
import { leaveOrganization } from '../../identity/sessions/operations.ts';
import { withdrawOffer } from '../../organization/directory/offers.ts';
import { revokeInvitesTo } from '../../organization/invites/operations.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { hasOtherOwner, ownOrganizationOnly } from '../../organization/memberships/operations.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { endAuthority } from './authority.ts';

const requiredScope: Scope = 'members:write';

/**
 * Changes the role of a member. @throws 403 if anybody but an owner grants or removes the owner role, 404 for a person who is not a member,
 * 409 for the last owner
 */
export const updateMembership = (
  caller: Caller,
  orgId: string,
  userId: string,
  { role }: { role: OrgRole },
): Promise<Membership> =>
  transaction(async (trx) => {
    const member = await lockMember(trx, ownOrganizationOnly(caller, orgId), userId);
    await admitChange(trx, caller, [member.role, role], member.orgId);
    return setRole(trx, member, role);
  });

/** Removes a member, and ends all credentials that act for them in the organization. @throws as `updateMembership` */
export const deleteMembership = (caller: Caller, orgId: string, userId: string): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const member = await lockMember(trx, ownOrganizationOnly(caller, orgId), userId);
    await admitChange(trx, caller, [member.role], member.orgId);
    await removeMember(trx, member);
    return { ok: true };
  });

/** Locks the membership, and excludes all other membership changes in the organization. @throws 404 for a person who is not a member */
export async function lockMember(trx: Transaction, orgId: Id<'organization'>, userId: string): Promise<Membership> {
  await lockOrganization(trx, orgId);
  const member = await Membership.query(trx)
    .select(...Membership.columns)
    .findById([orgId, userId])
    .forUpdate();
  if (!member) throw notFound('membership');
  return member;
}

/** Reads the caller's role again, because it may have changed while this call waited for the lock. */
async function admitChange(
  trx: Transaction,
  { userId }: Caller,
  roles: readonly OrgRole[],
  orgId: Id<'organization'>,
): Promise<void> {
  const callerMembership =
    userId === null ? undefined : await Membership.query(trx).select('role').findById([orgId, userId]);
  if (!callerMembership || !scopesOfRole(callerMembership.role).has(requiredScope))
    throw missingScopes([requiredScope]);
  if (roles.includes('owner') && callerMembership.role !== 'owner')
    throw forbidden.field('role', 'only an owner can grant or remove the role owner');
}

/** Writes the new role of a member, whose membership the caller has locked. @throws 409 for the last owner */
export async function setRole(trx: Transaction, member: Membership, role: OrgRole): Promise<Membership> {
  if (role !== 'owner') await refuseLastOwner(trx, member);
  await Membership.query(trx).findById([member.orgId, member.userId]).patch({ role });
  return { ...member, role };
}

/** Removes a member, whose membership the caller has locked. @throws 409 for the last owner */
export async function removeMember(trx: Transaction, member: Membership): Promise<void> {
  const { orgId, userId } = member;
  await refuseLastOwner(trx, member);
  await endAuthority(trx, { orgId, userId });
  await leaveOrganization(trx, { userId, orgId });
  await forgetIdentities(trx, { userId, orgId });
  // Revokes the pending invite and the directory's offer, which would let the person join again.
  const person = await Person.find({ id: userId }, trx);
  if (person) {
    await revokeInvitesTo(trx, orgId, person.email);
    await withdrawOffer(trx, orgId, person.email);
  }
  await Membership.query(trx).deleteById([orgId, userId]);
}

async function refuseLastOwner(trx: Transaction, member: Membership): Promise<void> {
  if (member.role !== 'owner' || (await hasOtherOwner(trx, member))) return;
  throw conflict('An organization needs an owner: make another member an owner first.');
}
