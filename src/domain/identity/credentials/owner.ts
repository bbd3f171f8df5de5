// Owner columns and filters common to the operator's lists of credentials.
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { joinPersonSql } from '../../organization/people/join.ts';

export interface OwnerFilter {
  /** The slug of the organization. */
  org?: string | undefined;
  email?: string | undefined;
  /** Maximum number of rows. */
  limit: number;
}

/** Joins the organization `o` and the person `p` of the credential `alias`, and keeps the rows that the filter selects: $1 and $2. */
export const ofOwnerSql = (alias: string): string =>
  `${joinOrganizationSql(`${alias}.org_id`)} ${joinPersonSql(`${alias}.user_id`)}
  where ($1::text is null or o.slug = $1) and ($2::text is null or p.email = $2)`;

/** The values of `ofOwnerSql`, and $3, the limit. */
export const ownerValues = ({ org, email, limit }: OwnerFilter) => [org ?? null, email?.toLowerCase() ?? null, limit];
