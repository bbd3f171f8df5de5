// Migrations: SQL files in `migrations/`, each with `-- why`, `-- up` and `-- down`, run by knex's migrator. A file is never edited
// after it was applied: its digest is stored and compared.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';
import { minutes } from './clock.ts';
import { retrying } from './database-errors.ts';

/** Two levels up from here, whether this runs from `src/foundation` or `dist/foundation`. */
const ownFolder = fileURLToPath(new URL('../../migrations/', import.meta.url));
const fileName = /^\d{8}_\d{2}_[a-z0-9_-]+\.sql$/;
/** The advisory lock of migrations: an arbitrary constant, the same in all processes. */
const lockKey = 4_716_201_126;
/** Longer than any migration. The pool's `query_timeout` is meant for requests, and 0 would mean the pool's. */
const unhurried = 2_147_483_647;

interface MigrationFile {
  name: string;
  text: string;
  digest: string;
}

interface Applied {
  name: string;
  digest: string | null;
}

interface Connection {
  query(config: { text: string; query_timeout: number }): Promise<{ rows: unknown[] }>;
}

/**
 * Applies the pending migrations, all or none, and returns their names. Any number of processes may do so at once: one works,
 * the others wait and find none pending.
 */
export function migrate(knex: Knex, folder = ownFolder): Promise<string[]> {
  return underLock(knex, folder, async (trx, config, files) => {
    const [, names]: [number, string[]] = await trx.migrate.latest(config);
    await trx.raw('alter table knex_migrations add column if not exists digest text');
    for (const { name, digest } of files.filter((file) => names.includes(file.name))) {
      await trx.raw('update knex_migrations set digest = ? where name = ?', [digest, name]);
    }
    return names;
  });
}

/** Reverts the last batch, or everything; returns the names in the order of reverting. */
export function rollback(knex: Knex, { all = false, folder = ownFolder } = {}): Promise<string[]> {
  return underLock(knex, folder, async (trx, config) => {
    const [, names]: [number, string[]] = await trx.migrate.rollback(config, all);
    return names;
  });
}

/** The applied and the pending migrations. Changes nothing and takes no lock. */
export async function migrationStatus(
  knex: Knex,
  folder = ownFolder,
): Promise<{ applied: string[]; pending: string[] }> {
  const files = await readMigrations(folder);
  const applied = (await readApplied(knex)).map((row) => row.name);
  return { applied, pending: files.map((file) => file.name).filter((name) => !applied.includes(name)) };
}

type Work = (trx: Knex.Transaction, config: Knex.MigratorConfig, files: MigrationFile[]) => Promise<string[]>;

async function underLock(knex: Knex, folder: string, work: Work): Promise<string[]> {
  const files = await readMigrations(folder);
  const attempt = async (trx: Knex.Transaction) => {
    await send(trx, `set local statement_timeout = 0; select pg_advisory_xact_lock(${lockKey})`);
    // The service runs meanwhile: all requests would queue behind a lock that waits for one slow transaction.
    await send(trx, `set local lock_timeout = '2s'`);
    compare(await readApplied(trx), files, folder);
    const config = { migrationSource: sourceOf(files) };
    // knex's own lock is a row that a killed process leaves locked; under our lock it is ignored.
    await trx.migrate.forceFreeMigrationsLock(config);
    return work(trx, config, files);
  };
  // A lock timeout, or a deadlock with a request: nothing was applied, so the whole batch runs again.
  return retrying(() => unmapped(knex).transaction(attempt), { budgetMs: minutes(1) });
}

/**
 * The same pool without the mapping of names: knex's migrator turns the mapping off for all queries of its instance, and never
 * on again.
 */
function unmapped(knex: Knex): Knex {
  const view = knex.withUserParams({});
  Object.assign(view.client.config, { wrapIdentifier: undefined, postProcessResponse: undefined });
  return view;
}

const sourceOf = (files: MigrationFile[]): Knex.MigrationSource<MigrationFile> => ({
  getMigrations: async () => files,
  getMigrationName: (file) => file.name,
  getMigration: async (file) => ({
    up: (knex) => run(knex, file, 'up'),
    down: (knex) => run(knex, file, 'down'),
  }),
});

async function run(knex: Knex, file: MigrationFile, direction: 'up' | 'down'): Promise<void> {
  const { sql, line } = parts(file)[direction];
  try {
    await send(knex, sql);
  } catch (error) {
    const { message, position } = error as Error & { position?: string };
    const at = position ? `, line ${line + sql.slice(0, Number(position) - 1).split('\n').length - 1}` : '';
    throw new Error(`migration ${file.name}${at}: ${message}`, { cause: error });
  }
}

/** Sends SQL unchanged: knex.raw would treat every `?` as a binding. */
async function send(knex: Knex, text: string): Promise<void> {
  const connection: Connection = await knex.client.acquireConnection();
  try {
    await connection.query({ text, query_timeout: unhurried });
  } finally {
    await knex.client.releaseConnection(connection);
  }
}

async function readApplied(knex: Knex): Promise<Applied[]> {
  const table = await knex.raw("select to_regclass('knex_migrations') is not null as made");
  if (!table.rows[0].made) return [];
  // Through jsonb, because a table that knex created by itself has no digest column.
  const applied = await knex.raw("select name, to_jsonb(m) ->> 'digest' as digest from knex_migrations m order by id");
  return applied.rows;
}

function compare(applied: Applied[], files: MigrationFile[], folder: string): void {
  for (const { name, digest } of applied) {
    const file = files.find((candidate) => candidate.name === name);
    if (!file) {
      throw new Error(
        `migration ${name} was applied to this database but is not in ${folder}: the database is newer than this program, or the file was removed`,
      );
    }
    if (digest && digest !== file.digest) {
      throw new Error(
        `migration ${name} was changed after it was applied: put the file back as it was and write the change as a new migration`,
      );
    }
  }
}

async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      // Different line ends, as on Windows, are not a change.
      const text = (await readFile(path.join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      const file = { name, text, digest: createHash('sha256').update(text).digest('hex') };
      parts(file);
      return file;
    }),
  );
}

/** Both halves with their first line. A file in another format is rejected before anything runs. */
function parts({ name, text }: MigrationFile) {
  const lines = text.split('\n');
  const places = (mark: string) => lines.flatMap((line, i) => (line.trim() === mark ? [i] : []));
  const [[up = -1, ...moreUp], [down = -1, ...moreDown]] = [places('-- up'), places('-- down')];
  if (!fileName.test(name))
    throw new Error(`migration ${name}: call it <yyyymmdd>_<nn>_<words>.sql, so that names sort by age`);
  if (!/^-- \S/.test(lines[0] ?? '') || up < 1 || down < up || moreUp.length + moreDown.length > 0) {
    throw new Error(`migration ${name}: first a line "-- why", then one line "-- up", then one line "-- down"`);
  }
  return {
    up: { sql: lines.slice(up + 1, down).join('\n'), line: up + 2 },
    down: { sql: lines.slice(down + 1).join('\n'), line: down + 2 },
  };
}
