// Moving a database to another PostgreSQL server, of which nothing but the URL is known.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import knexFactory from 'knex';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DatabaseConnection,
  type EmbeddedDatabase,
  startEmbeddedDatabase,
} from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { moveDatabase } from '#foundation/postgres/move.ts';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { asAdmin, careless, temporaryHome } from '../../support/global-setup.ts';

const home = temporaryHome();
const folder = path.join(home, 'migrations');
let there: EmbeddedDatabase;
let source: FreshDatabase;

const urlOf = ({ user, password, host, port, database }: DatabaseConnection) =>
  `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

/** An empty database on the other server, as its URL. */
async function newTarget(name: string): Promise<string> {
  await asAdmin(there.connection, `create database ${name}`);
  return urlOf({ ...there.connection, database: name });
}

async function query(where: string | DatabaseConnection, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(where);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function migrated(connection: DatabaseConnection, migrations?: string): Promise<void> {
  const knex = knexFactory({ client: 'pg', connection, pool: { min: 0, max: 1 } });
  await migrate(knex, { folder: migrations });
  await knex.destroy();
}

beforeAll(async () => {
  mkdirSync(folder);
  // A table may come before a table to which it refers when they are sorted by name, so a copy in the order of names would fail.
  writeFileSync(
    path.join(folder, '20260101_01_fleet.sql'),
    `-- All that makes a copy difficult.
-- up
create table zones (id text primary key, name text not null);
create table boats (
  id integer generated always as identity primary key,
  zone_id text not null references zones,
  "towed by" integer references boats,
  length_m numeric not null, length_ft numeric generated always as (length_m * 3.28084) stored,
  log jsonb, picture bytea, tags text[], noted timestamptz(3)
);
create table captains (id text primary key, deputy_id text not null);
create table deputies (id text primary key, captain_id text not null references captains deferrable);
alter table captains add foreign key (deputy_id) references deputies deferrable;
create table audits (at bigint, what text) partition by range (at);
create table audits_early partition of audits for values from (0) to (100);
create table audits_rest partition of audits default;
create sequence tickets;
create table harbour (open boolean not null);
insert into harbour values (false);
create function forbid() returns trigger language plpgsql as $$ begin raise exception 'append only'; end $$;
create function count_up() returns trigger language plpgsql as $$ begin perform nextval('tickets'); return new; end $$;
create trigger no_update before update or delete or truncate on zones execute function forbid();
create trigger counting after insert on zones for each row execute function count_up();
-- down
drop table zones, boats, captains, deputies, audits, harbour cascade;
drop function forbid, count_up;
drop sequence tickets;
`,
  );
  there = await startEmbeddedDatabase({ home: path.join(home, 'there'), settings: careless });
  source = await emptyDatabase();
  await migrated(source.connection, folder);
  await query(
    source.connection,
    `insert into zones select 'z' || n, E'tab\\t line\\n back\\\\slash ünï ' || n from generate_series(1, 1000) n;
     insert into boats (zone_id, "towed by", length_m, log, picture, tags, noted)
       values ('z2', 2, 12.5, '{"a": [1, null]}', '\\x00ff', array['x,y', null], '2026-11-21 01:02:03.456+00'), ('z1', null, 3, null, null, null, null);
     begin; set constraints all deferred; insert into captains values ('c', 'd'); insert into deputies values ('d', 'c'); commit;
     insert into audits select n, 'n' || n from generate_series(1, 300) n;
     update harbour set open = true`,
  );
});

afterAll(async () => {
  await source.drop();
  await there.stop();
  rmSync(home, { recursive: true });
});

describe('moveDatabase', () => {
  const every = `select jsonb_build_array(
    (select jsonb_agg(z order by id) from zones z), (select jsonb_agg(b order by id) from boats b),
    (select jsonb_agg(c) from captains c), (select jsonb_agg(d) from deputies d),
    (select jsonb_agg(a order by at) from audits a), (select jsonb_agg(h) from harbour h),
    (select last_value from tickets)) as everything`;

  it('moveDatabase copies every row, and sequences continue where they were', async () => {
    const target = await newTarget('complete');
    const { tables, milliseconds } = await moveDatabase(source.connection, target, folder);
    expect(Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))).toEqual({
      zones: 1_000,
      boats: 2,
      captains: 1,
      deputies: 1,
      audits: 300,
      harbour: 1,
    });
    expect(milliseconds).toBeGreaterThan(0);
    expect(await query(target, every)).toEqual(await query(source.connection, every));
    expect(await query(target, 'select count(*)::int as early from audits_early')).toEqual([{ early: 99 }]);
    expect(await query(target, `insert into boats (zone_id, length_m) values ('z3', 1) returning id`)).toEqual([
      { id: 3 },
    ]);
    // The triggers are active again.
    await expect(query(target, 'delete from zones')).rejects.toThrow('append only');
    await query(target, `insert into zones values ('new', 'new')`);
    expect(await query(target, 'select last_value::int as ticket from tickets')).toEqual([{ ticket: 1_001 }]);
  });

  it('moveDatabase refuses a target that holds rows, and does not change it', async () => {
    const target = await newTarget('occupied');
    await query(target, 'create table guests (n integer); insert into guests values (1)');
    await expect(moveDatabase(source.connection, target, folder)).rejects.toThrow(
      'the target already contains rows (in guests): move into an empty database',
    );
    expect(await query(target, `select to_regclass('zones') as zones`)).toEqual([{ zones: null }]);
  });

  it('moveDatabase copies nothing when one table fails', async () => {
    const target = await newTarget('failing');
    await migrated({ ...there.connection, database: 'failing' }, folder);
    await query(target, `truncate harbour; alter table audits add check (at < 200)`);
    await expect(moveDatabase(source.connection, target, folder)).rejects.toThrow('violates check constraint');
    expect(
      await query(target, 'select (select count(*) from zones)::int + (select count(*) from audits)::int as rows'),
    ).toEqual([{ rows: 0 }]);
  });

  it('moveDatabase refuses a source that is behind the migrations', async () => {
    const behind = await emptyDatabase();
    const target = await newTarget('ahead');
    await expect(moveDatabase(behind.connection, target, folder)).rejects.toThrow(
      'migrate the source first: it lacks 20260101_01_fleet.sql',
    );
    await behind.drop();
  });

  it('moveDatabase covers every table of our own schema', async () => {
    const own = await freshDatabase();
    const { tables } = await moveDatabase(own.connection, await newTarget('own'));
    const listed = await query(
      own.connection,
      `select count(*)::int as tables from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'knex_%'`,
    );
    expect([{ tables: tables.filter(({ name }) => !name.includes('.')).length }]).toEqual(listed);
    await own.drop();
  });

  it('moveDatabase copies waiting jobs, even into a migrated database', async () => {
    const own = await freshDatabase();
    await query(
      own.connection,
      `insert into background.job (name, data, retry_count, state) values ('mail', '{"sealed": "x"}', 3, 'retry')`,
    );
    const target = await newTarget('jobs');
    await migrated({ ...there.connection, database: 'jobs' });
    const { tables } = await moveDatabase(own.connection, target);
    expect(tables).toContainEqual({ name: 'background.job', rows: 1 });
    const jobs = 'select to_jsonb(j) as job from background.job j';
    expect(await query(target, jobs)).toEqual(await query(own.connection, jobs));
    await own.drop();
  });
});
