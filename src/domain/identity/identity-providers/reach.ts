// SQL conditions about sessions and the organizations that they reach: a session that a provider has opened reaches only the provider's
// organization, and an organization that requires a provider is reached only by sessions that this provider has opened
// (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).

/**
 * SQL condition on a row of `memberships`: the session `s` of the person `p` reaches the organization of the membership.
 * @param at The present time
 */
export const isReachedSql = (
  at: string,
): string => `coalesce(not s.org_only or memberships.org_id = s.sso_org_id, false)
  and (coalesce(memberships.org_id = s.sso_org_id and s.sso_until > ${at}, false) or not exists (
    select 1 from sign_in_domains d
    where d.org_id = memberships.org_id and d.domain = split_part(p.email, '@', 2) and d.required))`;
