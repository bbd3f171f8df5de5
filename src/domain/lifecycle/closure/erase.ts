// Erases closed organizations after thirty days: first their rows in all tables, then the organization itself. Rows are erased and
// committed in batches, so that another process can continue the work of a lost one.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { awaitsRefund } from '../../money/billing/withdrawal.ts';
import { deleteOrganization } from '../../organization/organizations/operations.ts';
import { numberChanges } from '../audit/numbers.ts';
import { removeExport } from './export.ts';
import { closedRetentionMs, type OrgClosure } from './model.ts';

const dueSql = `select org_id from org_closures where closed_at <= $1 and settled_at is not null order by closed_at`;

export async function eraseClosedOrganizations(): Promise<void> {
  const due = await sql<Pick<OrgClosure, 'orgId'>>(dueSql, [now() - closedRetentionMs]);
  for (const { orgId } of due) if (!(await awaitsRefund(orgId))) await eraseOrganization(orgId);
}

// Selects all tables whose rows are deleted together with their organization or their project. The tables are sorted by the number of foreign
// keys that refer to them, the smallest number first. When the rows of the last tables are deleted, most rows that refer to them are already
// gone, so the deletion cascades to fewer rows. The row of an artifact's content is kept until the sweep has removed the bytes.
const tablesSql = `select c.oid::regclass::text as name from pg_class c
  where exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype = 'c'
      and k.confrelid in ('organizations'::regclass, 'projects'::regclass))
    and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped)
    and c.oid <> 'org_closures'::regclass
  order by (select count(*) from pg_constraint r where r.contype = 'f' and r.confrelid = c.oid), 1`;

/** Deletes all rows of an organization without recording the deletions. A repeated call continues where the last one stopped. */
export const eraseOrganization = (orgId: OrgClosure['orgId']): Promise<void> => unrecorded(() => erase(orgId));

async function erase(orgId: OrgClosure['orgId']): Promise<void> {
  await removeExport(orgId);
  for (const { name } of await sql<{ name: string }>(tablesSql)) {
    try {
      while ((await sql(eraseBatchSql(name), [orgId])).length > 0);
    } catch (error) {
      // The ledger refuses to delete entries of an existing organization, so they are deleted with the organization.
      if (databaseErrorKind(error) !== 'final') throw error;
    }
  }
  await deleteOrganization(orgId);
  await numberChanges(orgId);
}

const batch = 500;

// The first condition is repeated because a `ctid` may occur in several partitions of a table.
const eraseBatchSql = (table: string): string => `delete from ${table} where org_id = $1 and ctid = any(array(
    select ctid from ${table} where org_id = $1 limit ${batch})) returning 1 as erased`;
