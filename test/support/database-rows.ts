// Every row of a database, so that a test can say: nothing was written, nothing was changed, and what was added is known.
import type { Knex } from 'knex';

/** Columns that move when a credential is merely looked at, by name and with the reason. All others count. */
export const movedByLooking: Record<string, string> = {
  last_used_at: 'the minute of a credential’s use is noted beside the request, also when the request is refused',
};

const moved = Object.keys(movedByLooking).map((column) => `'${column}'`);

/** A row: the table, and as JSON what counts of it; beside that what moves. */
interface Row {
  text: string;
  moved: string;
}

async function read(knex: Knex): Promise<Row[]> {
  // A table without pages has no rows: leaving it out makes the statement below half as long. Partitions are tables of their own.
  const { rows: tables } = await knex.raw(
    `select oid::regclass::text as name, array(
        select attname::text from pg_attribute where attrelid = c.oid and attname in (${moved})
      ) as moved from pg_class c
      where relkind = 'r' and relnamespace in ('public'::regnamespace, 'background'::regnamespace)
        and pg_relation_size(oid) > 0`,
  );
  const parts = (tables as { name: string; moved: string[] }[]).map(({ name, moved: columns }) => {
    const beside = columns.map((column) => `'${column}', ${column}`);
    const rest = columns.length > 0 ? `jsonb_build_object(${beside})::text` : `'{}'`;
    return `select '${name} ' || (to_jsonb(t) - array[${moved}])::text as text, ${rest} as moved from ${name} t`;
  });
  return parts.length > 0 ? (await knex.raw(parts.join(' union all '))).rows : [];
}

/** One text per row: the table, and the row as JSON. */
export const rowsOf = async (knex: Knex): Promise<string[]> => (await read(knex)).map(({ text }) => text);

/**
 * Remembers every row. The function it resolves to puts all of them back, so that each test finds them as the first did; sequences
 * and files stay as they are.
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
      // Neither triggers nor references: the rows have been together before.
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
  /** Rows that were there and are not, or not as they were. */
  gone: string[];
  /** Rows that were not there, or not as they are now. */
  come: string[];
}

export const nothing: Written = { gone: [], come: [] };

/** What lies between two readings. */
export function written(before: readonly string[], after: readonly string[]): Written {
  // Mostly nothing was: rows that nobody touches are read in the order they had.
  if (before.length === after.length && before.every((row, i) => row === after[i])) return nothing;
  const [was, is] = [new Set(before), new Set(after)];
  return { gone: before.filter((row) => !is.has(row)), come: after.filter((row) => !was.has(row)) };
}
