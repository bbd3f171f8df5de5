// The record of what missions cost. Rows are only ever added.
import type { Row } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { insertNew } from '#foundation/postgres/insert-new.ts';
import { MissionCost } from './model.ts';

/** Returns false when a cost with this id was recorded before: a repeated report counts once. */
export const recordMissionCost = (trx: Transaction, cost: Row<MissionCost>): Promise<boolean> =>
  insertNew(trx, MissionCost, cost);

/** What a run has cost so far, in millionths of a US dollar: costs are kept to a millionth. */
export async function costOfRun(trx: Transaction, runId: string): Promise<number> {
  const [row] = await sql<{ cost: number }>(
    'select (coalesce(sum(usd), 0) * 1000000)::bigint as cost from mission_costs where run_id = $1',
    [runId],
    trx,
  );
  return row!.cost;
}
