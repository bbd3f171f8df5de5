// The SQL fragment with which another noun's statement reads an organization.

/** Joins the organization `o` whose id is in `column`; its columns are null when there is none. */
export const joinOrganizationSql = (column: string): string => `left join organizations o on o.id = ${column}`;
