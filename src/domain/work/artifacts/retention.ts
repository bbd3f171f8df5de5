// Deletes artifacts after the retention of their organization. The sweep removes their contents.
import { sql } from '#foundation/postgres/database.ts';

const batch = 500;
const deleteSql = (isNeeded: string): string => `delete from artifacts where id in (
    select a.id from artifacts a where a.org_id = $1 and a.created_at <= $2 and not ${isNeeded}
    order by a.created_at, a.id limit ${batch} for update skip locked) returning id`;

/** @param isNeeded SQL condition on an artifact `a` that is kept; `$1` is the organization, `$2` the time */
export async function deleteArtifactsUntil(orgId: string, at: number, isNeeded: string): Promise<void> {
  while ((await sql(deleteSql(isNeeded), [orgId, at])).length === batch);
}
