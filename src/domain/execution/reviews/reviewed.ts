// An SQL condition about reviews, for statements about other resource types.

/** SQL condition: a person has approved or rejected the newest commit of a run. @param run The alias of the `runs` table in the statement */
export const isReviewedSql = (
  run: string,
): string => `exists (select from reviews v where v.project_id = ${run}.project_id collate "C"
  and v.branch = ${run}.branch and v.head_sha = ${run}.head_sha and v.verdict in ('approve', 'request_changes'))`;
