// The guard of organizations that are moving: triggers on all tables of organizations, which exist only while one is moving, because they
// cost each written row some microseconds. A new table has them without a line here.
import { minutes, seconds } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { databaseErrorKind, retrying } from '#foundation/postgres/database-errors.ts';

/** Beginning of the names of the triggers: those of a table are fired in the order of their names. */
const trigger = 'aa_moving_';
/** Time for which the change of a table may wait for its transactions, which delays new ones for the same time. */
const lockTimeout = '2s';
const budgetMs = minutes(2);
/** Time limit for dropping a trigger. Those that stay cost little, and are dropped after the next move. */
const dropBudgetMs = seconds(2);

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
    const text = `create or replace trigger "${trigger}" before ${operations} on "${name}" for each row
        execute function guard_moving_organization(${names})`;
    await onTable((trx) => trx.raw(text), budgetMs);
  }
}

const lockSql = `select pg_advisory_xact_lock(hashtextextended('cell guard', 0))`;
/** Runs before an organization begins to move: no trigger is dropped from then on (`unguardTables`). */
export const keepGuard = (trx: Transaction): Promise<unknown> => sql(lockSql.replace('_lock', '_lock_shared'), [], trx);

/**
 * Drops the triggers, unless an organization is moving. A long reading, such as a backup, holds its tables: triggers then stay until the
 * next move has ended.
 */
export async function unguardTables(isMoving: (trx: Transaction) => Promise<boolean>): Promise<void> {
  for (const { name, trigger } of await sql<Pick<Guarded, 'name' | 'trigger'>>(existingSql, [])) {
    const drop = async (trx: Transaction): Promise<void> => {
      await sql(lockSql, [], trx);
      if (!(await isMoving(trx))) await trx.raw(`drop trigger if exists "${trigger}" on "${name}"`);
    };
    try {
      await onTable(drop, dropBudgetMs);
    } catch (error) {
      if (databaseErrorKind(error) !== 'retry') throw error;
      return;
    }
  }
}

/** Changes a table when no transaction uses it in a way that excludes the change. */
const onTable = (change: (trx: Transaction) => Promise<unknown>, budget: number): Promise<void> =>
  retrying(
    () =>
      transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = '${lockTimeout}'`);
        await change(trx);
      }),
    { budgetMs: budget },
  );
