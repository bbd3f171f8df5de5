// SQL fragments for queries of other record types that also read columns of `people`.

/** Joins the person `p` whose id is in `column`, unless the account is disabled. */
export const joinEnabledPersonSql = (column: string): string =>
  `join people p on p.id = ${column} and p.disabled_at is null`;

/** Joins the person `p` whose id is in `column`; its columns are null without a match. */
export const joinPersonSql = (column: string): string => `left join people p on p.id = ${column}`;
