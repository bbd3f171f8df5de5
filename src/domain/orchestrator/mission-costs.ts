// The record of what missions cost. Rows are only ever added.
import type { Row } from '#foundation/base-model.ts';
import type { Transaction } from '#foundation/database.ts';
import { MissionCost } from './model.ts';

/** Returns false when a cost with this id was recorded before: a repeated report counts once. */
export async function recordMissionCost(trx: Transaction, cost: Row<MissionCost>): Promise<boolean> {
  const written = await trx(MissionCost.tableName).insert(cost).onConflict().ignore().returning('id');
  return written.length > 0;
}
