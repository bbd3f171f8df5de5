// What may be forgotten of agents: those that nobody claimed in time, and what was counted or used up long enough ago.
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { sweepJtis } from './id-jag/replay.ts';
import { sweepRegistrationCounts } from './registration-count.ts';

/** Whoever is late is told "expired" for a while, and "unknown" after that. */
const remembered = days(7);

/** Deletes in bulk; asked now and then. Claims and tokens of a registration go with it. */
export async function sweepAgentIdentities(): Promise<void> {
  await sql('delete from agent_registrations where claimed_at is null and claim_expires_at <= $1', [
    now() - remembered,
  ]);
  await sweepJtis();
  await sweepRegistrationCounts();
}
