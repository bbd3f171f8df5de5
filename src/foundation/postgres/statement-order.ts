// Serializes the statements of a transaction: a connection executes one statement at a time, and pg 9 will not queue them. Statements that
// are sent concurrently share a message, which saves most of their writing and reading. No statement is sent after the end of the transaction.
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Repeated } from './statement.ts';

/** The last statement on the connection of each transaction, until it has ended. */
const lastOn = new WeakMap<pg.ClientBase, Promise<void>>();

/**
 * Sends a statement after the previous ones of its transaction.
 * @throws once the transaction has ended, because another caller may have its connection by then
 */
async function sendInOrder<T>(trx: Knex.Transaction, send: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
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

/** Statements that wait for the previous message of their transaction, and their callers. */
interface Message {
  statements: Repeated[];
  callers: { executions: number; resolve(rows: unknown[][]): void; reject(reason: unknown): void }[];
}
const waitingIn = new WeakMap<Knex.Transaction, Message>();

/**
 * Sends statements in order, together with those that are sent until the previous message is answered. If one statement fails, all
 * statements of its message fail with the same error: PostgreSQL then refuses every further statement of the transaction.
 */
export function sendTogether(
  trx: Knex.Transaction,
  added: readonly Repeated[],
  send: (connection: pg.ClientBase, statements: readonly Repeated[]) => Promise<unknown[][]>,
): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    const caller = { executions: added.reduce((sum, { values }) => sum + values.length, 0), resolve, reject };
    const waiting = waitingIn.get(trx);
    if (waiting) {
      waiting.statements.push(...added);
      return void waiting.callers.push(caller);
    }
    const message: Message = { statements: [...added], callers: [caller] };
    waitingIn.set(trx, message);
    const close = (): void => {
      if (waitingIn.get(trx) === message) waitingIn.delete(trx);
    };
    sendInOrder(trx, (connection) => {
      close();
      return send(connection, message.statements);
    }).then(
      (rows) => {
        for (const one of message.callers) one.resolve(rows.splice(0, one.executions));
      },
      (error) => {
        close();
        for (const one of message.callers) one.reject(error);
      },
    );
  });
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
