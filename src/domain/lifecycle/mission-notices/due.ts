// Finds news of missions without a notice: missions that have ended, and open ones that wait for a person.
import { hours, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql } from '#foundation/postgres/database.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { joinEnabledPersonSql } from '../../organization/people/join.ts';
import { runNewsSql } from '../../work/runs/news.ts';
import type { MissionNoticeKind } from './model.ts';

/** Missions that ended earlier cause no notice, for example when no process was running. */
const recentMs = hours(3);
const batch = 100;

export interface DueNotice {
  runId: Id<'run'>;
  orgId: Id<'organization'>;
  userId: Id<'person'>;
  cause: string;
  kind: MissionNoticeKind;
  missionTitle: string | null;
  /** The question, the reason, or the address of the pull request; null for none. */
  detail: string | null;
  email: string;
  organizationName: string;
  slug: string;
}

const dueSql = `select d.run_id, d.org_id, d.user_id, d.cause, d.kind, d.mission_title, d.detail, p.email, o.name as organization_name, o.slug
  from (${runNewsSql('$1')}) d ${joinMembershipSql('d')} ${joinEnabledPersonSql('d.user_id')} ${joinOrganizationSql('d.org_id')}
  where not exists (select from mission_notices n where n.run_id = d.run_id and n.cause = d.cause)
  order by d.run_id limit ${batch}`;

/** Returns at most 100. */
export const findDueNotices = (): Promise<DueNotice[]> => sql<DueNotice>(dueSql, [now() - recentMs]);
