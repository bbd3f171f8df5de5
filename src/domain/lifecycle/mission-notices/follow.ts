// Streams notices to the open console pages of a person.
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import { minutes, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { pageOfSlug } from '../../organization/organizations/pages.ts';
import type { MissionNotice } from './model.ts';

/** Maximum age of notices that a page gets when it opens or reconnects. */
const recentMs = minutes(10);

const recentSql = `select n.id, n.kind, n.run_id, n.title, n.body, n.created_at, o.slug
  from mission_notices n ${joinMembershipSql('n')} ${joinOrganizationSql('n.org_id')}
  where n.user_id = $1 and n.in_browser and n.created_at > $2 and n.org_id <> all ($3::text[]) order by n.created_at desc, n.id desc limit 50`;

async function findRecent(caller: Caller): Promise<MissionNotice[]> {
  const values = [ownPerson(caller), now() - recentMs, caller.hiddenOrgIds ?? []];
  const rows = await sql<Omit<MissionNotice, 'url'> & { slug: string }>(recentSql, values);
  return rows.reverse().map(({ slug, ...notice }) => ({ ...notice, url: pageOfSlug(slug, `/runs/${notice.runId}`) }));
}

/** The notices of the last ten minutes at once, then each new one; in all organizations that the session reaches. */
export async function* followNotices(changes: AsyncIterable<() => Promise<Caller>>): AsyncGenerator<MissionNotice[]> {
  let sent: ReadonlySet<string> | null = null;
  for await (const currentCaller of changes) {
    const recent = await findRecent(await currentCaller());
    const fresh = recent.filter(({ id }) => !sent?.has(id));
    if (sent === null || fresh.length > 0) yield fresh;
    sent = new Set(recent.map(({ id }) => id));
  }
}
