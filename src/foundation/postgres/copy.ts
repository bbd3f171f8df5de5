// COPY of rows as text, on the connection of a transaction. The text format keeps each value exactly; `\N` is null, fields end with a tab
// and rows with a line feed, both of which are escaped in values.
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { database, type Transaction } from './database.ts';
import { cut } from './primary.ts';

/**
 * A time limit that no COPY statement reaches. The `query_timeout` of the pool is too short for COPY, because it is meant for requests. A limit
 * of 0 would not replace the `query_timeout` of the pool.
 */
const unhurried = { query_timeout: 2_147_483_647 };

const connectionOf = (trx: Transaction): Promise<pg.Client> => trx.client.acquireConnection();

/** A stream of rows. The driver pg sets `callback` to a function that stops the timer of the query's time limit. */
type Copying = AsyncIterable<Buffer> & { callback?: () => void };

/** Rows of a query as text. */
export async function* copyOut(trx: Transaction, query: string): AsyncGenerator<Buffer> {
  const connection = await connectionOf(trx);
  const rows = connection.query(Object.assign(to(`copy (${query}) to stdout`), unhurried)) as Copying;
  let isComplete = false;
  try {
    yield* rows;
    isComplete = true;
  } finally {
    // Stops the timer of the query's time limit; a running timer would keep the process alive.
    rows.callback?.();
    // The server sends all rows, whether or not somebody reads them.
    if (!isComplete) cut(connection, new Error('the rows were not read to the end'));
  }
}

/** Inserts rows that are given as text, and returns the number of inserted rows. */
export async function copyIn(
  trx: Transaction,
  { table, columns, rows }: { table: string; columns: string; rows: AsyncIterable<Buffer> },
): Promise<number> {
  const connection = await connectionOf(trx);
  const target = connection.query(Object.assign(from(`copy ${table} (${columns}) from stdin`), unhurried));
  try {
    await pipeline(Readable.from(rows, { objectMode: false }), target);
    return target.rowCount;
  } catch (error) {
    await readiness(connection);
    throw error;
  }
}

/** Waits until the server has ended a refused statement: the next one, a rollback, may be sent only then. */
async function readiness(connection: pg.Client & { readyForQuery?: boolean }): Promise<void> {
  if (connection.readyForQuery) return;
  const [drained, ended] = ['drain', 'end'].map((event) => once(connection, event));
  await Promise.race([drained, ended]).catch(() => {});
}

/** Sends a statement without a time limit. */
export async function sendUnhurried<Row extends object>(
  trx: Transaction,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const connection = await connectionOf(trx);
  return (await connection.query({ text, values, ...unhurried } as pg.QueryConfig)).rows as Row[];
}

/** A transaction that may take as long as its streams do. Unlike `transaction`, it is never repeated, because a stream can be read once. */
export async function streamingTransaction<T>(mode: string, work: (trx: Transaction) => Promise<T>): Promise<T> {
  return database().transaction(async (trx) => {
    await sendUnhurried(trx, `set transaction ${mode}`);
    await sendUnhurried(trx, 'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    return work(trx as Transaction);
  });
}
