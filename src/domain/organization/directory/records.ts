// The users and groups of a directory, as the organization's own pages show them.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf, containsWords } from '#foundation/postgres/reads.ts';
import { Membership } from '../memberships/model.ts';
import { Person } from '../people/model.ts';
import { directoryCounts } from './bounds.ts';
import { DirectoryGroup, DirectoryUser } from './model.ts';

export const userStates = ['member', 'waiting', 'removed', 'inactive'] as const;

export interface ListedUser extends DirectoryUser {
  state: (typeof userStates)[number];
}

/** The given addresses whose accounts are members of the organization. */
async function membersAmong(orgId: Id<'organization'>, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const people = await Person.findByKeys('email', emails);
  const ids = people.map(({ id }) => id);
  const members = new Set((await Membership.findByKeys('userId', ids, { orgId })).map(({ userId }) => userId));
  return new Set(people.filter(({ id }) => members.has(id)).map(({ email }) => email));
}

/** A page of users, each with a state. */
export async function listDirectoryUsers(
  caller: Caller,
  { query, ...request }: PageRequest & { query?: string | null | undefined },
): Promise<Page<ListedUser>> {
  const orgId = wholeOrganization(caller);
  const page = await DirectoryUser.page({ orgId, email: containsWords(query, 'userName') }, request);
  const joined = await membersAmong(
    orgId,
    page.data.map(({ email }) => email),
  );
  const stateOf = ({ email, active, isOffered }: DirectoryUser): ListedUser['state'] => {
    if (joined.has(email)) return 'member';
    if (!active) return 'inactive';
    return isOffered ? 'waiting' : 'removed';
  };
  return { ...page, data: page.data.map((user) => ({ ...user, state: stateOf(user) })) };
}

export interface ListedGroup extends DirectoryGroup {
  memberCount: number;
}

const groupsSql = `select ${columnsOf(DirectoryGroup, 'g')}, count(m.directory_user_id)::int as member_count
  from directory_groups g left join directory_group_members m on m.org_id = g.org_id and m.group_id = g.id
  where g.org_id = $1 group by g.id order by lower(g.display_name), g.id limit ${directoryCounts.groups}`;

/** All groups by name, with the number of their users. */
export async function listDirectoryGroups(caller: Caller): Promise<ListedGroup[]> {
  return sql(groupsSql, [wholeOrganization(caller)]);
}
