// Inserts a row unless one with its key is there already. Not by Objection: on a conflict that returns its input instead of no row.
import type { BaseModel, Row } from './base-model.ts';
import type { Transaction } from './database.ts';

/** Returns false when nothing was inserted. `key`: the columns of the unique constraint that may be violated; any when absent. */
export async function insertNew<M extends BaseModel>(
  trx: Transaction,
  model: Pick<typeof BaseModel, 'tableName' | 'idColumn'> & (new () => M),
  row: Partial<Row<M>>,
  key?: readonly (keyof Row<M> & string)[],
): Promise<boolean> {
  const insert = trx(model.tableName).insert(row);
  const conflict = key ? insert.onConflict(key as never) : insert.onConflict();
  const inserted = await conflict.ignore().returning([model.idColumn].flat());
  return inserted.length > 0;
}
