// Inserts one row in one message, for a write that needs no transaction of its own.
import type { BaseModel } from './base-model.ts';
import { sql } from './database.ts';
import { columnsOf } from './reads.ts';

type Target<M> = Pick<typeof BaseModel, 'tableName' | 'columns' | 'jsonAttributes'> & (new () => M);

/** Inserts a whole row, within the enclosing transaction if there is one. */
export async function insertRow<M extends object>(model: Target<M>, row: M): Promise<void> {
  const values = model.columns.map((name) => {
    const value = row[name as keyof M];
    return model.jsonAttributes?.includes(name) && value !== null ? JSON.stringify(value) : value;
  });
  const parameters = values.map((_, i) => `$${i + 1}`).join(', ');
  await sql(`insert into "${model.tableName}" (${columnsOf(model)}) values (${parameters})`, values);
}
