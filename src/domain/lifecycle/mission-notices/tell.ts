// Notifies people about their missions. The notice, its email and the event for open pages are written in one transaction. Each notice is
// therefore sent only once, even if several processes run this code at the same time, or a process crashes.
import { days, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail/mail.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { pageOfSlug } from '../../organization/organizations/pages.ts';
import { channelsOf } from './choices.ts';
import { type DueNotice, findDueNotices } from './due.ts';
import type { MissionNoticeKind } from './model.ts';

/** A mail that could not be delivered within this time is dropped. */
const deliverableMs = days(1);
/** Retention of notices; longer than any mission waits. */
const retentionMs = days(400);
/** Maximum number of characters of a question or reason that a notice quotes. */
const quotedChars = 500;

const endings: Record<MissionNoticeKind, string> = {
  completed: 'is completed',
  review: 'is ready for review',
  failed: 'has failed',
  answer: 'asks a question',
  approval: 'waits for approval',
  budget: 'has reached a limit',
  handover: 'was handed to you',
};
const defaultDetails: Record<MissionNoticeKind, string> = {
  completed: 'Its outcome is on the page of the run.',
  review: 'Its pull request waits for a review.',
  failed: 'The reason is on the page of the run.',
  answer: 'Its agent waits for an answer.',
  approval: 'Work begins once the plan is approved.',
  budget: 'It continues once the limit is raised.',
  handover: 'You now get its notifications.',
};

/** Writes all notices that are due. If one cannot be written, the others are still written. @throws when at least one could not be written */
export async function notifyAboutMissions(): Promise<void> {
  const outcomes = await Promise.allSettled(
    (await findDueNotices()).map((due) => transaction((trx) => writeNotice(trx, due))),
  );
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (errors.length > 0)
    throw new Error(`${errors.length} notices about missions could not be stored`, { cause: errors[0] });
}

const claimSql = `insert into mission_notices
    (id, run_id, cause, org_id, user_id, kind, title, body, in_browser, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning id`;

/** Sends the notice through the channels that the addressee has chosen, unless it was sent before. */
export async function writeNotice(trx: Transaction, due: DueNotice): Promise<void> {
  const { runId, cause, orgId, userId, kind, missionTitle, detail, email, organizationName } = due;
  const channels = (await channelsOf(userId, trx)).find((one) => one.kind === kind)!;
  const title = `“${missionTitle ?? runId}” ${endings[kind]}`;
  const body = (detail || defaultDetails[kind]).slice(0, quotedChars);
  const values = [newId('missionNotice'), runId, cause, orgId, userId, kind, title, body, channels.browser, now()];
  if ((await sql(claimSql, values, trx)).length === 0) return;
  if (channels.browser) await announce(trx, userId);
  if (!channels.mail) return;
  const mail = { to: email, subject: `${organizationName}: ${title}`, text: textOf(due, title, body) };
  await queueMail(trx, mail, now() + deliverableMs);
}

const textOf = ({ slug, runId, kind, isFollower }: DueNotice, title: string, body: string): string =>
  [
    `${title}.`,
    body,
    `Open the mission: ${pageOfSlug(slug, `/runs/${runId}`)}`,
    ...(kind === 'completed' ? [] : [`Everything that waits for you: ${pageOfSlug(slug, '/inbox')}`]),
    `You get this email once, because you ${isFollower ? 'follow this mission' : 'started this mission, last changed its schedule, or took it over from another person'}.\nChoose which emails you get: ${pageOfSlug(slug, '/notifications')}`,
  ].join('\n\n');

export const sweepMissionNotices = async (): Promise<void> => {
  await sql('delete from mission_notices where created_at <= $1', [now() - retentionMs]);
};
