// SQL fragments that join an organization in statements of other nouns.

/** Joins the organization `o` whose id is in `column`; its columns are null without a match. */
export const joinOrganizationSql = (column: string): string => `left join organizations o on o.id = ${column}`;

/** Joins the open organization `o` whose id is in `column`; a closed one matches no row. */
export const joinOpenOrganizationSql = (column: string): string =>
  `join organizations o on o.id = ${column} and o.closed_at is null`;
