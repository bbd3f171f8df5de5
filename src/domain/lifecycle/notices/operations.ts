// Notices of an organization for one caller: list them, dismiss one.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, wholeOrganization } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { conditions } from './conditions.ts';
import { type Notice, NoticeDismissal, noticeKinds } from './model.ts';

/** How long dismissals are kept. The cause of a notice never lasts so long. */
const dismissalsLastMs = days(400);

/** The notices that the caller's person has not dismissed, the most urgent first. */
export async function listNotices(caller: Caller): Promise<Notice[]> {
  const notices = await presentNotices(caller);
  const { orgId, userId } = caller;
  if (userId === null || notices.length === 0) return notices;
  const ids = notices.map(({ id }) => id);
  const dismissals = await NoticeDismissal.findByKeys('noticeId', ids, { orgId: orgId!, userId });
  const dismissed = new Set(dismissals.map(({ noticeId }) => noticeId));
  return notices.filter(({ id }) => !dismissed.has(id));
}

/** All notices, including dismissed ones. A cause that the caller is not allowed to read produces no notice. */
async function presentNotices(caller: Caller): Promise<Notice[]> {
  const orgId = wholeOrganization(caller);
  const readable = conditions.filter(([scope]) => caller.scopes.has(scope));
  const found = (await Promise.all(readable.map(([, read]) => read(caller)))).flat();
  if (found.length === 0) return [];
  const base = await consolePage(orgId, '');
  const notices = found.map(({ page, ...notice }) => ({ ...notice, actionUrl: base + page }));
  return notices.sort((a, b) => urgency(b) - urgency(a) || b.createdAt - a.createdAt);
}

const urgency = ({ kind }: Notice): number => noticeKinds.indexOf(kind);

/** Hides the notice from the caller while its cause lasts; a repeated call changes nothing. @throws 404 for a notice whose cause has ended */
export async function dismissNotice(caller: Caller, noticeId: string): Promise<NoticeDismissal> {
  const dismissal = { orgId: ownOrganization(caller), userId: ownPerson(caller), noticeId };
  if (!(await presentNotices(caller)).some(({ id }) => id === noticeId)) NoticeDismissal.refuse();
  await NoticeDismissal.query()
    .insert({ ...dismissal, dismissedAt: now() })
    .onConflict(['orgId', 'userId', 'noticeId'])
    .ignore();
  return NoticeDismissal.get(dismissal);
}

export async function sweepDismissals(): Promise<void> {
  await sql('delete from notice_mails where mailed_at <= $1', [now() - dismissalsLastMs]);
  await NoticeDismissal.query()
    .where('dismissedAt', '<=', now() - dismissalsLastMs)
    .delete();
}
