// Classifies failed database calls: whether the work was applied, may be repeated, or failed because of the caller. SQLSTATEs are
// PostgreSQL's (Appendix A); errors of pg and knex themselves have no code and are recognized by their message.
import { setTimeout as wait } from 'node:timers/promises';

/**
 * - `retry`: not applied, so the whole unit of work may be sent again.
 * - `unknown`: the connection was lost during the call, so it may have been applied. Only idempotent work may be sent again.
 * - `overload`: too many calls at the same time, or the server is short of a resource. Nothing was applied. Answer 503; the caller may
 * retry.
 * - `final`: the same statement fails the same way again.
 */
export type DatabaseErrorKind = 'retry' | 'unknown' | 'overload' | 'final';

const kinds: Record<string, DatabaseErrorKind> = {
  '40001': 'retry', // serialization failure
  '40P01': 'retry', // deadlock
  '55P03': 'retry', // lock not available
  '57P03': 'retry', // starting up or shutting down
  '53300': 'retry', // too many connections; the server rejected the new connection, so nothing was applied
  '3D000': 'retry', // no such database: it was dropped or is being restored; the statement was rejected before it was applied
  '25006': 'retry', // the server is read-only, because another server has become the primary
  '08001': 'retry',
  '08004': 'retry',
  ECONNREFUSED: 'retry',
  EHOSTUNREACH: 'retry',
  '57P01': 'unknown', // an administrator ended the connection
  '57P02': 'unknown', // another backend crashed
  '08003': 'unknown',
  '08006': 'unknown',
  '08007': 'unknown',
  ECONNRESET: 'unknown',
  EPIPE: 'unknown',
  ETIMEDOUT: 'unknown',
  '57014': 'overload', // statement timeout
  '53000': 'overload', // the server lacks a resource
  '53100': 'overload', // the disk is full
  '53200': 'overload', // out of memory
  '53400': 'overload', // a limit of the configuration, such as the limit on temporary files
  '58030': 'overload', // input or output failed, for example on a missing disk
};

// PgBouncer reports every error with the code 08P01, so its errors are told apart by their texts. These errors occur before PgBouncer has
// assigned a server to the client, so nothing was applied (src/objects.c and src/janitor.c of PgBouncer). After any other error of
// PgBouncer, the statement may have been applied.
const poolerWords: [RegExp, DatabaseErrorKind][] = [
  [/server_login_retry|server login has been failing|client_login_timeout|shutting down/, 'retry'],
  [/no more connections allowed|client connections exceeded/, 'retry'],
  [/query_wait_timeout/, 'overload'],
];

// knex prefixes the message with the statement, so the words are searched for anywhere in the text.
const words: [RegExp, DatabaseErrorKind][] = [
  [/Connection terminated unexpectedly|Query read timeout/, 'unknown'],
  [/timeout expired|is not queryable/, 'retry'],
];

interface Raised {
  code?: unknown;
  constraint?: unknown;
  /** Name of the function in PostgreSQL that reported the error. Only a server sends it, not a pooler. */
  routine?: unknown;
  syscall?: unknown;
  nativeError?: unknown;
  originalError?: unknown;
}

/** The error and those that it wraps: in Objection's `nativeError`, GraphQL's `originalError`, or the `cause` of a failed migration. */
function* unwrap(error: unknown): Generator<Error & Raised> {
  for (
    let e = error as (Error & Raised) | undefined;
    e instanceof Error;
    e = (e.nativeError ?? e.originalError ?? e.cause) as typeof e
  )
    yield e;
}

function kindOf(error: Error & Raised): DatabaseErrorKind | null {
  const code = typeof error.code === 'string' ? error.code : '';
  // ENOENT means that a file is missing. If the system call is `connect`, the missing file is the socket of the database server, which is down.
  // With any other system call, the error does not concern the database.
  if (code === 'ENOENT') return error.syscall === 'connect' ? 'retry' : null;
  const known = kinds[code];
  if (known) return known;
  if (isStalePlan(error)) return 'retry';
  if (code === '08P01' && error.routine === undefined) return byWords(poolerWords, error) ?? 'unknown';
  // An error with any other SQLSTATE is final. SQLSTATEs begin with a digit, F, H, P or X; codes of system errors begin with E.
  if (/^[0-9FHPX][0-9A-Z]{4}$/.test(code)) return 'final';
  if (error.name === 'KnexTimeoutError') return 'overload';
  return byWords(words, error);
}

const byWords = (table: readonly [RegExp, DatabaseErrorKind][], { message }: Error): DatabaseErrorKind | null =>
  table.find(([pattern]) => pattern.test(message))?.[1] ?? null;

/** Whether a table has changed since the statement was prepared ("cached plan must not change result type", in the server's language). */
export const isStalePlan = (error: unknown): boolean =>
  [...unwrap(error)].some(({ code, routine }) => code === '0A000' && routine === 'RevalidateCachedQuery');

/** The kind of a database error; null for any other error. */
export function databaseErrorKind(error: unknown): DatabaseErrorKind | null {
  for (const e of unwrap(error)) {
    const kind = kindOf(e);
    if (kind) return kind;
  }
  return null;
}

/** Whether a unique constraint was violated. If `constraint` is given, only a violation of the constraint with this name counts. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  for (const e of unwrap(error)) {
    if (e.code === '23505') return constraint === undefined || e.constraint === constraint;
  }
  return false;
}

/**
 * Whether the database has refused a write because the organization is being moved to another cell (domain/organization/cells/guard.ts).
 */
export const isMovingError = (error: unknown): boolean => [...unwrap(error)].some(({ code }) => code === 'XM001');

export interface RetryOptions {
  /** Maximum total time of all attempts and delays. */
  budgetMs: number;
  sleep?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Runs the unit of work, and runs it again if its error shows that nothing was applied, until the time is used up. The delays are random,
 * so that waiting callers do not all repeat at once.
 */
export async function retrying<T>(work: () => Promise<T>, { budgetMs, sleep = wait }: RetryOptions): Promise<T> {
  let spent = 0;
  for (;;) {
    const begun = performance.now();
    try {
      return await work();
    } catch (error) {
      const pause = 50 + Math.random() * 450;
      spent += performance.now() - begun + pause;
      if (databaseErrorKind(error) !== 'retry' || spent > budgetMs) throw error;
      await sleep(pause);
    }
  }
}
