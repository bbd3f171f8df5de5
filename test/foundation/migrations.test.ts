// Migrations against a real server: our own files up, down and up again; sample files for everything that can go wrong.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databaseErrorKind } from '#foundation/database-errors.ts';
import { migrate, migrationStatus, rollback } from '#foundation/migrations.ts';
import { emptyDatabase, type FreshDatabase } from '../support/database.ts';
import { projectFolder } from '../support/processes.ts';

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

/** All that a schema consists of, as lines of text. */
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

describe('Our own migrations', () => {
  it('Go up, all the way down to nothing, and up again to the same catalog', async () => {
    const names = await migrate(knex);
    const full = await catalog();
    expect(await migrationStatus(knex)).toEqual({ applied: names, pending: [] });
    expect(await rollback(knex, { all: true })).toEqual(names.toReversed());
    const left = await catalog();
    expect(left.filter((line) => !line.includes('knex_migrations'))).toEqual([]);
    expect(await migrate(knex)).toEqual(names);
    expect(await catalog()).toEqual(full);
  });

  it('Are applied once when four processes start at the same time on an empty database', async () => {
    const script = `
      import knexFactory from 'knex';
      import { migrate } from '#foundation/migrations.ts';
      const knex = knexFactory({ client: 'pg', connection: JSON.parse(process.argv[1]) });
      process.stdout.write(JSON.stringify(await migrate(knex, process.argv[2])));
      await knex.destroy();`;
    const flags = ['--input-type=module', '--eval', script];
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, [...flags, JSON.stringify(fresh.connection), folder], {
          cwd: projectFolder,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let output = '';
        child.stdout.on('data', (part) => (output += part));
        await once(child, 'close');
        return JSON.parse(output);
      }),
    );
    expect(answers.toSorted((a, b) => b.length - a.length)).toEqual([[first, second], [], [], []]);
  });
});

describe('migrate', () => {
  it('Sends SQL as it is written, question marks and all', async () => {
    expect(await migrate(knex, folder)).toEqual([first, second]);
    expect(await knex('asked').select()).toEqual([{ boatId: 1, known: true, reason: 'why\\?' }]);
  });

  it('Leaves the mapping of names as it was', async () => {
    await migrate(knex, folder);
    await rollback(knex, { folder });
    await migrate(knex, folder);
    expect(await knex('boats').where({ boatId: 1 }).select('boatId')).toEqual([{ boatId: 1 }]);
  });

  it('Puts what is applied together into one batch, and rollback takes back the last batch only', async () => {
    await migrate(knex, folder);
    writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\n-- down\ndrop table crew;\n');
    expect(await migrationStatus(knex, folder)).toEqual({ applied: [first, second], pending: [third] });
    expect(await migrate(knex, folder)).toEqual([third]);
    expect(await rollback(knex, { folder })).toEqual([third]);
    expect(await rollback(knex, { folder })).toEqual([second, first]);
    expect(await rollback(knex, { folder })).toEqual([]);
  });

  it('Applies nothing when one file fails, and names the file and the line', async () => {
    writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\nselect nonsense;\n-- down\n');
    const failure = await migrate(knex, folder).catch((error: Error) => error);
    expect(String(failure)).toBe(`Error: migration ${third}, line 4: column "nonsense" does not exist`);
    expect(databaseErrorKind(failure)).toBe('final');
    expect(await catalog()).toEqual([]);
    expect(await migrationStatus(knex, folder)).toEqual({ applied: [], pending: [first, second, third] });
  });

  it('Goes on where a killed process left the lock of knex behind', async () => {
    await migrate(knex, folder);
    await knex('knex_migrations_lock').update({ isLocked: 1 });
    writeFileSync(path.join(folder, third), '-- Crew.\n-- up\ncreate table crew ();\n-- down\ndrop table crew;\n');
    expect(await migrate(knex, folder)).toEqual([third]);
  });

  it('Refuses a file that was changed after it was applied', async () => {
    await migrate(knex, folder);
    writeFileSync(path.join(folder, first), samples[first]?.replace('Boats', 'Ships') ?? '');
    await expect(migrate(knex, folder)).rejects.toThrow(`migration ${first} was changed after it was applied`);
    await expect(rollback(knex, { folder })).rejects.toThrow('was changed');
  });

  it('Takes other line ends for no change', async () => {
    await migrate(knex, folder);
    writeFileSync(path.join(folder, first), samples[first]?.replaceAll('\n', '\r\n') ?? '');
    expect(await migrate(knex, folder)).toEqual([]);
  });

  it('Refuses when a file that was applied is gone', async () => {
    await migrate(knex, folder);
    unlinkSync(path.join(folder, second));
    await expect(migrate(knex, folder)).rejects.toThrow(
      `migration ${second} was applied to this database but is not in`,
    );
  });

  it.each([
    ['a name that does not sort by age', 'boats.sql', samples[first] ?? '', 'call it <yyyymmdd>_<nn>_<words>.sql'],
    ['no reason', third, '-- up\n-- down\n', 'first a line "-- why"'],
    ['SQL before the first mark', third, 'select 1;\n-- up\n-- down\n', 'first a line "-- why"'],
    ['the marks in the wrong order', third, '-- Crew.\n-- down\n-- up\n', 'then one line "-- up"'],
    ['a mark twice', third, '-- Crew.\n-- up\n-- up\n-- down\n', 'then one line "-- up"'],
    ['no way back', third, '-- Crew.\n-- up\n', 'then one line "-- down"'],
  ])('Refuses a file with %s before anything runs', async (_fault, name, text, words) => {
    writeFileSync(path.join(folder, name), text);
    await expect(migrate(knex, folder)).rejects.toThrow(words);
    expect(await catalog()).toEqual([]);
  });
});
