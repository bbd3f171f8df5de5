// Updates and queries of runs for sandbox minutes: runs whose next minute is due, the update that adds a minute, and runs that have to stop
// or wait because the next minute would exceed a limit.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { parkRun, unparkRun } from './decisions.ts';
import { pauseRun } from './finish.ts';
import { type ParkingLimit, Run } from './model.ts';
import { heldStates, isInState } from './states.ts';

const batch = 100;
const isWritable = isWritableSql('runs.org_id');
type Held = Record<'runId' | 'leaseId', string>;
type Found = Pick<Run, 'id'>;

const dueSql = `select r.id as run_id, r.lease_id from unnest($1::text[], $2::text[]) b (id, lease_id)
  join runs r on r.id = b.id and r.lease_id = b.lease_id
  where ${isInState(heldStates, 'r')} and coalesce(r.minute_until, 0) <= $3 and r.pauses_at is null`;

/**
 * Returns the entries of `held` whose run still has the lease and must start its next sandbox minute, because the last counted minute has
 * ended or no minute was counted yet.
 */
export const findDueMinutes = (held: readonly Held[]): Promise<Held[]> =>
  sql<Held>(dueSql, [held.map(({ runId }) => runId), held.map(({ leaseId }) => leaseId), now()]);

const pausedSql = `select id from runs where ${isInState(['running'])} and pauses_at <= $1 and ${isWritable} order by pauses_at limit ${batch}`;

/** Runs whose runtime has not stopped in time. */
export const findOverduePauses = (): Promise<Found[]> => sql<Found>(pausedSql, [now()]);

const parkedSql = `select id from runs where ${isInState(['waitingForRuntime'])} and parked_at is not null and ${isWritable}
  order by parked_at limit ${batch}`;

/** Parked runs, which wait for a higher limit and have no sandbox. */
export const findParkedRuns = (): Promise<Found[]> => sql<Found>(parkedSql);

const addMinuteSql = `update runs set sandbox_minutes = sandbox_minutes + 1, sandbox_cost_usd = sandbox_cost_usd + $2,
  mission_cost_usd = mission_cost_usd + $2, minute_until = $3, updated_at = case when $2 > 0 then $4 else updated_at end where id = $1`;

export async function addMinute(trx: Transaction, id: Run['id'], usd: number, minuteUntil: number): Promise<void> {
  await sql(addMinuteSql, [id, usd, minuteUntil, now()], trx);
}

/** Parks the run, and ends its lease: now, or at `pausesAt`, so that its runtime has time to save the work. */
export async function parkAtLimit(
  trx: Transaction,
  run: Run,
  { parkedBy, reason }: { parkedBy: ParkingLimit; reason: string },
  pausesAt: number | null = null,
): Promise<void> {
  await parkRun(trx, run, parkedBy, reason);
  if (pausesAt === null) await pauseRun(trx, { ...run, parkedReason: reason });
  else await Run.patch(trx, { id: run.id }, { pausesAt, leaseUntil: pausesAt });
}

/** Lets runtimes claim the parked run. */
export async function endPause(trx: Transaction, run: Run): Promise<void> {
  await Run.patch(trx, { id: run.id }, { reason: null, waitingSince: now() });
  await unparkRun(trx, run);
}
