// While an organization moves to another cell, triggers on the tables refuse writes to rows of this organization. The triggers exist only while an
// organization is moving, because they cost some microseconds for each written row. New tables get the triggers automatically.
import { minutes, seconds } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { databaseErrorKind, retrying } from '#foundation/postgres/database-errors.ts';

/** Prefix of the triggers' names. PostgreSQL fires the triggers of a table in the order of their names. */
const trigger = 'aa_moving_';
/** Time for which a change to a table may wait for transactions that use it. New transactions on the table are delayed for the same time. */
const lockTimeout = '2s';
const budgetMs = minutes(2);
/** Time limit for dropping a trigger. Remaining triggers cost little, and are dropped after the next move. */
const dropBudgetMs = seconds(2);

interface Guarded {
  name: string;
  /** Name of the trigger. */
  trigger: string;
  /**
   * Arguments of the trigger, which tell how to find the id of the organization to which a row belongs. Either one argument: the column
   * that contains the id. Or three arguments: the column that refers to a record in another table, the name of that table, and its key
   * column.
   */
  arguments: string;
  /** The operations on the table (insert, update, delete) for which the trigger is called. */
  operations: string;
}

// The tables of the move itself get no trigger, nor does `sessions`, because sessions belong to people. `audit_changes` gets no trigger for
// inserts, because a change to the data of a person inserts a row for each organization of the person, even for one that is moving.
// When the changes of an organization get their numbers in the audit log, their rows are deleted from `audit_changes`. The trigger for updates
// and deletes refuses this deletion while the organization is moving.
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

/** Creates or replaces the triggers. Waits for the writers of each table, one table after the other. */
export async function guardTables(): Promise<void> {
  for (const { name, trigger, arguments: names, operations } of await sql<Guarded>(guardedSql, [])) {
    const text = `create or replace trigger "${trigger}" before ${operations} on "${name}" for each row
        execute function guard_moving_organization(${names})`;
    await onTable((trx) => trx.raw(text), budgetMs);
  }
}

const lockSql = `select pg_advisory_xact_lock(hashtextextended('cell guard', 0))`;
/** Called before the state of a move changes, so that `unguardTables` drops no trigger while an organization begins to move. */
export const keepGuard = (trx: Transaction): Promise<unknown> => sql(lockSql.replace('_lock', '_lock_shared'), [], trx);

/**
 * Drops the triggers, unless an organization is moving. A long read, such as a backup, keeps tables locked; their triggers then remain
 * until the next move has ended.
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

/** Changes a table as soon as no transaction holds a conflicting lock on it. */
const onTable = (change: (trx: Transaction) => Promise<unknown>, budget: number): Promise<void> =>
  retrying(
    () =>
      transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = '${lockTimeout}'`);
        await change(trx);
      }),
    { budgetMs: budget },
  );
