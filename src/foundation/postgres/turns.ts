// Operations in an enclosing transaction know nothing of it and send statements at once. Here they take turns: a connection does
// one at a time, and pg 9 will not queue them. None goes past the end of the transaction.
import type { Knex } from 'knex';
import type pg from 'pg';

/** The last statement on the connection of each transaction, until it is done. */
const lastOn = new WeakMap<pg.ClientBase, Promise<void>>();

/** @throws once the transaction is over: its connection may be another one's by then */
export async function inTurn<T>(trx: Knex.Transaction, send: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
  const connection: pg.ClientBase = await trx.client.acquireConnection();
  const mine = (): Promise<T> => {
    if (trx.isCompleted()) throw new Error('the transaction is over');
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

/** The work of a transaction, whose failure is reported after all that it has sent: the rollback is the last statement. */
export const ending =
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
