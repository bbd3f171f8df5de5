// The bounds of provisioning by an identity provider (SCIM 2.0).

/** Maximum records of one organization; a user is counted in each of their groups. */
export const directoryCounts = { users: 10_000, groups: 1_000, groupMembers: 100_000 } as const;

/** Bounds of texts, in characters. */
export const directoryText = {
  userName: { min: 1, max: 320 },
  externalId: { min: 1, max: 200 },
  name: { min: 1, max: 200 },
} as const;

/**
 * Maximum resources on a page, and default; groups with their members are large, so that a page has fewer. A page ends before the resource
 * with which it would have more than `related` groups or members, unless that resource is the first of the page.
 */
export const directoryPage = { max: 200, default: 100, groupsWithMembers: 20, related: 10_000 } as const;

/** Maximum size of a body in bytes, operations of a PATCH, characters and comparisons of a filter. */
export const scimBounds = { bodyBytes: 1024 * 1024, operations: 1_000, filter: 1_000, comparisons: 20 } as const;
