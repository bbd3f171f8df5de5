// Deletes the logs of ended runs after the retention period of their organization.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { deleteLogsOfRun, oldArchivedRuns } from '../sandboxes/retention.ts';

const batch = 100;
const queuedSql = `select run_id from unarchived_runs where org_id = $1 and ended_at <= $2 order by ended_at limit ${batch}`;
const forgetSql = 'delete from unarchived_runs where org_id = $1 and run_id = $2';

/** Deletes the logs and fragments of a batch of runs that ended before a time, each run in its own transaction. Returns whether there may be more. */
export async function deleteLogsUntil(orgId: string, at: number): Promise<boolean> {
  const [queued, archived] = [await sql<{ runId: string }>(queuedSql, [orgId, at]), await oldArchivedRuns(orgId, at)];
  for (const runId of new Set([...queued, ...archived].map((one) => one.runId))) {
    await transaction(async (trx) => {
      await sql(forgetSql, [orgId, runId], trx);
      await deleteLogsOfRun(trx, orgId, runId);
    });
  }
  return Math.max(queued.length, archived.length) >= batch;
}

const withdrawSql = `delete from unarchived_runs where org_id = $1 and run_id = any($2) and coalesce(claimed_until, 0) <= $3`;
const queuedOfSql = 'select run_id from unarchived_runs where org_id = $1 and run_id = any($2)';

/** Removes runs from the archiving queue. Returns the runs that no process is archiving now. */
export async function withdrawFromArchiving(
  trx: Transaction,
  orgId: string,
  runIds: readonly string[],
): Promise<string[]> {
  await sql(withdrawSql, [orgId, runIds, now()], trx);
  const queued = await sql<{ runId: string }>(queuedOfSql, [orgId, runIds], trx);
  return runIds.filter((id) => !queued.some(({ runId }) => runId === id));
}
