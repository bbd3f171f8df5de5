// Deletes expired records once they no longer need to be recognized or listed.
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { sweepSigningKeys } from './keys.ts';

/** How long the service keeps sign-ins after their end, clients without sign-ins after their registration, and codes after their expiry. */
const keptMs = { ended: days(30), unused: days(90), code: days(1) };

/** Statements that delete records which ended before the time $1. Their order follows from the foreign keys between the tables. */
const sweeps: [age: number, statement: string][] = [
  [keptMs.ended, 'delete from sign_ins where expires_at <= $1 or revoked_at <= $1'],
  // A code that was exchanged for a sign-in is deleted only with this sign-in: if somebody presents the code a second time, the sign-in
  // must be ended.
  [keptMs.code, 'delete from authorization_codes where expires_at <= $1 and sign_in_id is null'],
  // The last used token of each owner is kept: it shows when the owner was last active.
  [
    0,
    `delete from access_tokens a where a.expires_at <= $1 and (a.last_used_at is null or exists (
      select 1 from access_tokens b where b.last_used_at > a.last_used_at
        and (b.sign_in_id = a.sign_in_id or b.registration_id = a.registration_id)))`,
  ],
  [
    keptMs.unused,
    `delete from oauth_clients c where c.created_at <= $1
      and not exists (select 1 from sign_ins s where s.client_id = ${reference('c.id')})`,
  ],
  [
    keptMs.unused,
    'delete from client_documents d where d.fetched_at <= $1 and not exists (select 1 from sign_ins s where s.client_id = d.url)',
  ],
];

/** Deletes the expired records; called periodically by the scheduler. */
export async function sweepOAuth(): Promise<void> {
  for (const [age, statement] of sweeps) await sql(statement, [now() - age]);
  await sweepSigningKeys();
}
