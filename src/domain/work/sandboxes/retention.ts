// Deletes sandboxes and their logs after the retention period of their organization.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';

const batch = 100;
const deleteSql = (isNeeded: string): string => `delete from sandboxes where id in (
    select s.id from sandboxes s where s.org_id = $1 and s.status <> 'running' and s.created_at <= $2 and not ${isNeeded}
    order by s.created_at, s.id limit ${batch} for update skip locked) returning id`;

/**
 * Deletes one batch of sandboxes that were created until `at`, oldest first. Returns whether there may be more.
 * @param isNeeded SQL condition for the sandboxes `s` that are kept; its parameter `$2` is `at`
 */
export const deleteSandboxesUntil = async (orgId: string, at: number, isNeeded: string): Promise<boolean> =>
  (await sql(deleteSql(isNeeded), [orgId, at])).length === batch;

/** SQL query for the sandboxes of runs. @param runIds SQL for an array of ids */
export const sandboxesOfRunsSql = (runIds: string): string => `select id from sandboxes where run_id = any(${runIds})`;

/** Deletes the sandboxes of runs, with their sessions. */
export const deleteSandboxesOf = async (trx: Transaction, orgId: string, runIds: readonly string[]): Promise<void> => {
  await sql('delete from sandboxes where org_id = $1 and run_id = any($2)', [orgId, runIds], trx);
};

/** SQL query for the run of a sandbox. */
export const runOfSandboxSql = (sandboxId: string): string => `select run_id from sandboxes where id = ${sandboxId}`;

const archivedSql = `select run_id from log_archives where org_id = $1 and ended_at <= $2 order by ended_at, run_id limit ${batch}`;

/** Some runs that have archives and ended before a time, oldest first. */
export const oldArchivedRuns = (orgId: string, at: number): Promise<{ runId: string }[]> =>
  sql<{ runId: string }>(archivedSql, [orgId, at]);

const ofRun = 'org_id = $1 and run_id = $2';
const sandboxIds = `sandbox_id in (select id from sandboxes where ${ofRun})`;
const noteSql = `update sandboxes set logs_deleted_at = $3 where ${ofRun} and logs_deleted_at is null returning id`;
// The tables are in the order in which archiving locks them, to avoid a deadlock when archiving moves the rows at the same time.
const deletions = [
  `delete from log_archives where ${ofRun}`,
  `delete from sandbox_log_parts where ${sandboxIds}`,
  `delete from sandbox_fragments where ${sandboxIds}`,
];

/** Deletes the logs and fragments of a run, archived or not; the sweep of artifacts removes the contents of the archives. */
export async function deleteLogsOfRun(trx: Transaction, orgId: string, runId: string): Promise<void> {
  await sql(noteSql, [orgId, runId, now()], trx);
  for (const deletion of deletions) await sql(deletion, [orgId, runId], trx);
}
