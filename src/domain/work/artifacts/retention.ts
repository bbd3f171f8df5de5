// Deletes artifacts after the retention period of their organization. The sweep removes their contents.
import { sql, type Transaction } from '#foundation/postgres/database.ts';

const batch = 500;
const deleteSql = (isNeeded: string): string => `delete from artifacts where id in (
    select a.id from artifacts a where a.org_id = $1 and a.created_at <= $2 and not ${isNeeded}
    order by a.created_at, a.id limit ${batch} for update skip locked) returning id`;

/**
 * Deletes a batch, oldest first. Returns whether there may be more.
 * @param isNeeded SQL condition for artifacts `a` that are kept; `$1` is the organization, `$2` the time
 */
export const deleteArtifactsUntil = async (orgId: string, at: number, isNeeded: string): Promise<boolean> =>
  (await sql(deleteSql(isNeeded), [orgId, at])).length === batch;

/**
 * Deletes artifacts of runs. @param runIds Ids of the runs, which the SQL queries receive as `$2`
 * @param sandboxIds SQL query for the sandboxes of the runs @param artifactIds SQL query for further artifacts
 */
export const deleteArtifactsOf = async (
  trx: Transaction,
  orgId: string,
  runIds: readonly string[],
  { sandboxIds, artifactIds }: { sandboxIds: string; artifactIds: string },
): Promise<void> => {
  const deletion = `delete from artifacts where org_id = $1 and (sandbox_id in (${sandboxIds}) or id in (${artifactIds}))`;
  await sql(deletion, [orgId, runIds], trx);
};
