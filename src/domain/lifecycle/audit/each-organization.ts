// Work on many organizations, in which a failure for one does not affect the others.
import { sql } from '#foundation/postgres/database.ts';

/**
 * Runs work for each organization that the query returns.
 * @param pageSql Returns the next organizations after the id `$1`, in the order of their ids
 * @throws the first failure, after all organizations
 */
export async function forEachOrganization<Row extends { orgId: string }>(
  pageSql: string,
  values: readonly unknown[],
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (let last = ''; ; ) {
    const organizations = await sql<Row>(pageSql, [last, ...values]);
    for (const row of organizations) await work(row).catch((error: unknown) => failures.push(error));
    if (organizations.length === 0) break;
    last = organizations.at(-1)!.orgId;
  }
  if (failures.length > 0) throw failures[0];
}
