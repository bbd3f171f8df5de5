// A pool of connections to one server, or to the primary among several.
import type { EventEmitter } from 'node:events';
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import pg from 'pg';
import { carryOrigins } from './carry-origins.ts';
import { readRowsInOnePiece } from './data-rows.ts';
import type { Driver } from './drivers.ts';
import { type FreeConnections, freeConnectionsOf } from './free-connections.ts';
import { observeStatements } from './observed-statements.ts';
import { type Outage, watchOutage } from './outage.ts';
import { pooledConnectionsOf, sendPlain } from './plain-driver.ts';
import { connectionTo, keepOnPrimary, primaryOf, statementOf } from './primary.ts';
import { sendStatement } from './statement.ts';

// int8 and numeric are strings by default. Epoch milliseconds and money fit a double exactly in the ranges used here.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

export interface PoolSettings {
  /** The driver; `fast` when absent. */
  driver?: Driver | undefined;
  /** A string may name several servers: the pool then follows the primary. */
  connection: string | pg.ClientConfig;
  poolMax?: number | undefined;
  /** Time limit of a new connection, milliseconds. */
  connectMs?: number;
  /** Time limit of a statement, milliseconds. */
  answerMs?: number;
  onError?: ((message: string) => void) | undefined;
}

export interface Pool {
  knex: Knex;
  connections: FreeConnections;
  outage: Outage;
  send: typeof sendPlain;
}

/** Names the connections of this process in pg_stat_activity; a name in the connection string of the database overrides it. */
export const nameConnections = (name: string): void => {
  pg.defaults.application_name = name;
};

const configOf = (connection: string | pg.ClientConfig): pg.ClientConfig =>
  typeof connection === 'string' ? { connectionString: connection } : connection;

/** Opens a pool, which sends nothing before the first statement. A new connection that `accept` rejects is not used. */
export function openPool(
  {
    connection,
    driver = 'fast',
    poolMax = 16,
    connectMs = 3_000,
    answerMs = 30_000,
    onError: report = () => {},
  }: PoolSettings,
  accept: (client: pg.Client) => Promise<void> = async () => {},
): Pool {
  const primary = primaryOf(connection);
  const options = { connectionTimeoutMillis: connectMs, query_timeout: answerMs, keepAlive: true };
  const warn = (line: string) => {
    // knex reports a failed connection to every caller, with a stack. These reports are dropped, because an outage is reported once
    // (outage.ts).
    if (!line.startsWith('Acquire connection error')) report(line);
  };
  const quiet = { warn, error: report, deprecate: () => {}, debug: () => {} };
  const knex = knexFactory({
    client: 'pg',
    connection: (primary ? connectionTo(primary, options) : { ...configOf(connection), ...options }) as never,
    pool: {
      min: 0,
      max: poolMax,
      acquireTimeoutMillis: 6_000,
      idleTimeoutMillis: 30_000,
      afterCreate: (client: pg.Client, done: (error: Error | null, client: pg.Client) => void) => {
        retireWhenEnded(client);
        observeStatements(client);
        if (driver === 'fast') readRowsInOnePiece(client);
        keep(client);
        accept(client).then(
          () => {
            outage.end();
            done(null, client);
          },
          (error) => {
            void client.end().catch(() => {});
            done(error, client);
          },
        );
      },
    },
    log: quiet,
    ...knexSnakeCaseMappers(),
  });
  const outage = watchOutage(knex, connection, report);
  const keep = primary ? keepOnPrimary(primary, knex) : () => {};
  carryOrigins(knex.client);
  // A timed-out statement is still being executed on its connection, and would delay the next caller.
  knex.client.validateConnection = (client: pg.Client) => !statementOf(client);
  return driver === 'fast'
    ? { knex, connections: freeConnectionsOf(knex.client), outage, send: sendStatement }
    : { knex, connections: pooledConnectionsOf(knex.client), outage, send: sendPlain };
}

/** Retires a connection once the server has reported that the connection ends or that the server is read-only. */
function retireWhenEnded(client: pg.Client): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', (error: { code?: string }) => {
    if (/^(57P|08|25006)/.test(error.code ?? '')) Object.assign(client, { __knex__disposed: error });
  });
}
