// Limits for missions on issues.

/** Maximum number of issues on which one call starts missions. */
export const maxIssuesAtOnce = 50;
