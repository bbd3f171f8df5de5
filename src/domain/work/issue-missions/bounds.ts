// Limits for missions on issues.

/** Maximum issues on which one call starts missions. */
export const maxIssuesAtOnce = 50;
