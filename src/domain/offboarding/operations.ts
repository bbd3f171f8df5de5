// Changes of memberships: another role, and removal. One at a time per organization, so that an owner always remains.
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { type Scope, scopesOfRole } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { conflict, forbidden, missingScopes, notFound } from '#foundation/problem.ts';
import { Membership } from '../memberships/model.ts';
import { ownOrganizationOnly } from '../memberships/operations.ts';
import { Organization } from '../organizations/model.ts';
import { leaveOrganization } from '../sessions/operations.ts';
import { endAuthority } from './authority.ts';

const requiredScope: Scope = 'members:write';

/** Gives a member another role. @throws 403 unless an owner makes or unmakes an owner, 404 for no member, 409 for the last owner */
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

/** Removes a member, with all that acts for them there. @throws as `updateMembership` */
export const deleteMembership = (caller: Caller, orgId: string, userId: string): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const member = await lockMember(trx, ownOrganizationOnly(caller, orgId), userId);
    await admitChange(trx, caller, [member.role], member.orgId);
    await removeMember(trx, member);
    return { ok: true };
  });

/** The membership, locked, and with it all other changes of members in the organization. @throws 404 for no member */
export async function lockMember(trx: Transaction, orgId: Id<'organization'>, userId: string): Promise<Membership> {
  await Organization.query(trx).select('id').findById(orgId).forNoKeyUpdate();
  const member = await Membership.query(trx)
    .select(...Membership.columns)
    .findById([orgId, userId])
    .forUpdate();
  if (!member) throw notFound('membership');
  return member;
}

/** The role of the caller at this moment: it may have changed while the lock was awaited. */
async function admitChange(
  trx: Transaction,
  { userId }: Caller,
  roles: readonly OrgRole[],
  orgId: Id<'organization'>,
): Promise<void> {
  const own = userId === null ? undefined : await Membership.query(trx).select('role').findById([orgId, userId]);
  if (!own || !scopesOfRole(own.role).has(requiredScope)) throw missingScopes([requiredScope]);
  if (roles.includes('owner') && own.role !== 'owner') throw forbidden('role: only an owner makes or unmakes owners.');
}

/** The member must be locked. @throws 409 for the last owner */
export async function setRole(trx: Transaction, member: Membership, role: OrgRole): Promise<Membership> {
  if (role !== 'owner') await refuseLastOwner(trx, member);
  await Membership.query(trx).findById([member.orgId, member.userId]).patch({ role });
  return { ...member, role } as Membership;
}

/** The member must be locked. @throws 409 for the last owner */
export async function removeMember(trx: Transaction, member: Membership): Promise<void> {
  const { orgId, userId } = member;
  await refuseLastOwner(trx, member);
  await endAuthority(trx, { orgId, userId });
  await leaveOrganization(trx, { userId, orgId });
  // An invite that is still open would let the person back in.
  await sql(
    `update invites set revoked_at = $3 where org_id = $1 and email = (select email from people where id = $2)
      and accepted_at is null and revoked_at is null and expires_at > $3`,
    [orgId, userId, now()],
    trx,
  );
  await Membership.query(trx).deleteById([orgId, userId]);
}

const otherOwnerSql = `select m.user_id from memberships m join people p on p.id = m.user_id
  where m.org_id = $1 and m.role = 'owner' and m.user_id <> $2 and p.disabled_at is null limit 1`;

async function refuseLastOwner(trx: Transaction, { orgId, userId, role }: Membership): Promise<void> {
  if (role !== 'owner' || (await sql(otherOwnerSql, [orgId, userId], trx)).length > 0) return;
  throw conflict('The last owner stays: make another member an owner first.');
}
