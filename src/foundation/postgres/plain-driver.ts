// The plain driver: statements, rows and connections through the public interfaces of pg and knex only. It is slower (README.md).
// DATABASE_DRIVER=plain selects it when a release of pg or knex changes a private member that the fast driver relies on.
import type { Knex } from 'knex';
import type pg from 'pg';
import { isStalePlan } from './database-errors.ts';
import type { FreeConnections } from './free-connections.ts';
import { camel, forgetName, nameOf, parameter, type Repeated } from './statement.ts';

/**
 * Sends statements one by one with pg's own query object; `send` of statement.ts sends them in one message instead. Outside of a
 * transaction, several statements are wrapped in `begin` and `commit`. Inside a transaction they are not, because this `commit` would end
 * the enclosing transaction.
 */
export async function sendPlain<Row>(
  client: pg.ClientBase,
  statements: readonly Repeated[],
  prepared: boolean,
  isInTransaction: boolean,
): Promise<Row[][]> {
  const sends = statements.flatMap(({ text, values }) => values.map((each) => ({ text, values: each.map(parameter) })));
  const isOwn = sends.length > 1 && !isInTransaction;
  if (isOwn) await client.query('begin');
  try {
    const results: Row[][] = [];
    for (const { text, values } of sends) {
      const { rows } = await client.query<Record<string, unknown>>({
        ...(prepared && { name: nameOf(text) }),
        text,
        values,
      });
      results.push(rows.map((row) => withWireNames(row) as Row));
    }
    if (isOwn) await client.query('commit');
    return results;
  } catch (error) {
    if (isStalePlan(error)) for (const { text } of statements) forgetName(text);
    // After a timeout the caller closes the connection: a rollback would wait for the statement.
    if (isOwn && (error as { code?: string }).code) await client.query('rollback').catch(() => {});
    throw error;
  }
}

const withWireNames = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [camel(column), value]));

/** Every statement acquires a connection from knex's pool. */
export const pooledConnectionsOf = (client: Knex.Client): FreeConnections => ({
  acquire: () => client.acquireConnection(),
  release: (connection) => void client.releaseConnection(connection),
});
