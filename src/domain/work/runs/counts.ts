// Counts of runs over all organizations, for the service's own metrics.
import { sql } from '#foundation/postgres/database.ts';
import { type ParkingLimit, parkingLimits } from './model.ts';
import { needingPerson } from './needs.ts';
import { isInState, openStates, type RunState, waitingStates, waitsForRuntime } from './states.ts';

export interface RunCounts {
  dispatching: number;
  running: number;
  waitingForPerson: number;
  /** When the run that has waited longest became ready for a runtime; null means no run waits. */
  waitingSince: number | null;
  completed: number;
  failed: number;
  canceled: number;
}

const count = (...states: RunState[]): string => `count(*) filter (where ${isInState(states)})`;
const countsSql = `select dispatching, running, waiting_for_person, waiting_since, completed, failed, canceled from (
    select ${count(...waitingStates)} as dispatching, ${count('running')} as running,
      count(*) filter (where ${needingPerson.condition}) as waiting_for_person,
      min(coalesce(waiting_since, created_at)) filter (where ${waitsForRuntime()}) as waiting_since
    from runs where ${isInState(openStates)}
  ) open_runs, (
    select ${count('completed')} as completed, ${count('failed')} as failed, ${count('canceled')} as canceled
    from runs where finished_at > $1
  ) ended_runs`;

/** Counts of open runs, and of runs that have ended since a time. */
export const countRunsByStatus = async (endedSince: number): Promise<RunCounts> =>
  (await sql<RunCounts>(countsSql, [endedSince]))[0]!;

const parkedSql = `select parked_by, count(*)::int as runs from runs
  where ${isInState(openStates)} and parked_at is not null group by parked_by`;

/** Counts of open runs that wait because they have reached a limit, by limit. */
export async function countParkedRuns(): Promise<Record<ParkingLimit, number>> {
  const found = await sql<{ parkedBy: ParkingLimit; runs: number }>(parkedSql);
  const counts = Object.fromEntries(parkingLimits.map((limit) => [limit, 0])) as Record<ParkingLimit, number>;
  for (const { parkedBy, runs } of found) counts[parkedBy] = runs;
  return counts;
}
