// One connection pool with two interfaces: knex (under Objection) builds queries, and `sql` sends the reads of every request. The pool
// serves the whole process, and is bound once when the process starts.
import type { Knex } from 'knex';
import { Model } from 'objection';
import type pg from 'pg';
import { seconds } from '../clock.ts';
import { databaseErrorKind, isStalePlan, retrying } from './database-errors.ts';
import { committed, enclosing, hold, joined, outermost, release } from './enclosing.ts';
import { createLookUps } from './look-ups.ts';
import { noteDuration, spanned } from './observed-statements.ts';
import { carriesOrigin, isWriting, originBefore, setOriginSql } from './origin.ts';
import { openPool, type Pool, type PoolSettings } from './pool.ts';
import { cut, statementOf } from './primary.ts';
import { type Bookmark, bookmarkOf, leaveReplica, replicaPool, withPosition } from './replica.ts';
import type { Repeated } from './statement.ts';
import { sendTogether, withStatementsEnded } from './statement-order.ts';

export interface DatabaseSettings extends PoolSettings {
  /** Whether statements are prepared (named), which saves a parse per read; a pooler in transaction mode does not support that. */
  namedStatements?: boolean;
  /**
   * Maximum time, in milliseconds, in which work is repeated after an error which shows that the database has not applied it, such as a
   * deadlock or a server restart. Absent means 2,000.
   */
  retryForMs?: number;
}

let bound: Pool | undefined;
let named = true;
let budgetMs = seconds(2);
type Listener = (statement: string, times: number) => void;
const listeners = new Set<Listener>();

/** Opens the pool and binds it for the process. Nothing is sent before the first statement. */
export function openDatabase(settings: DatabaseSettings): Knex {
  bound = openPool(settings);
  const { knex } = bound;
  knex.on('query', (query: { sql: string }) => {
    for (const listener of listeners) listener(query.sql, 1);
  });
  named = settings.namedStatements ?? true;
  budgetMs = settings.retryForMs ?? seconds(2);
  Model.knex(knex);
  return knex;
}

function pool(): Pool {
  if (!bound) throw new Error('the database is not open');
  return bound;
}

/** Whether the database accepts no connections at present, as observed by the pool. */
export const isDatabaseAway = (): boolean => pool().outage.isOn;

/**
 * Calls the listener for each statement of each message to the database, with the text of the statement and the number of times that the
 * message executes it. The returned function ends this.
 */
