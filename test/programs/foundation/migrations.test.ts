// Migrations on a real server: the service's files up, down and up again, and sample files for every failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import { migrate, migrationStatus, rollback } from '#foundation/postgres/migrations.ts';
import { emptyDatabase, type FreshDatabase } from '../../support/database.ts';
import { programArguments } from '../../support/processes.ts';

const silent = { warn() {}, error() {}, debug() {}, deprecate() {} };
const first = '20260101_01_boats.sql';
const second = '20260102_01_sails.sql';
const third = '20260103_01_crew.sql';
const samples: Record<string, string> = {
  [first]: `-- Boats, and a name that a question mark is part of.
-- up
create table boats (boat_id integer primary key, log jsonb not null default '{"a": 1}');
insert into boats (boat_id) values (1);
create view asked as select boat_id, log ? 'a' as known, 'why\\?' as reason from boats;
-- down
drop view asked;
drop table boats;
`,
  [second]:
    '-- Sails belong to a boat.\n-- up\ncreate table sails (boat_id integer references boats);\n-- down\ndrop table sails;\n',
};

let fresh: FreshDatabase;
let knex: Knex;
let folder: string;

beforeEach(async () => {
  fresh = await emptyDatabase();
  knex = knexFactory({ client: 'pg', connection: fresh.connection, log: silent, ...knexSnakeCaseMappers() });
  folder = mkdtempSync(path.join(tmpdir(), 'migrations-'));
  for (const [name, text] of Object.entries(samples)) writeFileSync(path.join(folder, name), text);
});

afterEach(async () => {
  await knex.destroy();
  await fresh.drop();
  rmSync(folder, { recursive: true });
});

/** All parts of a schema as lines of text. */
async function catalog(): Promise<string[]> {
  const { rows } = await knex.raw(`
    select concat_ws(' ', table_name, column_name, data_type, column_default, is_nullable, collation_name) as line
      from information_schema.columns where table_schema = 'public'
    union select indexdef from pg_indexes where schemaname = 'public'
    union select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
    union select tgrelid::regclass || ' ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union select p.oid::regprocedure || ' ' || prosrc from pg_proc p where pronamespace = 'public'::regnamespace
    union select viewname || ' ' || definition from pg_views where schemaname = 'public'
    order by 1`);
  return rows.map((row: { line: string }) => row.line);
}

/** Starts support/migrating-process.js, which applies the migrations in `folder`. */
function startMigrating() {
  const args = [...programArguments('test/migrating-process'), JSON.stringify(fresh.connection), folder];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

it('the migrations of the service go up, all the way down to nothing, and up again to the same catalog', async () => {
  const names = await migrate(knex);
  const full = await catalog();
  expect(await migrationStatus(knex)).toEqual({ applied: names, pending: [] });
  expect(await rollback(knex, { all: true })).toEqual(names.toReversed());
  const left = await catalog();
  expect(left.filter((line) => !line.includes('knex_migrations'))).toEqual([]);
  expect(await migrate(knex)).toEqual(names);
  expect(await catalog()).toEqual(full);
});

it('the migrations of the service are applied once when four processes start at the same time on an empty database', async () => {
  for (const [name, text] of Object.entries(beside)) writeFileSync(path.join(folder, name), text);
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = startMigrating();
      let output = '';
      child.stdout.on('data', (part) => (output += part));
      await once(child, 'close');
      return JSON.parse(output) as string[];
    }),
  );
  expect(answers.flat().toSorted()).toEqual([first, second, ...Object.keys(beside)]);
});

/** Further migrations, next to the samples: they add a column, fill it in batches of two rows, and build its index. */
const beside: Record<string, string> = {
  '20260103_01_names.sql': `-- Names.
-- up
insert into boats (boat_id) select generate_series(2, 5);
alter table boats add column name text;
-- down
alter table boats drop column name;
`,
  '20260103_02_names.batches.sql': `-- Boats that have no name get one.
-- up
with page as (select boat_id from boats where boat_id > coalesce(nullif($1, ''), '0')::integer order by boat_id limit 2),
  named as (update boats b set name = 'boat ' || b.boat_id from page where b.boat_id = page.boat_id and b.name is null)
select max(boat_id)::text as after from page
-- down
`,
  '20260103_03_names.concurrently.sql': `-- Boats are found by name; every boat has one.
-- up
create unique index concurrently if not exists boats_name on boats (name);
alter table boats add constraint boats_named check (name is not null) not valid;
alter table boats validate constraint boats_named;
-- down
alter table boats drop constraint boats_named;
drop index boats_name;
`,
};

