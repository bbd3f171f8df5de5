// Work on many organizations: the failure of one does not delay the others.
import { sql } from '#foundation/postgres/database.ts';

/**
 * @param pageSql Returns the next organizations after the id `$1`, in the order of their ids
 * @throws the first failure, after all organizations
 */
export async function forEachOrganization(
  pageSql: string,
  values: readonly unknown[],
  work: (orgId: string) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (let last = ''; ; ) {
    const organizations = await sql<{ orgId: string }>(pageSql, [last, ...values]);
    for (const { orgId } of organizations) await work(orgId).catch((error: unknown) => failures.push(error));
    if (organizations.length === 0) break;
    last = organizations.at(-1)!.orgId;
  }
  if (failures.length > 0) throw failures[0];
}
