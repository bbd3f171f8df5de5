// SQL fragments for queries of other record types that also read columns of `memberships`. For example, the query that finds a credential
// also reads the role of the credential's owner.
import { joinPersonSql } from '../people/join.ts';

/**
 * SQL that joins each row of the table `alias` with a row of `memberships`, whose alias is `m`. The column `user_id` of `alias` names the
 * person, and the column `org_id` names the organization. If the organization is closed, the row is left out, because no credential works in
 * a closed organization.
 */
export const joinMembershipSql = (alias: string): string =>
  `join memberships m on m.org_id = ${alias}.org_id and m.user_id = ${alias}.user_id and m.closed_at is null`;

/**
 * Joins one membership `m` of the person in column `userId`: the membership in the `requested` organization or, when `requested` is null,
 * in the `preferred` organization, or else the oldest. The columns of `m` are null without a match. A closed organization matches only an
 * owner, and only when it is `requested` or `preferred`. @param by.reached SQL condition on a row of `memberships`: the session reaches the
 * organization
 */
export const joinOneMembershipSql = (
  userId: string,
  by: { requested: string; preferred: string; reached: string },
): string =>
  `left join lateral (
    select org_id, role, closed_at from memberships
    where user_id = ${userId} and (${by.requested}::text is null or org_id = ${by.requested})
      and ${by.reached}
      and (closed_at is null or role = 'owner' and org_id = coalesce(${by.requested}, ${by.preferred}))
    order by org_id = ${by.preferred} desc nulls last, created_at, org_id limit 1
  ) m on true`;

/** The ids of the person's organizations whose membership does not satisfy `reached`, as an array. */
export const unreachedOrgIdsSql = (userId: string, reached: string): string =>
  `array(select org_id from memberships where user_id = ${userId} and not (${reached}))`;

/** SQL condition: the person belongs to the organization. Only owners still belong to a closed one. */
export const isMemberSql = (userId: string, orgId: string): string =>
  `exists (select 1 from memberships where user_id = ${userId} and org_id = ${orgId} and (closed_at is null or role = 'owner'))`;

/**
 * Joins the membership `m` of a person in an organization that the session can read. The row is left out if the organization is hidden from the
 * session, or if the organization is closed and the person is not an owner. @param hidden SQL expression for an array with the ids of the hidden
 * organizations
 */
export const joinReadableMembershipSql = (userId: string, orgId: string, hidden: string): string =>
  `join memberships m on m.user_id = ${userId} and m.org_id = ${orgId} and not m.org_id = any(${hidden})
    and (m.closed_at is null or m.role = 'owner')`;

/** Joins the memberships `m` of an organization with their people `p`. If the organization has no members, the columns of `m` and `p` are null. */
export const joinMembersSql = (orgId: string): string =>
  `left join memberships m on m.org_id = ${orgId} ${joinPersonSql('m.user_id')}`;
