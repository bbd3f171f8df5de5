// The SQL fragment that joins an organization in statements of other nouns.

/** Joins the organization `o` whose id is in `column`; its columns are null without a match. */
export const joinOrganizationSql = (column: string): string => `left join organizations o on o.id = ${column}`;
