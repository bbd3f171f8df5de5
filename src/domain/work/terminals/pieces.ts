// Stored pieces of terminals: input that the runtime has not read, and the latest output.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { terminalBounds } from './bounds.ts';

const lastInputSql = `select coalesce(max(seq), -1)::int as last, count(*)::int as unread from terminal_pieces
  where terminal_id = $1 and is_input`;

/**
 * Sequence number of the last piece of input, and how many pieces are stored. The last piece is always kept, so that numbering continues.
 */
export const lastInput = async (trx: Transaction, id: string): Promise<{ last: number; unread: number }> =>
  (await sql<{ last: number; unread: number }>(lastInputSql, [id], trx))[0]!;

const addSql = 'insert into terminal_pieces values ($1, $2, $3, $4)';

export const addInput = (trx: Transaction, id: string, seq: number, text: string): Promise<unknown> =>
  sql(addSql, [id, true, seq, text], trx);

const readInputSql = `with read as (delete from terminal_pieces where terminal_id = $1 and is_input and seq < $2 - 1)
  select seq, content as text from terminal_pieces where terminal_id = $1 and is_input and seq >= $2 order by seq`;

export interface InputPiece {
  seq: number;
  text: string;
}

/** Reads the input from this sequence number on, and deletes earlier pieces except the last one. */
export const inputFrom = (id: string, seq: number): Promise<InputPiece[]> => sql<InputPiece>(readInputSql, [id, seq]);

const nextOutputSql =
  'select coalesce(max(seq), -1)::int + 1 as next from terminal_pieces where terminal_id = $1 and not is_input';
const dropOldOutputSql = 'delete from terminal_pieces where terminal_id = $1 and not is_input and seq <= $2';

export const nextOutput = async (trx: Transaction, id: string): Promise<number> =>
  (await sql<{ next: number }>(nextOutputSql, [id], trx))[0]!.next;

/** Adds output, and drops the oldest. */
export async function addOutput(trx: Transaction, id: string, seq: number, content: string): Promise<void> {
  await sql(addSql, [id, false, seq, content], trx);
  await sql(dropOldOutputSql, [id, seq - terminalBounds.keptOutput], trx);
}

const outputSql = `select seq, content from terminal_pieces
  where terminal_id = $1 and not is_input and seq >= $2 order by seq limit ${terminalBounds.outputAtOnce}`;

export const outputFrom = (id: string, seq: number): Promise<{ seq: number; content: string }[]> =>
  sql<{ seq: number; content: string }>(outputSql, [id, seq]);