describe('Files that run outside the transaction', () => {
  const names = [first, second, ...Object.keys(beside)];
  beforeEach(() => {
    for (const [name, text] of Object.entries(beside)) writeFileSync(path.join(folder, name), text);
  });
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  const valid = async () =>
    (await knex.raw("select indisvalid as v from pg_index where indexrelid = to_regclass('boats_name')")).rows;

  const building = async (): Promise<number[]> => {
    const { rows } = await knex.raw(
      `select pid from pg_stat_progress_create_index where relid = to_regclass('boats') and datname = current_database()`,
    );
    return rows.map(({ pid }: { pid: number }) => pid);
  };

  it('migration files that run outside the transaction run in the order of all files, use a transaction for each batch of rows, and are reverted together with the other files', async () => {
    expect(await migrate(knex, { folder })).toEqual(names);
    const { rows } = await knex.raw('select array_agg(boat_id order by boat_id) as ids from boats group by xmin::text');
    expect(rows.map(({ ids }: { ids: number[] }) => ids).toSorted()).toEqual([[1, 2], [3, 4], [5]]);
    expect(await valid()).toEqual([{ v: true }]);
    expect(await rollback(knex, { folder })).toEqual(names.toReversed());
    expect(await migrate(knex, { folder })).toEqual(names);
  });

  it('migration files that run outside the transaction keep completed batches when a later batch fails; the next call continues', async () => {
    await migrate(knex, { folder });
    write(
      '20260104_01_more.batches.sql',
      (beside['20260103_02_names.batches.sql'] ?? '').replace("'boat '", "'ship '"),
    );
    write('20260104_02_more.sql', '-- Crew.\n-- up\ncreate table crew ();\n-- down\ndrop table crew;\n');
    await knex.raw(
      'alter table boats drop constraint boats_named; update boats set name = null where boat_id in (1, 3)',
    );
    await knex.raw("alter table boats add constraint no_third check (name <> 'ship 3')");
    await expect(migrate(knex, { folder })).rejects.toThrow(
      '20260104_01_more.batches.sql: new row for relation "boats"',
    );
    expect(await knex('boats').whereIn('boatId', [1, 3]).orderBy('boatId').pluck('name')).toEqual(['ship 1', null]);
    expect((await migrationStatus(knex, folder)).pending).toEqual([
      '20260104_01_more.batches.sql',
      '20260104_02_more.sql',
    ]);
    await knex.raw('alter table boats drop constraint no_third');
    expect(await migrate(knex, { folder })).toEqual(['20260104_01_more.batches.sql', '20260104_02_more.sql']);
    expect(await knex('boats').where({ boatId: 3 }).pluck('name')).toEqual(['ship 3']);
  });

  it('migration files that run outside the transaction replace the invalid index that a failure leaves behind', async () => {
    unlinkSync(path.join(folder, '20260103_02_names.batches.sql'));
    write('20260103_02_names.sql', "-- One name.\n-- up\nupdate boats set name = 'same';\n-- down\n");
    await expect(migrate(knex, { folder })).rejects.toThrow(
      '20260103_03_names.concurrently.sql: could not create unique index',
    );
    expect(await valid()).toEqual([{ v: false }]);
    await knex.raw('update boats set name = boat_id');
    expect(await migrate(knex, { folder })).toEqual(['20260103_03_names.concurrently.sql']);
    expect(await valid()).toEqual([{ v: true }]);
  });

  it('migration files that run outside the transaction are completed by the next call of `migrate` after a process was killed while it changed a batch of rows or created an index', {
    timeout: 120_000,
  }, async () => {
    const holder = await knex.transaction();
    const kill = async (when: () => Promise<boolean>) => {
      const child = startMigrating();
      await vi.waitUntil(when);
      child.kill('SIGKILL');
      await once(child, 'close');
    };
    // A row of the second batch is locked, so only the first batch is kept.
    unlinkSync(path.join(folder, '20260103_03_names.concurrently.sql'));
    unlinkSync(path.join(folder, '20260103_02_names.batches.sql'));
    await migrate(knex, { folder });
    await holder.raw('select from boats where boat_id = 4 for update');
    write('20260103_02_names.batches.sql', beside['20260103_02_names.batches.sql'] ?? '');
    await kill(async () => (await knex('boats').whereNotNull('name')).length === 2);
    await holder.commit();
    expect(await migrate(knex, { folder })).toEqual(['20260103_02_names.batches.sql']);
    expect(await knex('boats').whereNull('name')).toEqual([]);

    // Creating the index concurrently waits for open transactions that have written to the table.
    const writer = await knex.transaction();
    await writer.raw('update boats set log = log');
    write('20260103_03_names.concurrently.sql', beside['20260103_03_names.concurrently.sql'] ?? '');
    await kill(async () => (await valid()).length === 1);
    expect(await valid()).toEqual([{ v: false }]);
    const [left] = await building();
    const next = migrate(knex, { folder });
    // `migrate` ends the statement that the killed process has left running. Otherwise the old statement and the new transaction would wait for each
    // other.
    await vi.waitUntil(async () => !(await building()).includes(left!));
    await writer.commit();
    expect(await next).toEqual(['20260103_03_names.concurrently.sql']);
    expect(await valid()).toEqual([{ v: true }]);
  });

  it.each([
    [
      'an index that a kill leaves invalid',
      'x.concurrently',
      'create index concurrently i on boats (name);',
      'if not exists',
    ],
    [
      'an index that locks the table',
      'x.concurrently',
      'create unique index i on boats (name);',
      'line 3: write "create index',
    ],
    ['batches without an end', 'x.batches', 'select $1::text as last', 'must return one row with a column "after"'],
  ])(
    'migration files that run outside the transaction are refused when they contain %s',
    async (_fault, ending, statement, words) => {
      write(`20260104_01_${ending}.sql`, `-- Wrong.\n-- up\n${statement}\n-- down\n`);
      await expect(migrate(knex, { folder })).rejects.toThrow(words);
    },
  );
});

