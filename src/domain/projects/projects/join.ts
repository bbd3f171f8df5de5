// SQL fragment that joins a project in statements of other modules.

/** SQL that joins the project `project` whose id is in `column`; its columns are null without a match. */
export const joinProjectSql = (column: string): string => `left join projects project on project.id = ${column}`;
