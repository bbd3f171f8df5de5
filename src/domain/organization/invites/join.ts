// SQL fragments that read invites in statements about other resource types.

/** SQL condition: the organization has an invite to the email address, with any status. */
export const hasInviteSql = (orgId: string, email: string): string =>
  `exists (select 1 from invites where org_id = ${orgId} and email = ${email})`;
