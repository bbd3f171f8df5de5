// Changes that the audit log has not numbered yet. Triggers of the database record them
// (docs/decisions/0061-the-database-records-changes.md); `recordAction` is for an action that changes no row here, such as one in another
// system.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { originSql } from '#foundation/postgres/origin.ts';
import { snake } from '#foundation/postgres/reads.ts';

type Values = Readonly<Record<string, unknown>>;

/** A recorded change: a row of `audit_changes`. */
export interface RecordedChange {
  /** Name of the changed table, or of an action that changes no row. */
  source: string;
  origin: string | null;
  before: Values | null;
  after: Values | null;
}

const recordSql = `insert into audit_changes (org_id, source, origin, after)
  select $1, $2, origin, $3 from ${originSql} origin where origin is distinct from 'off'`;

/** Records an action that changes no row. @param source Name of the action in `domain/lifecycle/audit/sources.ts` */
export async function recordAction(orgId: string, source: string, values: Values, trx?: Transaction): Promise<void> {
  const row = Object.fromEntries(Object.entries(values).map(([name, value]) => [snake(name), value]));
  await sql(recordSql, [orgId, source, JSON.stringify(row)], trx);
}

/**
 * SQL that removes the oldest committed changes of the organization `$1`, at most `$2`, and returns them: rows of `RecordedChange`.
 */
export const takeChangesSql = `with taken as (
    delete from audit_changes where org_id = $1 and id in (select id from audit_changes where org_id = $1 order by id limit $2)
    returning id, source, origin, before, after)
  select source, origin, before, after from taken order by id`;

export const hasChanges = async (orgId: string): Promise<boolean> =>
  (await sql('select 1 from audit_changes where org_id = $1 limit 1', [orgId])).length > 0;

/** SQL that selects the next organizations after the id `$1`, in the order of their ids. */
export const organizationsWithChangesSql =
  'select distinct org_id from audit_changes where org_id > $1 order by org_id limit 500';

const countSql = 'select count(*)::int as changes from (select from audit_changes limit 100000) c';

/** Number of unnumbered changes of all organizations, at most 100,000. */
export const countChanges = async (): Promise<number> => (await sql<{ changes: number }>(countSql))[0]!.changes;
