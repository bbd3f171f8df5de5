// Serializes statements in an enclosing transaction, whose operations are unaware of it and send concurrently: a connection executes one
// statement at a time, and pg 9 will not queue them. No statement is sent after the end of the transaction.
import type { Knex } from 'knex';
import type pg from 'pg';

/** The last statement on the connection of each transaction, until it has ended. */
const lastOn = new WeakMap<pg.ClientBase, Promise<void>>();

/**
 * Sends a statement after the previous ones of its transaction.
 * @throws once the transaction has ended, because another caller may have its connection by then
 */
export async function sendInOrder<T>(
  trx: Knex.Transaction,
  send: (connection: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const connection: pg.ClientBase = await trx.client.acquireConnection();
  const mine = (): Promise<T> => {
    if (trx.isCompleted()) throw new Error('the transaction has ended');
    return send(connection);
  };
  const before = lastOn.get(connection);
  const sent = before ? before.then(mine) : mine();
  const forget = (): void => {
    if (lastOn.get(connection) === done) lastOn.delete(connection);
  };
  const done: Promise<void> = sent.then(forget, forget);
  lastOn.set(connection, done);
  return sent;
}

/** Runs the work of a transaction, and reports its failure after all its statements have ended: the rollback is the last one. */
export const withStatementsEnded =
  <T>(work: (trx: Knex.Transaction) => Promise<T>) =>
  async (trx: Knex.Transaction): Promise<T> => {
    try {
      return await work(trx);
    } catch (error) {
      const connection: pg.ClientBase = await trx.client.acquireConnection();
      while (lastOn.has(connection)) await lastOn.get(connection);
      throw error;
    }
  };
