// Limits on invites sent in 24 hours: by one organization, by one person, and to one address. Rows are counted while a lock for each of the
// three is held, so that the limits apply across all processes.
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { tooMany } from '#foundation/problem.ts';
import { invitesPerDay } from '#limits.ts';
import type { Invite } from './model.ts';

let perOrganization: number = invitesPerDay.organization;

/** Sets how many invites each organization can send a day; called once at startup. Each person can send half as many. */
export function bindInvitesPerDay(limit: number): void {
  perOrganization = limit;
}

/** Prefix of the lock keys, which distinguishes these advisory locks from other locks whose keys are strings. */
const lockSpace = 7_310_448;

/** The time of the earliest invite that still counts; a day after it, the next invite is admitted. */
const limitingInviteSql = (column: string) =>
  `select created_at from invites where ${column} = $1 and created_at > $2 order by created_at desc offset $3 limit 1`;

/** Checks the limits, in the transaction that inserts the invite. @throws 429 with `Retry-After` */
export async function admitInvite(
  trx: Transaction,
  { orgId, invitedByUserId, email }: Pick<Invite, 'orgId' | 'invitedByUserId' | 'email'>,
): Promise<void> {
  // The three limits are always locked in this order, which prevents deadlocks.
  await refuseBeyond(trx, 'org_id', orgId, perOrganization, 'Your organization has sent too many invites.');
  if (invitedByUserId !== null) {
    const limit = Math.ceil(perOrganization / 2);
    await refuseBeyond(trx, 'invited_by_user_id', invitedByUserId, limit, 'You have sent too many invites.');
  }
  await refuseBeyond(trx, 'email', email, invitesPerDay.recipient, 'email: has been sent too many invites.');
}

async function refuseBeyond(
  trx: Transaction,
  column: string,
  value: string,
  limit: number,
  description: string,
): Promise<void> {
  await sql('select pg_advisory_xact_lock(hashtextextended($1, $2))', [value, lockSpace], trx);
  const at = now();
  const [limiting] = await sql<{ createdAt: number }>(limitingInviteSql(column), [value, at - days(1), limit - 1], trx);
  if (limiting) throw tooMany(Math.max(1, Math.ceil((limiting.createdAt + days(1) - at) / 1_000)), description);
}
