// One database server for the whole test run, with a migrated template that every test file copies (support/database.ts).
// TEST_DATABASE_URL names a server to use instead of an embedded one. Vitest resolves no `#…` imports for this file.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { buildConsole } from '../../scripts/console-build.ts';
import { openDatabase } from '../../src/foundation/postgres/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '../../src/foundation/postgres/embedded/database.ts';
import { migrate } from '../../src/foundation/postgres/migrations.ts';

export interface TestServer {
  connection: DatabaseConnection;
  /** Prefix of every database name of this run. */
  prefix: string;
  template: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: TestServer;
  }
}

/** Settings for disposable data: no waiting for the disk. */
export const careless = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  max_wal_size: '1GB',
  max_connections: 200,
  // Parallel workers are off, because they would cost more than they save for statements over many small tables.
  max_parallel_workers_per_gather: 0,
  // A statement is planned only once per connection: by default, PostgreSQL would plan its first five executions separately.
  plan_cache_mode: 'force_generic_plan',
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [server] = await Promise.all([openServer(), buildConsole()]);
  const prefix = `test_${process.pid}_${randomBytes(3).toString('hex')}_`;
  const template = `${prefix}template`;
  // The workers load their modules meanwhile; a test file that needs the template waits for it.
  const migrated = createTemplate(server.connection, template).catch((error) => {
    console.error(error);
    process.exit(1);
  });
  project.provide('testServer', { connection: server.connection, prefix, template });
  return async () => {
    await migrated;
    await asAdmin(server.connection, `alter database ${template} with is_template false`);
    const left = await asAdmin(
      server.connection,
      `select datname from pg_database where starts_with(datname, '${prefix}')`,
    );
    for (const { datname } of left) await asAdmin(server.connection, `drop database ${datname} with (force)`);
    await server.close();
  };
}

/** Creates the template under another name, and renames it when its schema is complete. */
async function createTemplate(connection: DatabaseConnection, template: string): Promise<void> {
  const unfinished = `${template}_unfinished`;
  await asAdmin(connection, `create database ${unfinished}`);
  const knex = openDatabase({ connection: { ...connection, database: unfinished } });
  await migrate(knex);
  await knex.destroy();
  // The template database refuses all connections, because PostgreSQL cannot copy a database while somebody is connected to it.
  await asAdmin(connection, `alter database ${unfinished} with is_template true allow_connections false`);
  await asAdmin(connection, `alter database ${unfinished} rename to ${template}`);
}

async function openServer(): Promise<{ connection: DatabaseConnection; close: () => Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) {
    const { host, port, user = '', password = '', database = '' } = new pg.Client({ connectionString: url });
    return { connection: { host, port, user, password, database }, close: async () => {} };
  }
  const home = temporaryHome();
  const { connection, stop } = await startEmbeddedDatabase({ home, settings: careless });
  // One SCRAM iteration instead of the default of 4,096 saves time, because both the client and the server derive a key from the password
  // for each of the two thousand connections.
  await asAdmin(
    connection,
    `set scram_iterations = 1; alter role ${connection.user} password '${connection.password}'`,
  );
  const close = async () => {
    await stop();
    rmSync(home, { recursive: true });
  };
  return { connection, close };
}

export async function asAdmin(connection: DatabaseConnection, sql: string): Promise<{ datname?: string }[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A folder, in memory if there is room. Its name contains its owner, so that folders of killed runs are deleted. */
export function temporaryHome(): string {
  const shared = '/dev/shm';
  const room = existsSync(shared) ? statfsSync(shared) : { bavail: 0, bsize: 0 };
  const top = room.bavail * room.bsize > 1_000_000_000 ? shared : tmpdir();
  for (const name of readdirSync(top)) {
    const pid = /^aep-test-(\d+)-/.exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) removeOwn(path.join(top, name));
  }
  const home = mkdtempSync(path.join(top, `aep-test-${process.pid}-`));
  // The folder is accessible to all, because under root the server runs as another account.
  chmodSync(home, 0o755);
  return home;
}

/** The folder of a run of another user stays: only that user can remove it. */
function removeOwn(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
