// Moves the data to another PostgreSQL server or version: migrations create the schema there, then the rows are streamed in one
// transaction of the target, all or none.
import { pipeline } from 'node:stream/promises';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { DatabaseConnection } from './embedded/database.ts';
import { migrate, migrationStatus } from './migrations.ts';

export interface Moved {
  tables: { name: string; rows: number }[];
  milliseconds: number;
}

type Source = string | DatabaseConnection;

interface Table {
  /** The name of the table, quoted if necessary. */
  name: string;
  columns: string;
  needs: string[];
  triggers: string[];
}

/**
 * Copies every row into the empty database at `targetUrl`. The service must be stopped, because rows written during the copy are not
 * copied. `folder` contains the migrations; by default the program's own.
 */
export async function moveDatabase(source: Source, targetUrl: string, folder?: string): Promise<Moved> {
  const begun = performance.now();
  const [from, to] = [open(source), open(targetUrl)];
  try {
    await Promise.all([from.connect(), to.connect()]);
    await refuseUnlessEmpty(to);
    await sameSchema(source, targetUrl, folder);
    // All tables are read in one snapshot of the source.
    await begin(from, 'isolation level repeatable read read only');
    await begin(to, '');
    const tables = inOrder(await listTables(from));
    const moved = await copyTables(from, to, tables);
    await copySequences(from, to);
    await to.query('commit');
    // Without statistics, the first queries would be planned for empty tables.
    await to.query('analyze');
    return { tables: moved, milliseconds: Math.round(performance.now() - begun) };
  } finally {
    await Promise.allSettled([from.end(), to.end()]);
  }
}

function open(database: Source): pg.Client {
  const client = new pg.Client(typeof database === 'string' ? { connectionString: database } : database);
  // An unhandled connection error would end the process; the next statement fails anyway.
  client.on('error', () => {});
  return client;
}

const begin = (client: pg.Client, mode: string) => client.query(`begin ${mode}; set local statement_timeout = 0`);

async function sameSchema(source: Source, target: string, folder?: string): Promise<void> {
  const { pending } = await withKnex(source, (knex) => migrationStatus(knex, folder));
  if (pending.length > 0) throw new Error(`migrate the source first: it lacks ${pending.join(', ')}`);
  await withKnex(target, (knex) => migrate(knex, { folder }));
}

async function withKnex<T>(connection: Source, work: (knex: Knex) => Promise<T>): Promise<T> {
  const knex = knexFactory({ client: 'pg', connection, pool: { min: 0, max: 1 } });
  try {
    return await work(knex);
  } finally {
    await knex.destroy();
  }
}

/** Checks that the target has no rows; runs before the migrations, which insert rows too. */
async function refuseUnlessEmpty(to: pg.Client): Promise<void> {
  for (const { name } of await listTables(to)) {
    const { rows } = await to.query(`select exists (select from ${name}) as filled`);
    if (rows[0].filled) throw new Error(`the target already contains rows (in ${name}): move into an empty database`);
  }
}

/**
 * The tables to copy: all tables of the schema (of partitioned tables only the root) and the job table, but no other table of knex or
 * pg-boss.
 */
async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query(`
    select c.oid::regclass::text as name,
      (select string_agg(format('%I', a.attname), ', ' order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      array(select k.confrelid::regclass::text from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as needs,
      array(select format('%I', t.tgname) from pg_trigger t
        where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled = 'O') as triggers
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('knex_migrations', 'knex_migrations_lock') or c.oid = to_regclass('background.job')
    order by c.relname`);
  return rows;
}

/** Referenced tables come first. Tables in a cycle of references come last; their foreign keys must be deferrable. */
function inOrder(tables: Table[]): Table[] {
  const ordered: Table[] = [];
  let waiting = tables;
  while (waiting.length > 0) {
    const ready = waiting.filter((table) => !table.needs.some((name) => waiting.some((other) => other.name === name)));
    const next = ready.length > 0 ? ready : waiting;
    ordered.push(...next);
    waiting = waiting.filter((table) => !next.includes(table));
  }
  return ordered;
}

async function copyTables(from: pg.Client, to: pg.Client, tables: Table[]): Promise<Moved['tables']> {
  if (tables.length === 0) return [];
  await to.query('set constraints all deferred');
  // Triggers are disabled, because they would apply to each row a second time, or reject it.
  await turnTriggers(to, tables, 'disable');
  // Rows that migrations have inserted are deleted first: the source has them too, in their current state.
  await to.query(`truncate ${tables.map((table) => table.name).join(', ')}`);
  const moved: Moved['tables'] = [];
  for (const { name, columns } of tables) {
    await pipeline(
      from.query(copyTo(`copy (select ${columns} from ${name}) to stdout`)),
      to.query(copyFrom(`copy ${name} (${columns}) from stdin`)),
    );
    const [rows, arrived] = await Promise.all([count(from, name), count(to, name)]);
    if (rows !== arrived)
      throw new Error(`${name}: ${rows} rows were sent, ${arrived} arrived; the target is unchanged`);
    moved.push({ name, rows });
  }
  await to.query('set constraints all immediate');
  await turnTriggers(to, tables, 'enable');
  return moved;
}

async function turnTriggers(to: pg.Client, tables: Table[], way: 'enable' | 'disable'): Promise<void> {
  for (const { name, triggers } of tables) {
    for (const trigger of triggers) await to.query(`alter table ${name} ${way} trigger ${trigger}`);
  }
}

const count = async (client: pg.Client, table: string): Promise<number> =>
  Number((await client.query(`select count(*) as rows from ${table}`)).rows[0].rows);

async function copySequences(from: pg.Client, to: pg.Client): Promise<void> {
  const { rows } = await from.query(`
    select format('%I', c.relname) as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'S' and c.relname not like 'knex_migrations%'`);
  for (const { name } of rows) {
    const { rows: at } = await from.query(`select last_value, is_called from ${name}`);
    await to.query('select setval($1::regclass, $2, $3)', [name, at[0].last_value, at[0].is_called]);
  }
}
