// The guard of organizations that are moving: triggers on all tables of organizations, which exist only while one is moving, because they
// cost each written row some microseconds. A new table has them without a line here.
import { minutes } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { retrying } from '#foundation/postgres/database-errors.ts';

/** Beginning of the names of the triggers: those of a table are fired in the order of their names. */
const trigger = 'aa_moving_';
/** How long the change of a table may wait for writers of the table, which delays new writers for the same time. */
const lockTimeout = '2s';
const budgetMs = minutes(2);

interface Guarded {
  name: string;
  /** Name of the trigger. */
  trigger: string;
  /**
   * Arguments of the trigger: the column of the organization, or the column of a record that has the organization, with the table and key
   * of the record.
   */
  arguments: string;
  /** Operations that are guarded. */
  operations: string;
}

// Tables of the move itself and sessions, which belong to people, are not guarded. Changes of a person are recorded for each organization
// of the person, so they are only kept from being numbered.
const guardedSql = `with tables as (select oid, relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not in ('cell_organizations', 'cell_slugs', 'sessions')),
  own as (select t.oid, t.relname from tables t join pg_attribute a on a.attrelid = t.oid and a.attname = 'org_id' and not a.attisdropped)
  select relname as name, '${trigger}organization' as trigger, 'org_id' as arguments,
    case relname when 'audit_changes' then 'update or delete' else 'insert or update or delete' end as operations from own
  union all select relname, '${trigger}organization', 'id', 'update or delete' from tables where relname = 'organizations'
  union all select t.relname, '${trigger}' || a.attname, concat_ws(', ', quote_literal(a.attname), quote_literal(o.relname), quote_literal(k.attname)),
      'insert or update or delete'
    from tables t join pg_constraint c on c.contype = 'f' and c.conrelid = t.oid and cardinality(c.conkey) = 1
    join own o on o.oid = c.confrelid
    join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
    join pg_attribute k on k.attrelid = o.oid and k.attnum = c.confkey[1]
    where t.oid not in (select oid from own)
  order by name`;

const existingSql = `select tgrelid::regclass::text as name, tgname as trigger from pg_trigger
  where tgname like '${trigger.replaceAll('_', '\\_')}%' and tgparentid = 0 order by name`;

/** Creates the triggers; those that exist are replaced. Waits for the writers of each table, one table after the other. */
export async function guardTables(): Promise<void> {
  for (const { name, trigger, arguments: names, operations } of await sql<Guarded>(guardedSql, [])) {
    await onTable(
      name,
      `create or replace trigger "${trigger}" before ${operations} on "${name}" for each row
        execute function guard_moving_organization(${names})`,
    );
  }
}

/** Drops the triggers, unless an organization is moving. */
export async function unguardTables(isMoving: () => Promise<boolean>): Promise<void> {
  if (await isMoving()) return;
  for (const { name, trigger } of await sql<Pick<Guarded, 'name' | 'trigger'>>(existingSql, []))
    await onTable(name, `drop trigger if exists "${trigger}" on "${name}"`);
}

/** Changes a table when no transaction is writing to it. */
const onTable = (name: string, statement: string): Promise<void> =>
  retrying(
    () =>
      transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = '${lockTimeout}'`);
        await trx.raw(`lock table "${name}" in share row exclusive mode`);
        await trx.raw(statement);
      }),
    { budgetMs },
  );
