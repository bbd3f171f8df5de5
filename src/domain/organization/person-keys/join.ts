// SQL fragments that join erasures in statements about other resource types.

/** Joins the erasure `e` of a subject; its columns are null if the subject was not erased. */
export const joinErasureSql = (orgId: string, subject: string): string =>
  `left join person_erasures e on e.org_id = ${orgId} and e.subject = ${subject}`;
