// SQL fragments that join erasures in statements of other nouns.

/** Joins the erasure `e` of a subject; its columns are null without one. */
export const joinErasureSql = (orgId: string, subject: string): string =>
  `left join person_erasures e on e.org_id = ${orgId} and e.subject = ${subject}`;
