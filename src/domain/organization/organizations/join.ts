// SQL fragments that join an organization in statements about other resource types.

/** Joins the organization `o` whose id is in `column`; its columns are null without a match. */
export const joinOrganizationSql = (column: string): string => `left join organizations o on o.id = ${column}`;

/** Joins the open organization `o` whose id is in `column`; a closed one matches no row. */
export const joinOpenOrganizationSql = (column: string): string =>
  `join organizations o on o.id = ${column} and o.closed_at is null`;

/**
 * SQL condition: the organization allows requests from the address, or has no list of networks. If it has a list, an address that is null
 * is not allowed. True for an organization that is null.
 */
export const allowsAddressSql = (orgId: string, address: string): string =>
  `not exists (select 1 from organizations listed where listed.id = ${orgId} and listed.allowed_networks is not null
    and not coalesce(${address}::inet <<= any (listed.allowed_networks), false))`;
