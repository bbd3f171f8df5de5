// Roles that the groups of a directory give to its users.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { setRoles } from '../memberships/operations.ts';
import { Person } from '../people/model.ts';
import type { GroupRole } from './model.ts';

const rolesSql = `select u.email, (
    select g.role from directory_group_members m join directory_groups g on g.org_id = m.org_id and g.id = m.group_id
    where m.org_id = u.org_id and m.directory_user_id = u.id and g.role is not null
    order by array_position(array['admin', 'member', 'viewer'], g.role) limit 1) as role
  from directory_users u where u.org_id = $1 and u.id = any($2) and u.active`;

interface RoleOfAddress {
  email: string;
  role: GroupRole | null;
}

/** The highest role that an active user's groups give; null without one. */
export const rolesByGroups = (trx: Transaction, orgId: string, userIds: readonly string[]): Promise<RoleOfAddress[]> =>
  sql(rolesSql, [orgId, userIds], trx);

/**
 * Gives members the roles of their groups; owners stay owners. The organization must be locked.
 * @param otherwise The role of members whose groups give no role; null leaves their roles unchanged
 */
export async function applyGroupRoles(
  trx: Transaction,
  orgId: string,
  userIds: readonly string[],
  otherwise: GroupRole | null = 'member',
): Promise<void> {
  if (userIds.length === 0) return;
  const found = await rolesByGroups(trx, orgId, userIds);
  const roles = new Map(
    found.flatMap(({ email, role }) => {
      const given = role ?? otherwise;
      return given === null ? [] : [[email, given] as const];
    }),
  );
  const people = await Person.findByKeys('email', [...roles.keys()], {}, trx);
  await setRoles(
    trx,
    orgId,
    people.map(({ id, email }) => ({ userId: id, role: roles.get(email)! })),
  );
}
