// Migrations: SQL files in `migrations/`, recorded by knex's migrator. A file is never edited after it was applied: its digest is stored
// and compared. Statements that would lock a large table for a long time run outside of the transaction, and can be repeated.
import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import { minutes } from '../clock.ts';
import { retrying } from './database-errors.ts';
import {
  type Applied,
  compare,
  indexOf,
  type MigrationFile,
  missing,
  namesOfMigrations,
  newerThan,
  ownFolder,
  type Part,
  parts,
  readMigrations,
  statements,
} from './migration-files.ts';

/**
 * The advisory lock of migrations: an arbitrary constant, the same in all processes. It differs from the lock of release 0.1.0 (…126): that
 * release waits for its lock in a statement, and `create index concurrently` would wait for that statement.
 */
const lockKey = 4_716_201_127;
/** Interval between attempts to get the lock, milliseconds. */
const lockIntervalMs = 200;
/** A time limit longer than any migration. The pool's `query_timeout` is meant for requests, and a limit of 0 would select that timeout. */
const unhurried = 2_147_483_647;
/** Retries after a lock timeout, or a deadlock with a request: nothing was applied, so the migration is repeated as a whole. */
const retryFor = { budgetMs: minutes(1) };

interface Connection {
  query(config: { text: string; values?: unknown[]; query_timeout: number }): Promise<pg.QueryResult>;
}

/**
 * Applies the pending migrations and returns their names. Consecutive files that run in a transaction are applied together: either all of
 * them or none. Every other file is applied alone. After a failure or a kill, the next call continues where the last one ended. Any number
 * of processes may call this function at once: only one process applies each file, and all calls return when no file is pending. If the
 * database contains migrations of a later release, it is left unchanged, and a warning is logged: this release may still serve requests
 * while the next one already runs.
 */
export async function migrate(
  knex: Knex,
  { folder = ownFolder, warn = () => {} }: { folder?: string; warn?: (line: string) => void } = {},
): Promise<string[]> {
  const names: string[] = [];
  let batch: number | undefined;
  for (;;) {
    const applied = await underLock(knex, folder, async (trx, files, before) => {
      const newer = newerThan(files, before);
      if (newer.length > 0) {
        warn(`the database is newer than this program (${newer.at(-1)}): nothing is migrated`);
        return [];
      }
      const isApplied = ({ name }: MigrationFile) => before.some((row) => row.name === name);
      const stage = firstStage(files.filter((file) => !isApplied(file)));
      if (stage.length === 0) return [];
      const known = files.filter((file) => isApplied(file) || stage.includes(file));
      const [number]: [number, string[]] = await trx.migrate.latest({ migrationSource: sourceOf(known, knex) });
      batch ??= number;
      await trx.raw('alter table knex_migrations add column if not exists digest text');
      for (const { name, digest } of stage) {
        await trx.raw('update knex_migrations set digest = ?, batch = ? where name = ?', [digest, batch, name]);
      }
      return stage.map(({ name }) => name);
    });
    if (applied.length === 0) return names;
    names.push(...applied);
  }
}

/** The pending files to apply next: all files before the first one that must be applied alone, or only that file if it comes first. */
function firstStage(pending: MigrationFile[]): MigrationFile[] {
  const alone = pending.findIndex((file) => file.way);
  return alone === -1 ? pending : pending.slice(0, Math.max(alone, 1));
}

/** Reverts the last batch, or everything, in one transaction. Returns the names in the order of reverting. */
export function rollback(knex: Knex, { all = false, folder = ownFolder } = {}): Promise<string[]> {
  return underLock(knex, folder, async (trx, files, applied) => {
    const [unknown] = newerThan(files, applied);
    if (unknown) throw missing(unknown, folder);
    const [, names]: [number, string[]] = await trx.migrate.rollback({ migrationSource: sourceOf(files, knex) }, all);
    return names;
  });
}

/** The applied and the pending migrations. Changes nothing and needs no lock. */
export async function migrationStatus(
  knex: Knex,
  folder = ownFolder,
): Promise<{ applied: string[]; pending: string[] }> {
  const names = await namesOfMigrations(folder);
  const applied = (await readApplied(knex)).map((row) => row.name);
  return { applied, pending: names.filter((name) => !applied.includes(name)) };
}

type Work = (trx: Knex.Transaction, files: MigrationFile[], applied: Applied[]) => Promise<string[]>;

