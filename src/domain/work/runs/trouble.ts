// Finds problems with the runs of an organization, for notices to people: recurring missions that fail repeatedly, and runs that wait for a
// runtime.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import type { Run } from './model.ts';
import { isInState, openStates, waitsForRuntime } from './states.ts';

export interface FailureStreak {
  recurringId: NonNullable<Run['recurringId']>;
  /** The last completed run before the series of failures; null when there is none. */
  completedId: Run['id'] | null;
  /** When the latest run in this series of failures was created. */
  at: number;
}

// Recurring missions that have failed at least three times since their last completed run. Only the newest failed runs are searched.
const failureStreaksSql = `with failed as (
    select recurring_id, id, created_at,
      row_number() over (partition by recurring_id order by created_at desc, id desc) as n,
      max(created_at) over (partition by recurring_id) as at
    from (
      select recurring_id, id, created_at from runs where org_id = $1 and status = 'failed'
      order by created_at desc, id desc limit 200
    ) newest where recurring_id is not null
  )
  select f.recurring_id, c.id as completed_id, f.at from failed f
  left join lateral (
    select r.id, r.created_at from runs r where r.recurring_id = f.recurring_id and r.status = 'completed'
    order by r.created_at desc, r.id desc limit 1
  ) c on true
  where f.n = 3 and (c.id is null or (c.created_at, c.id) < (f.created_at, f.id))
  order by f.at desc limit 20`;

/** Searches the newest 200 failed runs of the organization; returns at most 20 missions. */
export const findFailureStreaks = (orgId: string): Promise<FailureStreak[]> =>
  sql<FailureStreak>(failureStreaksSql, [orgId]);

export interface WaitingRuns {
  /** Number of waiting runs, at most 100. */
  count: number;
  /** When the longest-waiting run began to wait for a runtime. */
  since: number;
  /** The recorded reason why the longest-waiting run waits. */
  reason: string | null;
}

const waitingSql = `select count(*) as count, min(since) as since, (array_agg(reason order by since))[1] as reason from (
    select coalesce(r.waiting_since, r.created_at) as since, r.reason from runs r
    where r.org_id = $1 and ${isInState(openStates, 'r')} and ${waitsForRuntime('r')}
    order by r.created_at, r.id limit 100
  ) waiting where since <= $2`;

/** Runs that have waited for a runtime for at least `forMs`; null when there are none. */
export async function findWaitingRuns(orgId: string, forMs: number): Promise<WaitingRuns | null> {
  const [row] = await sql<WaitingRuns>(waitingSql, [orgId, now() - forMs]);
  return row && row.count > 0 ? row : null;
}
