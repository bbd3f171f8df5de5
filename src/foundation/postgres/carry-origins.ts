// Adds the origin of changes to the statements of knex: a transaction begins with the origin, and a write outside of a transaction gets a
// transaction.
import type { Knex } from 'knex';
import type pg from 'pg';
import { beginSql, isWriting, presentOrigin } from './origin.ts';

/** The private methods of knex's transaction that send its first statement. */
interface Begins {
  begin(connection: unknown): Promise<unknown>;
  query(connection: unknown, text: string): Promise<unknown>;
}
type Connection = pg.ClientBase & { __knex__disposed?: unknown };
type Send = (connection: Connection, query: { sql: string }) => Promise<unknown>;

type Client = Knex.Client & { _query: Send };

function beginWithOrigin(this: Begins, connection: unknown): Promise<unknown> {
  return this.query(connection, beginSql());
}

/**
 * Replaces the methods `transaction` and `_query` of the client. They use `this`, because knex also calls them on copies of the client,
 * such as the copy for migrations.
 */
export function carryOrigins(client: Knex.Client): void {
  const own = client as Client;
  const { transaction: open, _query: send } = own;
  own.transaction = function (this: Client, ...settings: Parameters<typeof open>) {
    const trx = open.apply(this, settings) as unknown as Begins;
    trx.begin = beginWithOrigin;
    return trx as never;
  };
  // This method does not get the statements of transactions, because the client of a transaction is a copy with its own `_query`.
  own._query = function (this: Client, connection, query) {
    const sent = send.bind(this);
    return presentOrigin() && isWriting(query.sql)
      ? sendInTransaction(sent, connection, query)
      : sent(connection, query);
  };
}

async function sendInTransaction(send: Send, connection: Connection, query: { sql: string }): Promise<unknown> {
  try {
    await connection.query(beginSql());
    const result = await send(connection, query);
    await connection.query('commit');
    return result;
  } catch (error) {
    // After a timeout the statement is still being executed and a rollback would wait for it, so the connection is discarded, as after a
    // failed rollback.
    const rollback = (error as { code?: string }).code ? connection.query('rollback') : Promise.reject(error);
    await rollback.catch((reason) => Object.assign(connection, { __knex__disposed: reason }));
    throw error;
  }
}
