// One pool, two ways to use it: knex (under Objection) for building, `sql` for the reads that every request makes.
// Process-wide like the clock: bound once at start, used plainly everywhere.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import DataLoader from 'dataloader';
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers, Model } from 'objection';
import pg from 'pg';
import { minutes, seconds } from './clock.ts';
import { databaseErrorKind, isStalePlan, retrying } from './database-errors.ts';
import { type FreeConnections, freeConnectionsOf } from './free-connections.ts';
import { connectionTo, keepOn, primaryOf } from './primary.ts';
import { send } from './statement.ts';

// int8 and numeric arrive as strings by default. Epoch milliseconds and money fit a double exactly in our ranges.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

export interface DatabaseSettings {
  /** A string may name several servers: then the one that takes writes is followed. */
  connection: string | pg.ClientConfig;
  poolMax?: number;
  /** Named (prepared) statements save a parse per read; a pooler in transaction mode can't carry them. */
  namedStatements?: boolean;
  onError?: (message: string) => void;
}

const configOf = (connection: string | pg.ClientConfig): pg.ClientConfig =>
  typeof connection === 'string' ? { connectionString: connection } : connection;

let bound: { knex: Knex; connections: FreeConnections } | undefined;
let named = true;
const listeners = new Set<(statement: string) => void>();

/** Opens the pool and binds it for the process. Nothing is sent before the first statement. */
export function openDatabase(settings: DatabaseSettings): Knex {
  const report = settings.onError ?? (() => {});
  const primary = primaryOf(settings.connection);
  const options = { connectionTimeoutMillis: 3_000, query_timeout: 30_000, keepAlive: true };
  const quiet = { warn: report, error: report, deprecate: () => {}, debug: () => {} };
  const knex = knexFactory({
    client: 'pg',
    connection: (primary ? connectionTo(primary, options) : { ...configOf(settings.connection), ...options }) as never,
    pool: {
      min: 0,
      max: settings.poolMax ?? 16,
      acquireTimeoutMillis: 6_000,
      idleTimeoutMillis: 30_000,
      afterCreate: (client: pg.Client, done: (error: Error | null, client: pg.Client) => void) => {
        retireWhenEnded(client);
        keep(client);
        done(null, client);
      },
    },
    log: quiet,
    ...knexSnakeCaseMappers(),
  });
  const keep = primary ? keepOn(primary, knex) : () => {};
  knex.on('query', (query: { sql: string }) => {
    for (const listener of listeners) listener(query.sql);
  });
  bound = { knex, connections: freeConnectionsOf(knex.client) };
  named = settings.namedStatements ?? true;
  Model.knex(knex);
  return knex;
}

/** Keeps a connection from being used again once the server has said that it ends it, or that it takes no writes. */
function retireWhenEnded(client: pg.Client): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', (error: { code?: string }) => {
    if (/^(57P|08|25006)/.test(error.code ?? '')) Object.assign(client, { __knex__disposed: error });
  });
}

function pool(): { knex: Knex; connections: FreeConnections } {
  if (!bound) throw new Error('the database is not open');
  return bound;
}

