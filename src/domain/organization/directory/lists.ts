// Lists the users and the groups of a directory for the identity provider, filtered and paged by position (RFC 7644, section 3.4.2).
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { sql } from '#foundation/postgres/database.ts';
import { directoryPage } from './bounds.ts';
import { conditionOf, type FilterCondition, groupColumns, sortExpression, userColumns } from './conditions.ts';
import type { Filter } from './filter.ts';
import { DirectoryGroup, DirectoryUser } from './model.ts';

export interface ListRequest {
  filter?: Filter | undefined;
  sortBy?: string | undefined;
  descending?: boolean | undefined;
  /** Number of records before the page. */
  offset: number;
  limit: number;
}

export interface Listed<Row> {
  total: number;
  rows: Row[];
}

const kinds = {
  users: { model: DirectoryUser, columns: userColumns },
  // The function below needs one type for both models. It is the type of the user model, because lists use only properties that both models
  // have.
  groups: { model: DirectoryGroup as unknown as typeof DirectoryUser, columns: groupColumns },
};

async function list<Row>(caller: Caller, kind: keyof typeof kinds, request: ListRequest): Promise<Listed<Row>> {
  const { model, columns } = kinds[kind];
  const orgId = ownOrganization(caller);
  const condition: FilterCondition = request.filter
    ? conditionOf(request.filter, columns)
    : { text: 'true', values: [] };
  const sort = request.sortBy
    ? `${sortExpression(request.sortBy, columns)} ${request.descending ? 'desc' : 'asc'}, `
    : '';
  // The statement's text depends on the filter, so it is sent by knex and not prepared.
  const matching = () =>
    model
      .query()
      .where({ orgId } as object)
      .whereRaw(condition.text, condition.values as never);
  const total = await matching().resultSize();
  if (request.limit === 0 || request.offset >= total) return { total, rows: [] };
  const rows = await matching()
    .select(...model.columns)
    .orderByRaw(`${sort}created_at, id`)
    .offset(request.offset)
    .limit(request.limit);
  return { total, rows: rows as unknown as Row[] };
}

export const listUsers = (caller: Caller, request: ListRequest): Promise<Listed<DirectoryUser>> =>
  list(caller, 'users', request);
export const listGroups = (caller: Caller, request: ListRequest): Promise<Listed<DirectoryGroup>> =>
  list(caller, 'groups', request);

export interface Related {
  /** Id of the group whose members were read, or of the user whose groups were read. */
  of: string;
  id: string;
  name: string | null;
}

const membersSql = `select m.group_id as of, u.id, coalesce(u.display_name, u.user_name) as name
  from directory_group_members m join directory_users u on u.org_id = m.org_id and u.id = m.directory_user_id
  where m.org_id = $1 and m.group_id = any($2) order by u.created_at, u.id`;
const groupsSql = `select m.directory_user_id as of, g.id, g.display_name as name
  from directory_group_members m join directory_groups g on g.org_id = m.org_id and g.id = m.group_id
  where m.org_id = $1 and m.directory_user_id = any($2) order by g.created_at, g.id`;

const countsSql = (side: 'group_id' | 'directory_user_id') =>
  `select ${side} as of, count(*)::int as count from directory_group_members where org_id = $1 and ${side} = any($2) group by ${side}`;

/** The records that fit on a page together with their members or groups; at least one record. */
const fitting =
  (countSql: string) =>
  async <Row extends { id: string }>(caller: Caller, rows: readonly Row[]): Promise<readonly Row[]> => {
    if (rows.length < 2) return rows;
    const ids = rows.map(({ id }) => id);
    const found = await sql<{ of: string; count: number }>(countSql, [ownOrganization(caller), ids]);
    const counts = new Map(found.map(({ of, count }) => [of, count]));
    let total = 0;
    const end = rows.findIndex(({ id }, index) => {
      total += counts.get(id) ?? 0;
      return index > 0 && total > directoryPage.related;
    });
    return end < 0 ? rows : rows.slice(0, end);
  };
export const groupsThatFit = fitting(countsSql('group_id'));
export const usersThatFit = fitting(countsSql('directory_user_id'));

/** The members of groups. */
export const membersOfGroups = (caller: Caller, ids: readonly string[]): Promise<Related[]> =>
  ids.length === 0 ? Promise.resolve([]) : sql(membersSql, [ownOrganization(caller), ids]);
/** The groups of users. */
export const groupsOfUsers = (caller: Caller, ids: readonly string[]): Promise<Related[]> =>
  ids.length === 0 ? Promise.resolve([]) : sql(groupsSql, [ownOrganization(caller), ids]);
