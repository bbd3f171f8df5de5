// Organization roles, from most to least, and what a person may do with them (design decisions; specification OrgRole).

export const orgRoles = ['owner', 'admin', 'member', 'viewer'] as const;
export type OrgRole = (typeof orgRoles)[number];

const rank: Record<OrgRole, number> = { owner: 3, admin: 2, member: 1, viewer: 0 };

/** Whether `role` is `least` or more. */
export const isAtLeast = (role: OrgRole, least: OrgRole): boolean => rank[role] >= rank[least];
