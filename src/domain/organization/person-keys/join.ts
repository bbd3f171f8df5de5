// SQL fragment for queries of other record types that also read whether a person was erased.

/** Joins the erasure `e` of a subject; its columns are null if the subject was not erased. */
export const joinErasureSql = (orgId: string, subject: string): string =>
  `left join person_erasures e on e.org_id = ${orgId} and e.subject = ${subject}`;
