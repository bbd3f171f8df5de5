// Every row of a database, so that a test can say: nothing was written, nothing was changed, and what was added is known.
import type { Knex } from 'knex';

/** Columns that move when a credential is merely looked at, by name and with the reason. All others count. */
export const movedByLooking: Record<string, string> = {
  last_used_at: 'the minute of a credential’s use is noted beside the request, also when the request is refused',
};

/** One text per row: the table, and the row as JSON. */
export async function rowsOf(knex: Knex): Promise<string[]> {
  // A table without pages has no rows: leaving it out makes the statement below half as long. Partitions are tables of their own.
  const { rows: tables } = await knex.raw(
    `select oid::regclass::text as name from pg_class
      where relkind = 'r' and relnamespace in ('public'::regnamespace, 'background'::regnamespace)
        and pg_relation_size(oid) > 0`,
  );
  const moved = Object.keys(movedByLooking)
    .map((column) => `'${column}'`)
    .join(', ');
  const parts = (tables as { name: string }[]).map(
    ({ name }) => `select '${name} ' || (to_jsonb(t) - array[${moved}])::text as row from ${name} t`,
  );
  if (parts.length === 0) return [];
  const { rows } = await knex.raw(parts.join(' union all '));
  return (rows as { row: string }[]).map(({ row }) => row);
}

export interface Written {
  /** Rows that were there and are not, or not as they were. */
  gone: string[];
  /** Rows that were not there, or not as they are now. */
  come: string[];
}

/** What lies between two readings. */
export function written(before: readonly string[], after: readonly string[]): Written {
  const [was, is] = [new Set(before), new Set(after)];
  return { gone: before.filter((row) => !is.has(row)), come: after.filter((row) => !was.has(row)) };
}

export const nothing: Written = { gone: [], come: [] };
