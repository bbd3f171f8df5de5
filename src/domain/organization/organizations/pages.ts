// URLs of console pages, for mails, issues and responses. They contain the organization's slug, so that a link works whichever organization
// its reader has open.
import { addresses, organizationPath } from '#foundation/http/addresses.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { Organization } from './model.ts';

type OrgId = Id<'organization'>;

/** The URL of a page of the organization, for a path such as `/runs/run_1`; '' means the base URL of all pages. */
export const consolePage = async (orgId: OrgId, path: string): Promise<string> =>
  pageOfSlug((await Organization.get({ id: orgId })).slug, path);

export const pageOfSlug = (slug: string, path: string): string => addresses().issuer + organizationPath(slug) + path;

/** Slugs of the organizations, read in a transaction. */
export async function slugsOf(trx: Transaction, orgIds: readonly OrgId[]): Promise<ReadonlyMap<OrgId, string>> {
  if (orgIds.length === 0) return new Map();
  type Named = { id: OrgId; slug: string };
  const rows = await sql<Named>('select id, slug from organizations where id = any($1)', [orgIds], trx);
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}
