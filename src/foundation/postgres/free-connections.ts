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
 * Connections of one pool that are free for the next statement. They return to the pool before the event loop waits, so that no other
 * caller waits longer for a connection.
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
