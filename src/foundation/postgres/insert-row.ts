// Inserts one row in one message, for a write that needs no transaction of its own.
import type { BaseModel } from './base-model.ts';
import { sql } from './database.ts';
import { columnsOf } from './reads.ts';

type Target<M> = Pick<typeof BaseModel, 'tableName' | 'columns' | 'jsonAttributes'> & (new () => M);

const insertions = new Map<string, string>();

function insertionOf(model: Pick<Target<object>, 'tableName' | 'columns'>): string {
  let text = insertions.get(model.tableName);
  if (!text) {
    const parameters = model.columns.map((_, i) => `$${i + 1}`).join(', ');
    text = `insert into "${model.tableName}" (${columnsOf(model)}) values (${parameters})`;
    insertions.set(model.tableName, text);
  }
  return text;
}

/** Inserts a whole row, within the enclosing transaction if there is one. */
export async function insertRow<M extends object>(model: Target<M>, row: M): Promise<void> {
  const values = model.columns.map((name) => {
    const value = row[name as keyof M];
    return model.jsonAttributes?.includes(name) && value !== null ? JSON.stringify(value) : value;
  });
  await sql(insertionOf(model), values);
}
