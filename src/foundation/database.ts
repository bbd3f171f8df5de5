// One pool, two ways to speak: knex (under Objection) for building, `sql` for the reads that every request makes.
// Process-wide like the clock: bound once at start, used plainly everywhere.
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers, Model } from 'objection';
import pg from 'pg';
import { seconds } from './clock.ts';
import { databaseFault, isStalePlan, retrying } from './database-errors.ts';
import { send } from './statement.ts';

// int8 and numeric arrive as strings by default. Epoch milliseconds and money fit a double exactly in our ranges.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

export interface DatabaseSettings {
  connection: string | pg.ClientConfig;
  poolMax?: number;
  /** Named (prepared) statements save a parse per read; a pooler in transaction mode can't carry them. */
  namedStatements?: boolean;
  onError?: (message: string) => void;
}

let bound: Knex | undefined;
let named = true;
const listeners = new Set<(statement: string) => void>();

/** Opens the pool and binds it for the process. Nothing is sent before the first statement. */
export function openDatabase(settings: DatabaseSettings): Knex {
  const report = settings.onError ?? (() => {});
  const base =
    typeof settings.connection === 'string' ? { connectionString: settings.connection } : settings.connection;
  const quiet = { warn: report, error: report, deprecate: () => {}, debug: () => {} };
  const knex = knexFactory({
    client: 'pg',
    connection: { ...base, connectionTimeoutMillis: 3_000, query_timeout: 30_000, keepAlive: true } as never,
    pool: { min: 0, max: settings.poolMax ?? 16, acquireTimeoutMillis: 6_000, idleTimeoutMillis: 30_000 },
    log: quiet,
    ...knexSnakeCaseMappers(),
  });
  knex.on('query', (query: { sql: string }) => {
    for (const listener of listeners) listener(query.sql);
  });
  bound = knex;
  named = settings.namedStatements ?? true;
  Model.knex(knex);
  return knex;
}

export function database(): Knex {
  if (!bound) throw new Error('the database is not open');
  return bound;
}

/** Calls back with the text of every statement sent, until the returned function is called. */
export function watchStatements(listener: (statement: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Sends one statement, within a transaction when one is given, and gives plain rows with camelCase names. `text` must come from
 * a bounded set (never built from a caller's values): it is kept, prepared, for as long as the process and its connections live.
 */
export async function sql<Row>(text: string, values: unknown[] = [], trx?: Transaction): Promise<Row[]> {
  // What fails in a transaction is done again as a whole, or not at all.
  if (trx) return attempt<Row>(text, values, trx);
  try {
    return await attempt<Row>(text, values);
  } catch (error) {
    if (isStalePlan(error)) return attempt<Row>(text, values);
    if (databaseFault(error) !== 'retry') throw error;
    return retrying(() => attempt<Row>(text, values), { budgetMs: patience });
  }
}

/** A server that starts anew, a deadlock, a moved primary: what surely was not applied is tried again for so long. */
const patience = seconds(2);

async function attempt<Row>(text: string, values: unknown[], knex: Knex = database()): Promise<Row[]> {
  for (const listener of listeners) listener(text);
  const connection = (await knex.client.acquireConnection()) as pg.ClientBase;
  try {
    return await send<Row>(connection, text, values, named);
  } catch (error) {
    // Made while reading from a socket: the way that leads here is of more use.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    await knex.client.releaseConnection(connection);
  }
}

/**
 * All or nothing. Objection queries inside take the given transaction: `Project.query(trx)`. The work is done again when it
 * surely was not applied, so what it does outside the database belongs after it.
 */
export const transaction = <T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> =>
  retrying(() => database().transaction(work), { budgetMs: patience });
export type Transaction = Knex.Transaction;
