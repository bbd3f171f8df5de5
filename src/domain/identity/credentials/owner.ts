// What the operator's lists of credentials have in common: whose each one is, and the filters by that.
import { joinOrganizationSql } from '../../organization/organizations/join.ts';
import { joinPersonSql } from '../../organization/people/join.ts';

export interface OwnerFilter {
  /** A slug. */
  org?: string | undefined;
  email?: string | undefined;
  /** Rows at most. */
  limit: number;
}

/** Joins the organization `o` and the person `p` of the credential `alias`, and leaves those that the filter names: $1 and $2. */
export const ofOwnerSql = (alias: string): string =>
  `${joinOrganizationSql(`${alias}.org_id`)} ${joinPersonSql(`${alias}.user_id`)}
  where ($1::text is null or o.slug = $1) and ($2::text is null or p.email = $2)`;

/** The values of `ofOwnerSql`, and $3, the limit. */
export const ownerValues = ({ org, email, limit }: OwnerFilter) => [org ?? null, email?.toLowerCase() ?? null, limit];
