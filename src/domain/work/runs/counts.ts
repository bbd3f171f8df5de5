// How many runs there are, over all organizations: for the service's own metrics.
import { sql } from '#foundation/postgres/database.ts';
import { isInState, openStates } from './states.ts';

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
const countsSql = `select dispatching, running, waiting_for_person, waiting_since, completed, failed, canceled from (
    select count(*) filter (where status = 'dispatching') as dispatching, count(*) filter (where status = 'running') as running,
      count(*) filter (where ${needsPerson}) as waiting_for_person,
      min(coalesce(waiting_since, created_at)) filter (where status = 'dispatching' and not ${needsPerson}) as waiting_since
    from runs where ${isInState(openStates)}
  ) open_runs, (
    select count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed,
      count(*) filter (where status = 'canceled') as canceled
    from runs where finished_at > $1
  ) ended_runs`;

/** Open ones, and those that have ended since then. */
export const countRunsByStatus = async (endedSince: number): Promise<RunCounts> =>
  (await sql<RunCounts>(countsSql, [endedSince]))[0]!;
