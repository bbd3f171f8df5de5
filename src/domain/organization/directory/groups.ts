// Operations on the groups of a directory. The identity provider creates, changes and deletes the groups. Owners choose the role that each group
// gives to its members.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { lockOwnMembership } from '../memberships/operations.ts';
import { directoryCounts } from './bounds.ts';
import { changeDirectory } from './change.ts';
import { DirectoryGroup, DirectoryGroupMember, type GroupRole } from './model.ts';
import { requireOwner } from './owner.ts';
import { applyGroupRoles } from './roles.ts';

export type GroupInput = Pick<DirectoryGroup, 'displayName' | 'externalId'>;

/** A change of the members of a group. `set` replaces all of them. */
export interface MemberChange {
  kind: 'set' | 'add' | 'remove';
  /** Ids of directory users. */
  ids: readonly string[];
}

const unique = { directory_groups_name: 'displayName', directory_groups_external: 'externalId' };

const lockGroup = async (trx: Transaction, orgId: Id<'organization'>, id: string): Promise<DirectoryGroup> =>
  (await DirectoryGroup.lock(trx, { id: id as DirectoryGroup['id'], orgId })) ?? DirectoryGroup.refuse();

/** Creates a group. @throws 409 when another group has the name or external id, and when the directory is full; 400 for an unknown member */
export const createGroup = (
  caller: Caller,
  input: GroupInput,
  members: readonly MemberChange[],
): Promise<DirectoryGroup> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const { groups: max } = directoryCounts;
    if ((await DirectoryGroup.query(trx).where({ orgId }).resultSize()) >= max)
      throw conflict(`A directory can have at most ${max} groups.`);
    const createdAt = now();
    const group = {
      ...{ id: newId('directoryGroup'), orgId, ...input, role: null, version: 1, createdAt, updatedAt: createdAt },
    };
    await DirectoryGroup.insert(trx, group);
    await changeMembers(trx, group, members);
    return group;
  });

export const findDirectoryGroup = (caller: Caller, id: string): Promise<DirectoryGroup> =>
  DirectoryGroup.get({ id, orgId: ownOrganization(caller) });

/** Changes a group. @param change Returns the new values, or throws. @throws 404, and as `createGroup` */
export const changeGroup = (
  caller: Caller,
  id: string,
  change: (group: DirectoryGroup) => { input: GroupInput; members: readonly MemberChange[] },
): Promise<DirectoryGroup> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const group = await lockGroup(trx, orgId, id);
    const { input, members } = change(group);
    const changed = await changeMembers(trx, group, members);
    const isSame = input.displayName === group.displayName && input.externalId === group.externalId;
    if (isSame && changed.length === 0) return group;
    const changes = { ...input, version: group.version + 1, updatedAt: now() };
    await DirectoryGroup.patch(trx, { id: group.id, orgId }, changes);
    return { ...group, ...changes };
  });

/** Deletes a group; its members lose the role that it gave. @param check Throws to prevent the deletion. @throws 404 */
export const deleteGroup = (caller: Caller, id: string, check: (group: DirectoryGroup) => void): Promise<void> =>
  changeDirectory(caller, unique, async (trx, orgId) => {
    const group = await lockGroup(trx, orgId, id);
    check(group);
    const members = group.role === null ? [] : await memberIdsOf(trx, group);
    await DirectoryGroup.query(trx).deleteById(group.id);
    await applyGroupRoles(trx, orgId, members);
  });

/** Sets the role that the group gives to its members; it applies at once. @throws 403 unless the caller is an owner, 404 */
export function setGroupRole(caller: Caller, id: string, role: GroupRole | null): Promise<DirectoryGroup> {
  requireOwner(caller);
  return changeDirectory(caller, unique, async (trx, orgId) => {
    // The caller's role is read again, because it may have changed since the caller was authenticated.
    requireOwner({ ...caller, role: (await lockOwnMembership(trx, caller)).role });
    const group = await lockGroup(trx, orgId, id);
    if (group.role === role) return group;
    const changes = { role, updatedAt: now() };
    await DirectoryGroup.patch(trx, { id: group.id, orgId }, changes);
    await applyGroupRoles(trx, orgId, await memberIdsOf(trx, group));
    return { ...group, ...changes };
  });
}

const membersSql = 'select directory_user_id as id from directory_group_members where org_id = $1 and group_id = $2';
const memberIdsOf = async (trx: Transaction, { orgId, id }: DirectoryGroup): Promise<string[]> =>
  (await sql<{ id: string }>(membersSql, [orgId, id], trx)).map((member) => member.id);

const unknownSql = `select id from unnest($2::text[]) id
  where not exists (select from directory_users u where u.org_id = $1 and u.id = id) limit 1`;
const addSql = `insert into directory_group_members (org_id, group_id, directory_user_id)
  select distinct $1::text, $2::text, id from unnest($3::text[]) id on conflict do nothing returning directory_user_id as id`;
const removeSql = `delete from directory_group_members where org_id = $1 and group_id = $2 and directory_user_id = any($3)
  returning directory_user_id as id`;
const removeOthersSql = `delete from directory_group_members where org_id = $1 and group_id = $2 and directory_user_id <> all($3)
  returning directory_user_id as id`;

/**
 * Changes the members, and the roles of the users who were added or removed. Returns the ids of these users. @throws 400 for an unknown
 * user, 409 beyond the maximum number of members
 */
async function changeMembers(
  trx: Transaction,
  { id, orgId, role }: DirectoryGroup,
  changes: readonly MemberChange[],
): Promise<string[]> {
  const changed = new Set<string>();
  for (const { kind, ids } of changes) {
    const send = async (text: string) => {
      for (const row of await sql<{ id: string }>(text, [orgId, id, ids], trx)) changed.add(row.id);
    };
    if (kind !== 'remove' && ids.length > 0) {
      const [unknown] = await sql<{ id: string }>(unknownSql, [orgId, ids], trx);
      if (unknown) throw invalid.field('members.value', `${JSON.stringify(unknown.id)} is not a user of the directory`);
    }
    if (kind === 'remove') await send(removeSql);
    if (kind === 'set') await send(removeOthersSql);
    if (kind !== 'remove') await send(addSql);
  }
  if (changed.size > 0) await refuseTooMany(trx, orgId);
  if (role !== null) await applyGroupRoles(trx, orgId, [...changed]);
  return [...changed];
}

async function refuseTooMany(trx: Transaction, orgId: Id<'organization'>): Promise<void> {
  const { groupMembers: max } = directoryCounts;
  if ((await DirectoryGroupMember.query(trx).where({ orgId }).resultSize()) > max)
    throw conflict(`The groups of a directory can have at most ${max} members in total.`);
}