/** Calls back with the text of every statement sent, until the returned function is called. */
export function watchStatements(listener: (statement: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const enclosing = new AsyncLocalStorage<Transaction>();
let underWay = 0;
/** Following every promise costs each request some time (Node 20 and 22), hence only while calls need it. Milliseconds. */
const unfollowedAfter = minutes(1);

function release(): void {
  if (--underWay > 0) return;
  // Longer than any statement may run: nothing is left that could go past its transaction.
  setTimeout(() => underWay === 0 && enclosing.disable(), unfollowedAfter).unref();
}

/** What follows an early commit goes to the pool again. */
const committed = new WeakSet<Transaction>();

/**
 * The transaction that everything sent from here joins: the innermost that is still open around the caller. One that has failed
 * is still joined, and refuses: what it did not commit must not go past it.
 */
function joined(): Transaction | undefined {
  let trx = enclosing.getStore();
  if (!trx || committed.has(outermost(trx))) return undefined;
  while (trx.parentTransaction && trx.isCompleted()) trx = trx.parentTransaction;
  return trx;
}

/** The pool, or within an enclosing transaction that transaction. */
export const database = (): Knex => joined() ?? pool().knex;

/**
 * Sends one statement, within a transaction when there is one, and resolves to plain rows with camelCase names. `text` must come
 * from a bounded set (never built from a caller's values): it is kept, prepared, as long as the process and its connections live.
 */
export async function sql<Row>(text: string, values: unknown[] = [], trx = joined()): Promise<Row[]> {
  // What fails in a transaction is done again as a whole, or not at all.
  const sent = trx
    ? sendOn<Row>(await trx.client.acquireConnection(), text, [values])
    : attemptTwice<Row>(text, [values]);
  return (await sent)[0]!;
}

/**
 * `sql` for a look-up by a unique key, which every request makes: those with the same text that requests of one turn of the event
 * loop ask for go over one connection in one message, which saves most of the writing and reading (bench/README.md).
 */
export function lookUp<Row>(text: string, values: unknown[]): Promise<Row[]> {
  if (joined()) return sql(text, values);
  const loader = lookUps.get(text) ?? new DataLoader((asked) => lookUpTogether(text, asked), eachTurn);
  lookUps.set(text, loader);
  return loader.load(values) as Promise<Row[]>;
}
const lookUps = new Map<string, DataLoader<unknown[], unknown[]>>();
const eachTurn = { cache: false, batchScheduleFn: setImmediate, maxBatchSize: 50 };

/** What the server refuses for one of them is sent again one by one: nobody pays for another one's values. */
async function lookUpTogether(text: string, asked: Values): Promise<(unknown[] | Error)[]> {
  try {
    return await attemptTwice(text, asked);
  } catch (error) {
    if (asked.length === 1 || databaseErrorKind(error) !== 'final') throw error;
    const alone = async (values: readonly unknown[]) => (await attemptTwice(text, [values]))[0]!;
    return Promise.all(asked.map((values) => alone(values).catch((reason: Error) => reason)));
  }
}

/** Work that was not applied (server restart, deadlock, moved primary) is retried for so long. */
const patience = seconds(2);

async function attemptTwice<Row>(text: string, values: Values): Promise<Row[][]> {
  try {
    return await attempt<Row>(text, values);
  } catch (error) {
    if (isStalePlan(error)) return attempt<Row>(text, values);
    if (databaseErrorKind(error) !== 'retry') throw error;
    return retrying(() => attempt<Row>(text, values), { budgetMs: patience });
  }
}

type Values = readonly (readonly unknown[])[];

/** Sends a statement on a connection of the pool, once for each list of values. */
async function attempt<Row>(text: string, values: Values): Promise<Row[][]> {
  const { connections } = pool();
  const connection = await connections.acquire();
  try {
    return await sendOn<Row>(connection, text, values);
  } finally {
    connections.release(connection);
  }
}

async function sendOn<Row>(connection: pg.ClientBase, text: string, values: Values): Promise<Row[][]> {
  for (const listener of listeners) listener(text);
  try {
    return await send<Row>(connection, text, values, named);
  } catch (error) {
    // Created while reading from a socket: the caller's stack is of more use.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

/**
 * All or nothing. Objection queries inside take the given transaction: `Project.query(trx)`. The work is done again when it
 * surely was not applied, so what it does outside the database belongs after it. Within an enclosing transaction it is a part of
 * that one, a savepoint: a caller that catches its error may continue.
 */
export function transaction<T>(work: (trx: Transaction) => Promise<T>): Promise<T> {
  const outer = joined();
  if (outer) return outer.transaction((trx) => enclosing.run(trx, work, trx));
  return retrying(() => pool().knex.transaction(work), { budgetMs: patience });
}
export type Transaction = Knex.Transaction;

/** A statement whose failure the caller survives: as it is, or where it joins an enclosing transaction, in a savepoint. */
export const savepoint = <T>(statement: () => Promise<T>): Promise<T> =>
  joined() ? transaction(statement) : statement();

/**
 * A transaction around operations that know nothing of it: all statements and transactions that `work` sends are part of it, also
 * those of `sql` and `Model.query()` that name none. `work` may commit it early; what follows is outside of it.
 */
export const enclosingTransaction = <T>(work: (trx: Transaction) => Promise<T>): Promise<T> =>
  retrying(
    async () => {
      underWay++;
      const trx = await pool()
        .knex.transaction()
        .catch((error) => {
          release();
          throw error;
        });
      trx.executionPromise.catch(() => {});
      try {
        // knex hands out a transaction also when BEGIN has failed.
        if (trx.isCompleted()) await trx.executionPromise;
        const result = await enclosing.run(trx, work, trx);
        if (!committed.has(trx)) await commit(trx);
        return result;
      } catch (error) {
        if (!trx.isCompleted()) await trx.rollback().catch(() => {});
        throw error;
      } finally {
        release();
      }
    },
    { budgetMs: patience },
  );

/** Ends a transaction of `enclosingTransaction`. knex's own `commit` alone resolves also when the commit failed. */
export async function commit(trx: Transaction): Promise<void> {
  await Promise.all([trx.commit(), trx.executionPromise]);
  committed.add(trx);
}

/** The outermost of the transactions around this one: what it commits is seen by others. */
export const outermost = (trx: Transaction): Transaction =>
  trx.parentTransaction ? outermost(trx.parentTransaction) : trx;

/** The outermost transaction around the caller, also after its early commit. */
export function enclosedBy(): Transaction | undefined {
  const trx = enclosing.getStore();
  return trx && outermost(trx);
}
