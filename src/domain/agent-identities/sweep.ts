// What may be forgotten of agents: those that nobody claimed in time, and what was counted or used up long enough ago.
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { sweepJtis } from './id-jag/replay.ts';

/** Whoever is late is told "expired" for a while, and "unknown" after that. */
const remembered = days(7);

/** Deletes in bulk; asked now and then. Claims and tokens of a registration go with it. */
export async function sweepAgentIdentities(): Promise<void> {
  await sql('delete from agent_registrations where claimed_at is null and claim_expires_at <= $1', [
    now() - remembered,
  ]);
  await sweepJtis();
  // Written by the release before this one only; the table is dropped by the next.
  await sql('delete from registration_counts where window_ends_at <= $1', [now()]);
}
