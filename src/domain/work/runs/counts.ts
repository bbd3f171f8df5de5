// How many runs there are, over all organizations: for the service's own metrics.
import { sql } from '#foundation/postgres/database.ts';
import { isInState, openStates, type RunState, waitingStates } from './states.ts';

export interface RunCounts {
  dispatching: number;
  running: number;
  waitingForPerson: number;
  /** Since when the run that has waited longest is ready for a runtime; null: none waits. */
  waitingSince: number | null;
  completed: number;
  failed: number;
  canceled: number;
}

const needsPerson = '(awaits_approval or interrupted_at is not null)';
const count = (...states: RunState[]): string => `count(*) filter (where ${isInState(states)})`;
const countsSql = `select dispatching, running, waiting_for_person, waiting_since, completed, failed, canceled from (
    select ${count(...waitingStates)} as dispatching, ${count('running')} as running,
      count(*) filter (where ${needsPerson}) as waiting_for_person,
      min(coalesce(waiting_since, created_at)) filter (where ${isInState(waitingStates)} and not ${needsPerson}) as waiting_since
    from runs where ${isInState(openStates)}
  ) open_runs, (
    select ${count('completed')} as completed, ${count('failed')} as failed, ${count('canceled')} as canceled
    from runs where finished_at > $1
  ) ended_runs`;

/** Open ones, and those that have ended since then. */
export const countRunsByStatus = async (endedSince: number): Promise<RunCounts> =>
  (await sql<RunCounts>(countsSql, [endedSince]))[0]!;
