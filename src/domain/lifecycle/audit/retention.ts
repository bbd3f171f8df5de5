// Reads and changes how many days an organization keeps the events of its audit log, and deletes events that are older.
import { manageOrganization } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { createNextPartition, dropPartition, partitionsOf } from '#foundation/postgres/partitions.ts';
import { isAnyMoving } from '../../organization/cells/state.ts';
import { deleteUnusedKeys, hasUnusedKeys } from '../../organization/person-keys/keys.ts';
import { retentionDays } from './bounds.ts';
import { forEachOrganization } from './each-organization.ts';
import { lockTreeSql, type TreeState } from './tree/growth.ts';

export interface AuditRetention {
  days: number;
}

const findSql = 'select retention_days as days from audit_counters where org_id = $1 and retention_days is not null';
const setSql = `insert into audit_counters (org_id, retention_days) values ($1, $2)
  on conflict (org_id) do update set retention_days = excluded.retention_days`;

export async function findRetention(caller: Caller): Promise<AuditRetention> {
  const [found] = await sql<AuditRetention>(findSql, [wholeOrganization(caller)]);
  return found ?? { days: retentionDays.default };
}

/** Changes how long the organization keeps its audit log. @throws 403 for a role below admin, and for a project-bound credential */
export async function setRetention(caller: Caller, retention: AuditRetention): Promise<AuditRetention> {
  beyondOneProject(caller);
  manageOrganization(caller);
  await sql(setSql, [ownOrganization(caller), retention.days]);
  return retention;
}

/** Period that one partition covers. It is long, because reading the log visits all partitions. */
const partitionMs = days(91);
const eventTable = { name: 'audit_events', timeColumn: 'created_at', rangeMs: partitionMs, lockKey: 4_716_201_128 };
const longestSql = `select coalesce(max(coalesce(retention_days, ${retentionDays.default})), ${retentionDays.default}) as days
  from audit_counters`;

/**
 * Drops the partitions whose events are all older than the longest retention of any organization. `first_number` advances earlier, in its
 * own transaction: a drop waits for readers, and the numbering of events must not wait for the drop.
 */
async function dropOldPartitions(): Promise<void> {
  // `first_number` of an organization that is moving cannot advance.
  if (await isAnyMoving()) return;
  const [longest] = await sql<AuditRetention>(longestSql, []);
  for (const partition of await partitionsOf(eventTable)) {
    if (partition.until > now() - days(longest!.days)) continue;
    await sql(
      `update audit_counters c set first_number = greatest(c.first_number, e.last + 1)
        from (select org_id, max(number) as last from ${partition.name} group by org_id) e where e.org_id = c.org_id`,
      [],
    );
    await dropPartition(eventTable, partition);
  }
}

/** Maximum number of events that one statement deletes. */
const batch = 5_000;
const organizationsSql = `select org_id, coalesce(retention_days, ${retentionDays.default}) as days from audit_counters
  where org_id > $1 order by org_id limit 500`;
// Only the events with the smallest numbers are considered: an event with a larger number is never older.
const deleteSql = `delete from audit_events where org_id = $1 and created_at < $2
  and number in (select number from audit_events where org_id = $1 order by number limit ${batch}) returning number`;
// The Merkle tree (tree/) keeps the leaves of deleted events; `first_number` is the first number whose event must still exist.
const advanceSql = 'update audit_counters set first_number = greatest(first_number, $2) where org_id = $1';

/**
 * Deletes the events that are older than the retention of their organization; the remaining events keep their numbers. Creates the next
 * partition. A failure in one of these steps does not stop the other steps.
 */
export async function deleteOldEvents(): Promise<void> {
  const failures: unknown[] = [];
  const steps = [dropOldPartitions, deleteOldRows, () => createNextPartition(eventTable, now() + partitionMs)];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

const deleteOldRows = (): Promise<void> =>
  forEachOrganization<AuditRetention & { orgId: string }>(organizationsSql, [], async ({ orgId, days: kept }) => {
    const before = now() - days(kept);
    while ((await deleteBatch(orgId, before)) === batch);
    if (!(await hasUnusedKeys(orgId, before))) return;
    await transaction(async (trx) => {
      // Until the transaction ends, no event gets a number, and so no key is used.
      const [counter] = await sql<TreeState>(lockTreeSql, [orgId], trx);
      await deleteUnusedKeys(trx, orgId, { before, firstNumber: counter!.firstNumber });
    });
  });

/** Deletes one batch of old events; returns how many. */
const deleteBatch = (orgId: string, before: number): Promise<number> =>
  transaction(async (trx) => {
    const deleted = await sql<{ number: number }>(deleteSql, [orgId, before], trx);
    if (deleted.length > 0) {
      const last = deleted.reduce((largest, { number }) => Math.max(largest, number), 0);
      await sql(advanceSql, [orgId, last + 1], trx);
    }
    return deleted.length;
  });
