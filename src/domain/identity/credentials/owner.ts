// Columns and filters about owners, shared by the operator's lists of credentials.
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { joinPersonSql } from '../../organization/people/join.ts';

export interface OwnerFilter {
  /** Slug of the organization; absent means all organizations. */
  org?: string | undefined;
  email?: string | undefined;
  /** Maximum number of rows. */
  limit: number;
}

/**
 * Joins the organization `o` and the person `p` of the credential `alias`, and keeps the rows that match the slug $1 and the email address
 * $2.
 */
export const ofOwnerSql = (alias: string): string =>
  `${joinOrganizationSql(`${alias}.org_id`)} ${joinPersonSql(`${alias}.user_id`)}
  where ($1::text is null or o.slug = $1) and ($2::text is null or p.email = $2)`;

/** Parameter values: $1 and $2 for `ofOwnerSql`, and $3 for the limit. */
export const ownerValues = ({ org, email, limit }: OwnerFilter) => [org ?? null, email?.toLowerCase() ?? null, limit];
