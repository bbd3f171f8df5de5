// Limits for agent versions.

/** Maximum length of a version's note, in characters. */
export const versionNote = { min: 1, max: 500 } as const;

/** Number of versions that are kept of each agent: the newest ones. */
export const versionsKept = 1_000;

/** Smallest and largest share of a trial: the percentage of an agent's missions that use the version on trial. */
export const trialPercent = { min: 1, max: 99 } as const;
