// All rows of a database, so that a test can assert that nothing was written or changed, and know what was added.
import type { Knex } from 'knex';
import { expect } from 'vitest';
import { sendStatement } from '#foundation/postgres/statement.ts';

/**
 * The columns that change whenever a credential is used. A key is the name of such a column, and its value is the reason for the change.
 * Tests that compare rows before and after a call ignore changes of these columns, but of no others.
 */
export const movedByLooking: Record<string, string> = {
  last_used_at: 'the minute of a credential’s use is noted beside the request, also when the request is refused',
};

const moved = Object.keys(movedByLooking).map((column) => `'${column}'`);

/**
 * A row of a table. `text` consists of the name of the table and a JSON object of all columns that must not change. `moved` is a JSON object of
 * the columns that change when a credential is used.
 */
interface Row {
  text: string;
  moved: string;
}

interface Reading {
  /** A checksum of where the rows are stored and which transactions wrote them. */
  state: string;
  rows: Row[];
}

/** The last reading of each table of each database: most tables have not changed since. */
const readings = new WeakMap<Knex, Map<string, Reading>>();

async function read(knex: Knex, kind: 'all' | 'withoutLog' = 'all'): Promise<Row[]> {
  // This query leaves out tables whose file is empty, because they have no rows. The statements that read the tables are then half as long.
  // Each partition is listed as a table of its own.
  const tables = await ask<{ name: string }>(
    knex,
    `select oid::regclass::text as name from pg_class
      where relkind = 'r' and relnamespace in ('public'::regnamespace, 'background'::regnamespace)
        and pg_relation_size(oid) > 0`,
  );
  const names = tables.flatMap(({ name }) =>
    kind === 'withoutLog' && /^(audit_|person_keys$)/.test(name) ? [] : [name],
  );
  if (names.length === 0) return [];
  const known = readings.get(knex) ?? new Map<string, Reading>();
  readings.set(knex, known);
  const changed = new Map(
    (await statesOf(knex, names)).flatMap(({ name, state }) =>
      known.get(name)?.state === state ? [] : [[name, { state, rows: [] as Row[] }] as const],
    ),
  );
  for (const { name, ...row } of changed.size > 0 ? await contentsOf(knex, [...changed.keys()]) : [])
    changed.get(name)!.rows.push(row);
  for (const [name, reading] of changed) known.set(name, reading);
  return names.flatMap((name) => known.get(name)!.rows);
}

/**
 * Uses a prepared statement. The text of the statement lists the tables that have rows. These tables rarely change, so PostgreSQL usually knows the
 * statement already.
 */
async function ask<T>(knex: Knex, text: string): Promise<T[]> {
  const connection = await knex.client.acquireConnection();
  try {
    return (await sendStatement<T>(connection, [{ text, values: [[]] }], true))[0]!;
  } finally {
    await knex.client.releaseConnection(connection);
  }
}

/**
 * Returns, for each table, a checksum of where its rows are stored and which transactions wrote them. If the checksum has not changed, neither have
 * the rows. This takes a fifth of the time of reading the rows.
 */
function statesOf(knex: Knex, tables: string[]): Promise<{ name: string; state: string }[]> {
  const parts = tables.map(
    (name) => `select '${name}' as name, sum(hashtidextended(ctid, xmin::text::bigint))::text as state from ${name}`,
  );
  return ask(knex, parts.join(' union all '));
}

async function contentsOf(knex: Knex, tables: string[]): Promise<(Row & { name: string })[]> {
  const { rows: columns } = await knex.raw(
    `select attrelid::regclass::text as name, quote_literal(attname) || ', ' || attname as beside from pg_attribute
      where attname in (${moved}) and attrelid = any(?::regclass[])`,
    [tables],
  );
  const parts = tables.map((table) => {
    const beside = columns.flatMap((column: Record<string, string>) => (column.name === table ? [column.beside] : []));
    const rest = beside.length > 0 ? `jsonb_build_object(${beside})::text` : `'{}'`;
    return `select '${table}' as name, '${table} ' || (to_jsonb(t) - array[${moved}])::text as text, ${rest} as moved from ${table} t`;
  });
  return (await knex.raw(parts.join(' union all '))).rows;
}

/** One text per row: the table, and the row as JSON. The audit log is left out, because refusals are recorded there after the response. */
export const rowsOf = async (knex: Knex): Promise<string[]> => (await read(knex, 'withoutLog')).map(({ text }) => text);

/**
 * Remembers every row. The returned function restores all rows, so that each test begins with the same state; sequences and files are not
 * restored.
 */
export async function keepRows(knex: Knex): Promise<() => Promise<void>> {
  const kept = await read(knex);
  return async () => {
    const present = await read(knex);
    const { gone, come } = written(
      kept.map(({ text }) => text),
      present.map(({ text }) => text),
    );
    const [missing, added] = [new Set(gone), new Set(come)];
    await knex.transaction(async (trx) => {
      // Triggers and foreign keys are off, because the rows were consistent before.
      await trx.raw(`set local session_replication_role = 'replica'`);
      for (const [table, { contents }] of byTable(present.filter(({ text }) => added.has(text)))) {
        await trx.raw(`delete from ${table} t where to_jsonb(t) - array[${moved}] = any(?::jsonb[])`, [contents]);
      }
      for (const [table, rows] of byTable(kept.filter(({ text }) => missing.has(text)))) await insert(trx, table, rows);
    });
  };
}

interface Rows {
  contents: string[];
  moved: string[];
}

async function insert(trx: Knex, table: string, rows: Rows): Promise<void> {
  const { rows: columns } = await trx.raw(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const names = columns.map(({ name }: { name: string }) => name).join(', ');
  await trx.raw(
    `insert into ${table} (${names}) overriding system value
      select row.* from unnest(?::jsonb[], ?::jsonb[]) as kept(content, moved),
        lateral (select ${names} from jsonb_populate_record(null::${table}, content || moved)) as row`,
    [rows.contents, rows.moved],
  );
}

function byTable(rows: readonly Row[]): Map<string, Rows> {
  const tables = new Map<string, Rows>();
  for (const { text, moved } of rows) {
    const at = text.indexOf(' ');
    const { contents, moved: rest } = tables.get(text.slice(0, at)) ?? { contents: [], moved: [] };
    tables.set(text.slice(0, at), { contents: [...contents, text.slice(at + 1)], moved: [...rest, moved] });
  }
  return tables;
}

export interface Written {
  /** Rows of the earlier reading that are missing or changed in the later reading. */
  gone: string[];
  /** Rows that are new or changed in the later reading. */
  come: string[];
}

export const nothing: Written = { gone: [], come: [] };

/** Differences between two readings. */
export function written(before: readonly string[], after: readonly string[]): Written {
  // Usually nothing has changed. Then both readings have the same rows in the same order, and comparing these is fastest.
  if (before.length === after.length && before.every((row, i) => row === after[i])) return nothing;
  const [was, is] = [new Set(before), new Set(after)];
  return { gone: before.filter((row) => !is.has(row)), come: after.filter((row) => !was.has(row)) };
}

/**
 * Expects that no call of the returned function changes a row. Each call begins with the rows that the previous one has left, so nothing
 * else may write between two calls.
 */
export function unchangedRows(knex: () => Knex): (work: () => Promise<unknown>) => Promise<void> {
  let left: string[] | undefined;
  return async (work) => {
    const before = left ?? (await rowsOf(knex()));
    left = undefined;
    await work();
    const after = await rowsOf(knex());
    expect(written(before, after)).toEqual(nothing);
    left = after;
  };
}
