// Limits of provisioning by an identity provider (SCIM 2.0).

/** Maximum numbers of records in one organization. A user counts once in each of their groups. */
export const directoryCounts = { users: 10_000, groups: 1_000, groupMembers: 100_000 } as const;

/** Limits of texts, in characters. */
export const directoryText = {
  userName: { min: 1, max: 320 },
  externalId: { min: 1, max: 200 },
  name: { min: 1, max: 200 },
} as const;

/**
 * Maximum and default number of resources on a page. Groups include their members and are large, so a page has fewer groups. All resources
 * of a page together have at most `related` groups or members, unless the first resource alone has more.
 */
export const directoryPage = { max: 200, default: 100, groupsWithMembers: 20, related: 10_000 } as const;

/**
 * Maximum values for SCIM requests: the bytes of a body, the operations in a PATCH request, the characters of a filter or an attribute path,
 * and the comparisons in a filter.
 */
export const scimBounds = { bodyBytes: 1024 * 1024, operations: 1_000, filter: 1_000, comparisons: 20 } as const;
