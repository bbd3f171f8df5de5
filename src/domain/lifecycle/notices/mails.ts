// Sends emails about notices that need action to the people who can act. These people are owners, admins and the owner of an expiring
// token. If a mission waits for a person to act, they also include everybody who is allowed to run missions. The row and the email are
// written in one transaction, so that each person gets the email about a notice only once, even with several processes.
import type { Caller } from '#access/principal.ts';
import { isAtLeast } from '#access/roles.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { days, hours, minutes, now } from '#foundation/clock.ts';
import { queueMail } from '#foundation/mail/mail.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { listOwnersOfExpiringTokens } from '../../identity/tokens/operations.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { Membership } from '../../organization/memberships/model.ts';
import type { Organization } from '../../organization/organizations/model.ts';
import { organizationsWithIds } from '../../organization/organizations/operations.ts';
import { pageOfSlug } from '../../organization/organizations/pages.ts';
import { peopleOf } from '../../organization/people/operations.ts';
import { findRunsAwaitingPerson } from '../../work/runs/needs.ts';
import { hasOpenRunSql } from '../../work/runs/states.ts';
import { hasEventsSinceSql } from '../audit/numbers.ts';
import { type MailKind, mailChoicesOf, mailKindOf } from './mail-settings.ts';
import type { Notice } from './model.ts';
import { listNotices } from './operations.ts';

/** Intervals between checks of an organization's notices. An organization is active if it has an open run, or an audit event since its last check. */
const checkIntervalMs = { active: minutes(5), quiet: hours(1) };
const batch = 20;
/** A mail that could not be delivered within this time is dropped. */
const deliverableMs = days(1);

const takeSql = `update notice_checks set checked_at = $1 where org_id in (
    select org_id from notice_checks c
    where checked_at <= $2 and ${isWritableSql('c.org_id')}
      and (checked_at <= $3 or ${hasOpenRunSql('c.org_id')} or ${hasEventsSinceSql('c.org_id', 'c.checked_at')})
    order by checked_at limit ${batch} for update skip locked
  ) returning org_id`;

/**
 * Sends the emails about the notices of all organizations. If this fails for one organization, the others are still tried.
 * @throws when it failed for at least one organization
 */
export async function mailNotices(): Promise<void> {
  const errors: unknown[] = [];
  for (;;) {
    const at = now();
    const { active, quiet } = checkIntervalMs;
    const dueOrganizations = await sql<{ orgId: Membership['orgId'] }>(takeSql, [at, at - active, at - quiet]);
    for (const { orgId } of dueOrganizations) await mailNoticesOf(orgId).catch((error: unknown) => errors.push(error));
    if (dueOrganizations.length < batch) break;
  }
  if (errors.length > 0)
    throw new Error(`the emails about notices could not be sent for ${errors.length} organizations`, {
      cause: errors[0],
    });
}

/** Kinds of notices that are also mailed to other members, if their scopes allow it. */
const forMembers: ReadonlySet<MailKind | undefined> = new Set(['token_expiring', 'person_needed']);

async function mailNoticesOf(orgId: Membership['orgId']): Promise<void> {
  const members = await Membership.findAll({ orgId, closedAt: null });
  const tokenOwners = new Set(await listOwnersOfExpiringTokens(orgId, now() + days(1)));
  const awaitingRuns = await findRunsAwaitingPerson(orgId);
  for (const member of members) {
    const isManager = isAtLeast(member.role, 'admin');
    const caller = callerOf(member);
    const mayAct = awaitingRuns.length > 0 && caller.scopes.has('missions:run');
    if (!isManager && !mayAct && !tokenOwners.has(member.userId)) continue;
    // The person and the followers of a mission are left out, because the module mission-notices notifies them.
    const own = awaitingRuns
      .filter(({ userId, followerIds }) => userId === member.userId || followerIds.includes(member.userId))
      .map(({ id }) => `person_needed:${id}:`);
    const memberNotices = (await listNotices(caller)).filter(
      ({ id, kind }) =>
        kind === 'action' &&
        (isManager || forMembers.has(mailKindOf(id))) &&
        !own.some((begin) => id.startsWith(begin)),
    );
    if (memberNotices.length > 0) await mailTo(member, memberNotices);
  }
}

const callerOf = ({ userId, orgId, role }: Membership): Caller => ({
  ...{ principalType: 'cookie', credentialId: 'notices', userId, orgId, role },
  scopes: scopesOfRole(role),
  projectId: null,
});

const claimSql = `insert into notice_mails (org_id, user_id, notice_id, mailed_at) values ($1, $2, $3, $4)
  on conflict do nothing returning notice_id`;

async function mailTo({ orgId, userId }: Membership, notices: Notice[]): Promise<void> {
  const [[person], [organization], choices] = await Promise.all([
    peopleOf([userId]),
    organizationsWithIds([orgId]),
    mailChoicesOf(userId),
  ]);
  if (!person || !organization || person.disabledAt !== null) return;
  for (const notice of notices) {
    if (!choices.some(({ kind, enabled }) => enabled && kind === mailKindOf(notice.id))) continue;
    await transaction(async (trx) => {
      const claimed = await sql(claimSql, [orgId, userId, notice.id, now()], trx);
      if (claimed.length === 0) return;
      const mail = {
        to: person.email,
        subject: `${organization.name}: ${notice.title}`,
        text: textOf(notice, organization),
      };
      await queueMail(trx, mail, now() + deliverableMs);
    });
  }
}

const textOf = ({ title, body, actionUrl }: Notice, { name, slug }: Organization): string =>
  [
    `${title}.`,
    body,
    ...(actionUrl ? [`Open: ${actionUrl}`] : []),
    `You get this email once, as a member of ${name} who can act on it.\nTurn off emails of this kind: ${pageOfSlug(slug, '/notifications')}`,
  ].join('\n\n');
