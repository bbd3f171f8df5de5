// People who have left the organization, as far back as its audit log goes.
import type { Caller } from '#access/principal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { isMemberSql } from '../../../organization/memberships/join.ts';
import { ownOrganizationOnly } from '../../../organization/memberships/operations.ts';
import { joinPersonSql } from '../../../organization/people/join.ts';
import { joinErasureSql } from '../../../organization/person-keys/join.ts';
import { numberChanges } from '../numbers.ts';

export interface FormerMember {
  userId: string;
  /** The person's name; null after the erasure. */
  name: string | null;
  email: string | null;
  removedAt: number;
  erasedAt: number | null;
}

/** Maximum number of former members in the list. */
const maxPeople = 200;
/** To find the former members, at most this many `member.removed` events of the audit log are read, the newest first. */
const maxRemovals = 1_000;

const listSql = `with removed as (
    select target_id as user_id, max(occurred_at) as removed_at from (
      select target_id, occurred_at from audit_events
      where org_id = $1 and target_type = 'member' and action = 'member.removed' order by number desc limit ${maxRemovals}) r
    group by target_id)
  select r.user_id, r.removed_at, e.created_at as erased_at,
    case when e.subject is null then p.name end as name, case when e.subject is null then p.email end as email
  from removed r ${joinPersonSql('r.user_id')} ${joinErasureSql('$1', 'r.user_id')} and e.created_at >= r.removed_at
  where not ${isMemberSql('r.user_id', '$1')}
  order by r.removed_at desc, r.user_id limit ${maxPeople}`;

/** Former members, most recently removed first. @throws 404 for an organization other than the caller's */
export async function listFormerMembers(caller: Caller, orgId: string): Promise<FormerMember[]> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  await numberChanges(ownOrgId);
  return sql<FormerMember>(listSql, [ownOrgId]);
}
