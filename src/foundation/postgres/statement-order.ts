// Sends the statements of a transaction in messages. A message is sent only when the previous one is answered, because a connection
// executes one statement at a time, and pg 9 will not queue statements. Statements that are added while a message is being answered wait
// together, and form the next message, so that fewer messages are written and read. No statement is sent after the end of the transaction.
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Repeated } from './statement.ts';

/**
 * For the connection of each transaction, a promise that resolves when the statement that was sent last has ended. The entry is then
 * deleted.
 */
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

/**
 * The next message of a transaction, which is sent when the previous message is answered: its statements, and the callers to whom the rows
 * are returned.
 */
interface Message {
  statements: Repeated[];
  callers: { executions: number; resolve(rows: unknown[][]): void; reject(reason: unknown): void }[];
}
const waitingIn = new WeakMap<Knex.Transaction, Message>();

/**
 * Adds statements to the next message of the transaction. The message is sent when the previous one is answered, with all statements that
 * were added by then, in their order. If one statement fails, all statements of the message fail with the same error: PostgreSQL then
 * refuses every further statement of the transaction.
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

/**
 * Runs the work of a transaction. If the work fails, the error is thrown only when all statements of the transaction have ended, so that
 * the rollback is the last statement.
 */
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
