// The ledger of mission costs, and sums of it. Rows are only ever added.
import { hours, now } from '#foundation/clock.ts';
import { missionCost } from '#foundation/metrics.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { outermost } from '#foundation/postgres/enclosing.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { attemptIds } from '../runs/attempts.ts';
import { dayOf } from './cap.ts';
import { MissionCost } from './model.ts';

/** Records a cost. Returns false when a cost with this id was recorded before, so that a repeated report counts once. */
export async function recordMissionCost(trx: Transaction, cost: MissionCost): Promise<boolean> {
  const isNew = await MissionCost.insertNew(trx, cost);
  const count = () => missionCost.inc(cost.usd);
  if (isNew) outermost(trx).executionPromise.then(count, () => {});
  return isNew;
}

/** The cost of a run so far, in millionths of a US dollar, which is the precision of recorded costs. */
export async function costOfRun(trx: Transaction, runId: string): Promise<number> {
  const [row] = await sql<{ cost: number }>(
    'select (coalesce(sum(usd), 0) * 1000000)::bigint as cost from mission_costs where run_id = $1',
    [runId],
    trx,
  );
  return row!.cost;
}

/** The cost of all attempts at a task so far, in millionths of a US dollar. */
export async function costOfAttempts(trx: Transaction, groupId: string): Promise<number> {
  const [row] = await sql<{ cost: number }>(
    `select (coalesce(sum(usd), 0) * 1000000)::bigint as cost from mission_costs
      where run_id in (select ${reference('id')} from ${attemptIds('$1')} attempts)`,
    [groupId],
    trx,
  );
  return row!.cost;
}

/**
 * SQL expression: the cost of the organization's missions since the beginning of a UTC day, in US dollars; limited to the project and the
 * person in the columns of `owner`, if any.
 */
export const spendSince = (orgId: string, day: string, owner?: string): string =>
  `(select coalesce(sum(s.usd), 0) from mission_spending s where s.org_id = ${orgId} and s.day >= ${day}${
    owner
      ? ` and (${owner}.project_id is null or s.project_id = ${owner}.project_id)
        and (${owner}.user_id is null or s.user_id = ${owner}.user_id)`
      : ''
  })`;

export interface SpendPoint {
  /** Start of the hour, epoch milliseconds. */
  t: number;
  usd: number;
}

/** Mission costs of today (UTC) per hour; an hour without costs is left out. */
export const spendByHour = (orgId: string): Promise<SpendPoint[]> =>
  sql<SpendPoint>(
    `select at - at % $3::bigint as t, sum(usd) as usd from mission_costs where org_id = $1 and at >= $2 group by 1 order by 1`,
    [orgId, dayOf(now()), hours(1)],
  );

/** The cost of a run up to a given time, in US dollars. */
export async function costUntil(runId: string, at: number): Promise<number> {
  const text = 'select coalesce(sum(usd), 0)::float8 as usd from mission_costs where run_id = $1 and at <= $2';
  return (await sql<{ usd: number }>(text, [runId, at]))[0]!.usd;
}
