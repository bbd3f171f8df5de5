// Finds the news of missions about which a person was not notified yet. News means that a mission has ended, or that an open mission waits
// for a person to act.
import { hours, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import type { Membership } from '../../organization/memberships/model.ts';
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { joinEnabledPersonSql } from '../../organization/people/join.ts';
import { followersSql } from '../../work/runs/followers.ts';
import { runNewsSql } from '../../work/runs/news.ts';
import type { MissionNoticeKind } from './model.ts';

/** Maximum age of a mission's end for which a notice is written. After a longer downtime, earlier ends cause no notice. */
const recentMs = hours(3);
const batch = 100;

/** The recipient of a notice, and the organization that the notice names. */
export interface Addressee {
  userId: Id<'person'>;
  name: string;
  email: string;
  organizationName: string;
  slug: string;
}

export interface DueNotice extends Omit<Addressee, 'name'> {
  runId: Id<'run'>;
  orgId: Id<'organization'>;
  cause: string;
  kind: MissionNoticeKind;
  missionTitle: string | null;
  /** Whether the person follows somebody else's run. */
  isFollower: boolean;
  /** The text of the question, the reason, or the URL of the pull request; null without any of them. */
  detail: string | null;
}

/**
 * SQL that pairs the news of missions with the people to notify: one row for the person responsible for the run, and one row for each
 * follower. The column `cause` identifies the notice; in the row of a follower, the follower's id is appended to it.
 */
const newsOfPeopleSql = `select n.run_id, n.org_id, h.user_id, n.cause as news, h.cause, n.kind, n.mission_title, n.detail, h.is_follower
  from (${runNewsSql('$1')}) n cross join lateral (
    select n.user_id, n.cause, false as is_follower
    union all select f.user_id, n.cause || ':' || f.user_id, true from (${followersSql('n.run_id')}) f
      where f.user_id is distinct from n.user_id and f.created_at <= n.since) h`;

// A person who was notified as a follower is not notified again when the run is handed over to them. The person who had the run before is
// not notified again either.
const dueSql = `select d.run_id, d.org_id, d.user_id, d.cause, d.kind, d.mission_title, d.detail, d.is_follower, p.email,
    o.name as organization_name, o.slug
  from (${newsOfPeopleSql}) d ${joinMembershipSql('d')} ${joinEnabledPersonSql('d.user_id')} ${joinOrganizationSql('d.org_id')}
  where not exists (select from mission_notices n where n.run_id = d.run_id
    and (n.cause = d.cause or n.user_id = d.user_id and replace(n.cause, ':' || n.user_id, '') = d.news))
    and ${isWritableSql('d.org_id')}
  order by d.run_id limit ${batch}`;

/** The notices that are due: news about which a person was not notified yet. Returns at most 100. */
export const findDueNotices = (): Promise<DueNotice[]> => sql<DueNotice>(dueSql, [now() - recentMs]);

const addresseeSql = `select m.user_id, p.name, p.email, o.name as organization_name, o.slug
  from (select $1::text as org_id, $2::text as user_id) d ${joinMembershipSql('d')} ${joinEnabledPersonSql('d.user_id')}
    ${joinOrganizationSql('d.org_id')}`;

export const findAddressee = async (
  trx: Transaction,
  { orgId, userId }: Pick<Membership, 'orgId' | 'userId'>,
): Promise<Addressee | undefined> => (await sql<Addressee>(addresseeSql, [orgId, userId], trx))[0];
