// SQL fragments that join an organization in statements of other nouns.

/** Joins the organization `o` whose id is in `column`; its columns are null without a match. */
export const joinOrganizationSql = (column: string): string => `left join organizations o on o.id = ${column}`;

/** Joins the open organization `o` whose id is in `column`; a closed one matches no row. */
export const joinOpenOrganizationSql = (column: string): string =>
  `join organizations o on o.id = ${column} and o.closed_at is null`;

/**
 * SQL condition: the organization allows requests from the address, or from everywhere. False for an address that is null, if there is a
 * list; true for an organization that is null.
 */
export const allowsAddressSql = (orgId: string, address: string): string =>
  `not exists (select 1 from organizations listed where listed.id = ${orgId} and listed.allowed_networks is not null
    and not coalesce(${address}::inet <<= any (listed.allowed_networks), false))`;