/** The lock belongs to a transaction, because a pooler in transaction mode has no sessions. */
async function underLock(knex: Knex, folder: string, work: Work): Promise<string[]> {
  const files = await readMigrations(folder);
  const attempt = async (trx: Knex.Transaction) => {
    await send(trx, 'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    const lock = await send(trx, `select pg_try_advisory_xact_lock(${lockKey}) as ours`);
    if (!lock.rows[0].ours) return null;
    await send(trx, limitWaiting);
    const applied = await readApplied(trx);
    compare(applied, files, folder);
    // knex's own lock is a row that a killed process leaves locked; this module's lock makes it redundant.
    await trx.migrate.forceFreeMigrationsLock({ migrationSource: sourceOf(files, knex) });
    return work(trx, files, applied);
  };
  for (;;) {
    const names = await retrying(() => unmapped(knex).transaction(attempt), retryFor);
    if (names) return names;
    await wait(lockIntervalMs);
  }
}

/**
 * The wait for locks is limited because the service runs during migrations: all requests would queue behind a lock that waits for one slow
 * transaction. The limit is shorter than the server's `deadlock_timeout`, so that the migration gives up first and no request fails.
 */
const limitWaiting = `set local lock_timeout = '500ms'`;

/**
 * A second instance of knex on the same pool, without the mapping of names: the migrator disables the mapping of the instance that it gets,
 * and never enables it again.
 */
function unmapped(knex: Knex): Knex {
  const view = knex.withUserParams({});
  Object.assign(view.client.config, { wrapIdentifier: undefined, postProcessResponse: undefined });
  return view;
}

const sourceOf = (files: MigrationFile[], knex: Knex): Knex.MigrationSource<MigrationFile> => ({
  getMigrations: async () => files,
  getMigrationName: (file) => file.name,
  getMigration: async (file) => ({
    up: (trx) => (file.way ? runBeside(knex, file) : run(trx, file, parts(file).up)),
    down: (trx) => run(trx, file, parts(file).down),
  }),
});

const run = (knex: Knex, file: MigrationFile, part: Part) => locating(file, part, () => send(knex, part.sql));

/** Runs a file on a separate connection. Meanwhile, the transaction holds the lock; it records the file when the file has run. */
async function runBeside(knex: Knex, file: MigrationFile): Promise<void> {
  // The connection is not from the pool, which may have only one.
  const connection: Connection = await knex.client.acquireRawConnection();
  const { up } = parts(file);
  try {
    if (file.way === 'batches') await runInBatches(connection, file, up);
    else for (const part of statements(up)) await runConcurrently(connection, file, part);
  } finally {
    await knex.client.destroyRawConnection(connection);
  }
}

/** Sends the statement with the last result as `$1`, each time in its own transaction, until it returns null. */
async function runInBatches(connection: Connection, file: MigrationFile, part: Part): Promise<void> {
  const batch = async (after: string): Promise<string | null> => {
    await sendOn(connection, `begin; set local statement_timeout = 0; ${limitWaiting}`);
    try {
      const { rows } = await locating(file, part, () => sendOn(connection, part.sql, [after]));
      if (rows[0]?.after === undefined)
        throw new Error(`migration ${file.name}: must return one row with a column "after"`);
      await sendOn(connection, 'commit');
      return rows[0].after;
    } catch (error) {
      await sendOn(connection, 'rollback').catch(() => {});
      throw error;
    }
  };
  let after: string | null = '';
  while (after !== null) {
    const last: string = after;
    after = await retrying(() => batch(last), retryFor);
  }
}

/**
 * Builds an index concurrently. No time limits are set, because nobody waits for the index. `set local`, which sets the limits of other
 * migrations, works only in a transaction, and PostgreSQL builds no index concurrently in a transaction.
 */
async function runConcurrently(connection: Connection, file: MigrationFile, part: Part): Promise<void> {
  const index = indexOf(file, part);
  // No other migration is running, because this process holds the lock. If the index is being built nevertheless, a program that was killed
  // has begun the build. This build is canceled, because the build and the transaction with the lock could wait for each other, a deadlock
  // that the server does not detect.
  const canceling =
    'select pg_cancel_backend(pid) from pg_stat_progress_create_index where index_relid = to_regclass($1)';
  const leftBehind = 'select from pg_index where indexrelid = to_regclass($1) and not indisvalid';
  for (;;) {
    if (index) await sendOn(connection, canceling, [index]);
    await locating(file, part, () => sendOn(connection, part.sql));
    // If a process was killed while it built the index, an invalid index remains. The database may have continued that build until it was
    // canceled here.
    if (!index || (await sendOn(connection, leftBehind, [index])).rowCount === 0) return;
    await sendOn(connection, `drop index concurrently ${index}`);
  }
}

/** Adds the file and the line to an error. */
async function locating<T>(file: MigrationFile, { sql, line }: Part, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message, position } = error as Error & { position?: string };
    const at = position ? `, line ${line + sql.slice(0, Number(position) - 1).split('\n').length - 1}` : '';
    throw new Error(`migration ${file.name}${at}: ${message}`, { cause: error });
  }
}

/** Sends SQL unchanged: knex.raw would treat every `?` as a binding. */
async function send(knex: Knex, text: string): Promise<pg.QueryResult> {
  const connection: Connection = await knex.client.acquireConnection();
  try {
    return await sendOn(connection, text);
  } finally {
    await knex.client.releaseConnection(connection);
  }
}

const sendOn = (connection: Connection, text: string, values?: unknown[]) =>
  connection.query({ text, ...(values && { values }), query_timeout: unhurried });

async function readApplied(knex: Knex): Promise<Applied[]> {
  const table = await knex.raw("select to_regclass('knex_migrations') is not null as exists");
  if (!table.rows[0].exists) return [];
  // If knex has created the table, it has no column `digest`. Reading it through `to_jsonb` then results in null.
  const applied = await knex.raw("select name, to_jsonb(m) ->> 'digest' as digest from knex_migrations m order by id");
  return applied.rows;
}
