// Organization roles, from highest to lowest (docs/contract.md#members).

export const orgRoles = ['owner', 'admin', 'member', 'viewer'] as const;
export type OrgRole = (typeof orgRoles)[number];

const rank: Record<OrgRole, number> = { owner: 3, admin: 2, member: 1, viewer: 0 };

/** Whether `role` is `least` or a higher one. */
export const isAtLeast = (role: OrgRole, least: OrgRole): boolean => rank[role] >= rank[least];
