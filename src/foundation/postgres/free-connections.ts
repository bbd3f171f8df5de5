// Reuses connections between consecutive statements. Acquiring a connection from knex's pool takes two timers and a dozen promises; a
// request sends its statements one after the other, so most statements find a free connection here (bench/README.md).
import type { Knex } from 'knex';
import type pg from 'pg';

/** knex marks connections that it will not use again. */
type Connection = pg.ClientBase & { __knex__disposed?: unknown };

export interface FreeConnections {
  acquire(): Promise<Connection>;
  release(connection: Connection): void;
}

/**
 * Lends the connections of the pool of `client`. A released connection is first kept here for the next statement. If no statement takes the
 * connection, it returns to the pool before the event loop waits for new events, so that nobody waits longer for a connection of the pool.
 */
export function freeConnectionsOf(client: Knex.Client): FreeConnections {
  let free: Connection[] = [];
  const releaseAll = () => {
    const unused = free;
    free = [];
    for (const connection of unused) client.releaseConnection(connection);
  };
  return {
    async acquire() {
      const connection = free.pop();
      if (connection && !connection.__knex__disposed) return connection;
      if (connection) client.releaseConnection(connection);
      return client.acquireConnection();
    },
    release(connection) {
      if (free.push(connection) === 1) setImmediate(releaseAll);
    },
  };
}
