// Operations of the identity provider on the users of its directory. A user who is deactivated or deleted loses the membership at once,
// like a removed member.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { directoryCounts } from '../../organization/directory/bounds.ts';
import { changeDirectory } from '../../organization/directory/change.ts';
import { DirectoryUser } from '../../organization/directory/model.ts';
import { withdrawOffer } from '../../organization/directory/offers.ts';
import { applyGroupRoles } from '../../organization/directory/roles.ts';
import { revokeInvitesTo } from '../../organization/invites/operations.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { Person } from '../../organization/people/model.ts';
import { lockMember, removeMember } from '../offboarding/membership-changes.ts';

export type UserInput = Pick<
  DirectoryUser,
  'userName' | 'externalId' | 'email' | 'displayName' | 'formattedName' | 'givenName' | 'familyName' | 'active'
>;

const unique = {
  directory_users_name: 'userName',
  directory_users_external: 'externalId',
  directory_users_email: 'emails.value',
};

/**
 * Creates a user. @throws 409 when another user has the name, external id or address, when the directory is full, and for an inactive user
 * who is the last owner
 */
export const createUser = (caller: Caller, input: UserInput): Promise<DirectoryUser> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const { users: max } = directoryCounts;
    if ((await DirectoryUser.query(trx).where({ orgId }).resultSize()) >= max)
      throw conflict(`A directory can have at most ${max} users.`);
    if (!input.active) await endAccess(trx, orgId, input.email);
    const createdAt = now();
    const isOffered = input.active && !(await findMember(trx, orgId, input.email));
    const user = {
      ...{ id: newId('directoryUser'), orgId, ...input, isOffered, version: 1, createdAt, updatedAt: createdAt },
    };
    await DirectoryUser.insert(trx, user);
    return user;
  });

export const findUser = (caller: Caller, id: string): Promise<DirectoryUser> =>
  DirectoryUser.get({ id, orgId: ownOrganization(caller) });

/**
 * Changes a user. A new email address means a different person: the former person loses access, and the new one may join.
 * @param change Returns the new values, or throws
 * @throws 404, 409 as `createUser`, and when the last owner would be removed
 */
export const changeUser = (
  caller: Caller,
  id: string,
  change: (user: DirectoryUser) => UserInput,
): Promise<DirectoryUser> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const user = (await DirectoryUser.lock(trx, { id: id as DirectoryUser['id'], orgId })) ?? DirectoryUser.refuse();
    const input = change(user);
    const isMoved = input.email !== user.email;
    // An inactive user may have joined again through an invite, so a repeated deactivation removes the member again.
    if (!input.active || isMoved) await endAccess(trx, orgId, user.email);
    if (!input.active && isMoved) await endAccess(trx, orgId, input.email);
    const isSame = (Object.keys(input) as (keyof UserInput)[]).every((name) => input[name] === user[name]);
    if (isSame) return user;
    const begins = input.active && (!user.active || isMoved);
    const isMember = begins && (await findMember(trx, orgId, input.email)) !== undefined;
    const changes = {
      ...input,
      isOffered: begins ? !isMember : input.active && user.isOffered,
      version: user.version + 1,
      updatedAt: now(),
    };
    await DirectoryUser.patch(trx, { id: user.id, orgId }, changes);
    if (isMember) await applyGroupRoles(trx, orgId, [id], null);
    return { ...user, ...changes };
  });

/** Deletes a user, who loses access. @param check Throws to prevent the deletion. @throws 404, 409 for the last owner */
export const deleteUser = (caller: Caller, id: string, check: (user: DirectoryUser) => void): Promise<void> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const user = (await DirectoryUser.lock(trx, { id: id as DirectoryUser['id'], orgId })) ?? DirectoryUser.refuse();
    check(user);
    await endAccess(trx, orgId, user.email);
    await DirectoryUser.query(trx).deleteById(user.id);
  });

async function findMember(trx: Transaction, orgId: Id<'organization'>, email: string): Promise<Membership | undefined> {
  const person = await Person.find({ email }, trx);
  return person && Membership.find({ orgId, userId: person.id }, trx);
}

/**
 * Removes the member with this address, if there is one, and the invites and the offer that would let the person join. @throws 409 for the
 * last owner
 */
async function endAccess(trx: Transaction, orgId: Id<'organization'>, email: string): Promise<void> {
  // The member is read last, so that a person who is just accepting an invite either is already a member or finds the invite revoked.
  await revokeInvitesTo(trx, orgId, email);
  await withdrawOffer(trx, orgId, email);
  const member = await findMember(trx, orgId, email);
  if (member) await removeMember(trx, await lockMember(trx, orgId, member.userId));
}