it('`migrate` sends SQL unchanged, including question marks', async () => {
  expect(await migrate(knex, { folder })).toEqual([first, second]);
  expect(await knex('asked').select()).toEqual([{ boatId: 1, known: true, reason: 'why\\?' }]);
});

it('`migrate` leaves knex’s mapping of names unchanged', async () => {
  await migrate(knex, { folder });
  await rollback(knex, { folder });
  await migrate(knex, { folder });
  expect(await knex('boats').where({ boatId: 1 }).select('boatId')).toEqual([{ boatId: 1 }]);
});

it('`migrate` applies all pending files as one batch, and rollback reverts the last batch only', async () => {
  await migrate(knex, { folder });
  writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\n-- down\ndrop table crew;\n');
  expect(await migrationStatus(knex, folder)).toEqual({ applied: [first, second], pending: [third] });
  expect(await migrate(knex, { folder })).toEqual([third]);
  expect(await rollback(knex, { folder })).toEqual([third]);
  expect(await rollback(knex, { folder })).toEqual([second, first]);
  expect(await rollback(knex, { folder })).toEqual([]);
});

it('`migrate` applies nothing when one file fails, and names the file and the line', async () => {
  writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\nselect nonsense;\n-- down\n');
  const failure = await migrate(knex, { folder }).catch((error: Error) => error);
  expect(String(failure)).toBe(`Error: migration ${third}, line 4: column "nonsense" does not exist`);
  expect(databaseErrorKind(failure)).toBe('final');
  expect(await catalog()).toEqual([]);
  expect(await migrationStatus(knex, folder)).toEqual({ applied: [], pending: [first, second, third] });
});

it('`migrate` runs even if a killed process left knex’s lock behind', async () => {
  await migrate(knex, { folder });
  await knex('knex_migrations_lock').update({ isLocked: 1 });
  writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\n-- down\ndrop table crew;\n');
  expect(await migrate(knex, { folder })).toEqual([third]);
});

it('`migrate` refuses a file that was changed after it was applied', async () => {
  await migrate(knex, { folder });
  writeFileSync(path.join(folder, first), samples[first]?.replace('Boats', 'Ships') ?? '');
  await expect(migrate(knex, { folder })).rejects.toThrow(`migration ${first} was changed after it was applied`);
  await expect(rollback(knex, { folder })).rejects.toThrow('was changed');
});

it('`migrate` ignores differences in line endings', async () => {
  await migrate(knex, { folder });
  writeFileSync(path.join(folder, first), samples[first]?.replaceAll('\n', '\r\n') ?? '');
  expect(await migrate(knex, { folder })).toEqual([]);
});

it('`migrate` refuses to run when a file that was applied is missing', async () => {
  await migrate(knex, { folder });
  unlinkSync(path.join(folder, first));
  await expect(migrate(knex, { folder })).rejects.toThrow(
    `migration ${first} was applied to this database but is not in`,
  );
});

it('`migrate` warns that the database belongs to a later release, and neither migrates it nor rolls it back', async () => {
  await migrate(knex, { folder });
  unlinkSync(path.join(folder, second));
  const warnings: string[] = [];
  expect(await migrate(knex, { folder, warn: (line) => warnings.push(line) })).toEqual([]);
  expect(warnings).toEqual([`the database is newer than this program (${second}): nothing is migrated`]);
  await expect(rollback(knex, { folder })).rejects.toThrow(`migration ${second} was applied to this database`);
  // A program with a migration that the database lacks is not an earlier release, so `migrate` fails instead of warning.
  writeFileSync(path.join(folder, '20260101_99_other.sql'), samples[first] ?? '');
  await expect(migrate(knex, { folder })).rejects.toThrow('the database is newer than this program');
});

it.each([
  [
    'a name that does not sort by age',
    'boats.sql',
    samples[first] ?? '',
    'its name must be <yyyymmdd>_<nn>_<words>.sql',
  ],
  ['no reason', third, '-- up\n-- down\n', 'it must have a line "-- why"'],
  ['SQL before the first mark', third, 'select 1;\n-- up\n-- down\n', 'it must have a line "-- why"'],
  ['the marks in the wrong order', third, '-- Crew.\n-- down\n-- up\n', 'then one line "-- up"'],
  ['a mark twice', third, '-- Crew.\n-- up\n-- up\n-- down\n', 'then one line "-- up"'],
  ['no part that reverts it', third, '-- Crew.\n-- up\n', 'then one line "-- down"'],
])('`migrate` refuses a file with %s before anything runs', async (_fault, name, text, words) => {
  writeFileSync(path.join(folder, name), text);
  await expect(migrate(knex, { folder })).rejects.toThrow(words);
  expect(await catalog()).toEqual([]);
});