export function watchStatements(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The pool, or the enclosing transaction if there is one. The caller may use the result for writes. */
export function database(): Knex {
  leaveReplica();
  return joined() ?? pool().knex;
}

/**
 * Sends one statement, within the transaction if there is one, and resolves to plain rows with camelCase names. `text` must come from a
 * bounded set (never built from a caller's values): it is prepared, and kept for the lifetime of the process and its connections.
 * Statements that are sent concurrently in a transaction are executed in their order, and share a message.
 */
export const sql = <Row>(text: string, values: unknown[] = [], trx = joined()): Promise<Row[]> =>
  spanned(text, () => sendOne<Row>(text, values, trx));

async function sendOne<Row>(text: string, values: unknown[], trx: Transaction | undefined): Promise<Row[]> {
  const statements = [...(isWriting(text) ? originBefore(trx && outermost(trx)) : []), { text, values: [values] }];
  // Inside a transaction, a failed statement is not retried by itself: only the whole transaction can be.
  const sent = trx
    ? (sendTogether(trx, statements, sendInTransaction) as Promise<Row[][]>)
    : preferReplica((to) => attemptTwice<Row>(to, statements));
  return (await sent).at(-1)!;
}

const sendInTransaction = (connection: pg.ClientBase, statements: readonly Repeated[]): Promise<unknown[][]> =>
  sendOn<unknown>(pool(), connection, statements, true);

/** Sets the origin of the enclosing transaction, which may have begun before the origin was known. */
export async function carryOrigin(trx = joined()): Promise<void> {
  const [statement] = trx ? originBefore(outermost(trx)) : [];
  if (statement) await sql(statement.text, [...statement.values[0]!], trx);
}

/** Sends the statement to the replica if the operation may read from it; otherwise, or if the replica fails, sends it to the primary. */
function preferReplica<T>(send: (to: Pool) => Promise<T>): Promise<T> {
  const replica = replicaPool();
  if (!replica) return send(pool());
  return send(replica).catch(() => {
    // Possible causes: the replica is unreachable, its replay conflicts with the statement, or the statement writes.
    leaveReplica();
    return send(pool());
  });
}

/**
 * Sends a read and returns its rows, as `sql` does. The message may also contain reads of other requests (look-ups.ts), which a slow read
 * would delay: the read must use an index and return at most `rows` rows.
 */
export function lookUp<Row>(text: string, values: unknown[], trx = joined(), rows = 1): Promise<Row[]> {
  if (trx) return sql(text, values, trx);
  return spanned(text, () => preferReplica((to) => lookUpIn<Row>(to, text, values, rows)));
}

const lookUpIn = createLookUps((to, statements) => attemptTwice(to, statements));

/**
 * Looks up a credential on the primary. The result includes the position up to which the primary has written, for the reads of the request
 * (replica.ts).
 */
export async function findCredential<Row>(
  text: string,
  values: unknown[],
): Promise<(Row & { bookmark?: Bookmark | undefined }) | undefined> {
  const [row] = await lookUp<Row & { position?: string | null }>(withPosition(text), values);
  return row?.position ? { ...row, bookmark: bookmarkOf(row.position) } : row;
}

async function attemptTwice<Row>(to: Pool, statements: readonly Repeated[]): Promise<Row[][]> {
  try {
    return await attempt<Row>(to, statements);
  } catch (error) {
    // A statement that fails on a replica is sent to the primary.
    if (to !== bound) throw error;
    if (isStalePlan(error)) return attempt<Row>(to, statements);
    if (databaseErrorKind(error) !== 'retry') throw error;
    return retrying(() => attempt<Row>(to, statements), { budgetMs });
  }
}

/** Sends statements on a connection of a pool, in one message. */
async function attempt<Row>(to: Pool, statements: readonly Repeated[]): Promise<Row[][]> {
  const connection = await to.connections.acquire();
  try {
    return await sendOn<Row>(to, connection, statements);
  } finally {
    to.connections.release(connection);
  }
}

async function sendOn<Row>(
  { send }: Pool,
  connection: pg.ClientBase,
  statements: readonly Repeated[],
  isInTransaction = false,
): Promise<Row[][]> {
  for (const listener of listeners) {
    for (const { text, values } of statements) if (text !== setOriginSql) listener(text, values.length);
  }
  const sentAt = performance.now();
  try {
    return await send<Row>(connection, statements, named, isInTransaction);
  } catch (error) {
    // The statement timed out but is still being executed, so a rollback or another caller would wait for it: the connection is closed.
    if (statementOf(connection as pg.Client)) cut(connection as pg.Client, error as Error);
    // The stack of the original error shows only the socket's read, so it is replaced by the stack of the caller.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    noteDuration(statements.at(-1)!.text, statements.length, sentAt);
  }
}

/**
 * Runs the work in a transaction, so that either all of its statements are applied or none. Objection queries in the work take the given
 * transaction: `Project.query(trx)`. If the work was certainly not applied, it is repeated, so effects outside the database belong after
 * the transaction. Inside an enclosing transaction, the new one is a savepoint: a caller that catches its error may continue.
 */
export function transaction<T>(work: (trx: Transaction) => Promise<T>): Promise<T> {
  leaveReplica();
  const outer = joined();
  const nested = () => outer!.transaction((trx) => enclosing.run(trx, withStatementsEnded(work), trx));
  if (outer) return carryOrigin(outer).then(nested);
  return retrying(() => pool().knex.transaction(begun(work)), { budgetMs });
}

// Returns a function that executes `work` in a new transaction. The function first records that BEGIN has already set the origin of the changes
// (carry-origins.ts), so that the origin is not set a second time.
const begun = <T>(work: (trx: Transaction) => Promise<T>) => {
  const run = withStatementsEnded(work);
  return (trx: Transaction): Promise<T> => {
    carriesOrigin(trx);
    return run(trx);
  };
};

export type Transaction = Knex.Transaction;

/** Sends a statement whose failure the caller handles: within an enclosing transaction the statement runs in a savepoint. */
export const savepoint = <T>(statement: () => Promise<T>): Promise<T> =>
  joined() ? transaction(statement) : statement();

/**
 * Runs `work` in a transaction that the code inside need not know: the transaction includes all statements and transactions of `work`, even
 * if they are sent by `sql`, or by `Model.query()` without an explicit transaction. `work` may commit the transaction early; later
 * statements are then outside of it.
 */
export const enclosingTransaction = <T>(work: (trx: Transaction) => Promise<T>): Promise<T> =>
  retrying(
    async () => {
      leaveReplica();
      hold();
      const trx = await pool()
        .knex.transaction()
        .catch((error) => {
          release();
          throw error;
        });
      trx.executionPromise.catch(() => {});
      try {
        // knex returns a transaction even when BEGIN has failed; awaiting its promise then throws that error.
        if (trx.isCompleted()) await trx.executionPromise;
        const result = await enclosing.run(trx, begun(work), trx);
        if (!committed.has(trx)) await commit(trx);
        return result;
      } catch (error) {
        if (!trx.isCompleted()) await trx.rollback().catch(() => {});
        throw error;
      } finally {
        release();
      }
    },
    { budgetMs },
  );

/** Ends a transaction of `enclosingTransaction`. knex's own `commit` resolves even when the commit failed. */
export async function commit(trx: Transaction): Promise<void> {
  await Promise.all([trx.commit(), trx.executionPromise]);
  committed.add(trx);
}

/**
 * Called before a request to an external server. Throws an error if the caller is inside an open `enclosingTransaction`, such as that of a
 * call with an Idempotency-Key, because the transaction would occupy a database connection until the external server has responded.
 */
export function refuseInTransaction(what: string): void {
  if (joined()) throw new Error(`${what} in an open transaction: call releaseTransaction (idempotency.ts) first`);
}
