// Deletes the logs of ended runs after the retention of their organization.
import { sql, transaction } from '#foundation/postgres/database.ts';
import { deleteLogsOfRun, oldArchivedRuns } from '../sandboxes/retention.ts';

const queuedSql = 'select run_id from unarchived_runs where org_id = $1 and ended_at <= $2 order by ended_at limit 100';
const forgetSql = 'delete from unarchived_runs where org_id = $1 and run_id = $2';

/** Deletes the logs and fragments of runs that ended before a time, each run in its own transaction. */
export async function deleteLogsUntil(orgId: string, at: number): Promise<void> {
  const tried = new Set<string>();
  for (;;) {
    const found = [...(await sql<{ runId: string }>(queuedSql, [orgId, at])), ...(await oldArchivedRuns(orgId, at))];
    // Runs of an organization that is moving stay where they are, and are tried once.
    const runIds = found.map(({ runId }) => runId).filter((runId) => !tried.has(runId));
    if (runIds.length === 0) return;
    for (const runId of new Set(runIds)) {
      tried.add(runId);
      await transaction(async (trx) => {
        await sql(forgetSql, [orgId, runId], trx);
        await deleteLogsOfRun(trx, orgId, runId);
      });
    }
  }
}
