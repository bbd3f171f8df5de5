// Upgrades a database that release 0.1.0 has written (docs/upgrade.md). The database was dumped by pg_dump after missions of the demo
// (fixtures/release-0.1.0.sql). The tests apply all later migrations, and then compare the rows with the dumped rows, and the responses to GET
// requests with the responses of release 0.1.0.
import { readFileSync } from 'node:fs';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate, migrationStatus } from '#foundation/postgres/migrations.ts';
import { emptyDatabase, type FreshDatabase } from './support/database.ts';
import { databaseUrl } from './support/processes.ts';
import { openWorld, type World } from './support/world.ts';

const fixture = (ending: string) =>
  readFileSync(new URL(`./fixtures/release-0.1.0.${ending}`, import.meta.url), 'utf8');
/** The token of the demo's owner, and responses by path. */
const { token, answers } = JSON.parse(fixture('json'));
const recordedAt = Date.UTC(2026, 10, 26, 16, 41);

type Row = Record<string, unknown>;
let old: FreshDatabase;
let knex: Knex;
const before = new Map<string, Row[]>();

const rowsOf = async (table: string): Promise<Row[]> =>
  (await knex.raw(`select to_jsonb(t) as row from ${table} t`)).rows.map(({ row }: { row: Row }) => row);

beforeAll(async () => {
  old = await emptyDatabase();
  knex = knexFactory({ client: 'pg', connection: old.connection });
  // Strings in the dump contain question marks, which knex would replace because it takes them for placeholders.
  const client = new pg.Client(old.connection);
  await client.connect();
  await client.query(fixture('sql')).finally(() => client.end());
  const { rows } = await knex.raw(`select oid::regclass::text as name from pg_class where relkind in ('r', 'p')
    and relnamespace = 'public'::regnamespace and not relispartition and relname not like 'knex_%'`);
  for (const { name } of rows) before.set(name, await rowsOf(name));
  await migrate(knex);
});
afterAll(async () => {
  await knex.destroy();
  await old.drop();
});

/**
 * Compares a row of the old database with the most similar current row. Returns the columns whose values differ; null if no value differs.
 */
function lossOf(row: Row, present: readonly Row[]): Row | null {
  const differing = present.map((other) =>
    Object.entries(row).filter(([name, value]) => JSON.stringify(other[name]) !== JSON.stringify(value)),
  );
  const least = differing.sort((a, b) => a.length - b.length)[0] ?? Object.entries(row);
  return least.length === 0 ? null : Object.fromEntries(least);
}

it('every row of 0.1.0 is in the database of this release, in the same columns', async () => {
  expect((await migrationStatus(knex)).pending).toEqual([]);
  expect([...before.values()].flat().length).toBeGreaterThan(35);
  const lost: Record<string, unknown> = {};
  for (const [table, rows] of before) {
    const present = await rowsOf(table);
    const losses = rows.flatMap((row) => lossOf(row, present) ?? []);
    if (losses.length > 0) lost[table] = losses;
  }
  expect(lost).toEqual({});
});

it('200 · a token of 0.1.0 gets the same answers from this release as from 0.1.0, and starts a scheduled task of 0.1.0', async () => {
  const world: World = await openWorld({ database: databaseUrl(old.connection) });
  try {
    world.clock.turn(recordedAt - Date.UTC(2026, 10, 23, 9));
    for (const [path, answer] of Object.entries(answers)) {
      const { status, body } = await world.request('GET', `/v1${path}`, { token });
      expect.soft([path, status, body]).toEqual([path, 200, expect.objectContaining(answer as object)]);
    }
    const task = Object.keys(answers).find((path) => path.startsWith('/scheduled-tasks/'))!;
    const started = await world.request('POST', `/v1${task}/run`, { token });
    expect([started.status, started.body]).toEqual([200, expect.objectContaining({ ok: true, status: 'dispatching' })]);
  } finally {
    await world.close();
  }
});
