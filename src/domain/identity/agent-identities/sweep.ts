// Deletes agents that nobody has claimed in time, and the stored ids of used assertions that have expired.
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { sweepJtis } from './id-jag/replay.ts';

/** Retention after the expiry. During this time a late agent gets the error "expired", afterwards "unknown". */
const keptMs = days(7);

/** Deletes expired registrations and ids; called periodically by the scheduler. Claims and tokens are deleted with their registration. */
export async function sweepAgentIdentities(): Promise<void> {
  await sql('delete from agent_registrations where claimed_at is null and claim_expires_at <= $1', [now() - keptMs]);
  await sweepJtis();
  // Only the previous release writes the table `registration_counts`; the next release drops it.
  await sql('delete from registration_counts where window_ends_at <= $1', [now()]);
}
