// The bounds of agents' versions.

/** Length of the note of a version, in characters. */
export const versionNote = { min: 1, max: 500 } as const;

/** Number of the newest versions that are kept of each agent. */
export const versionsKept = 1_000;

/** Bounds of a trial: the percentage of an agent's missions that use another version. */
export const trialPercent = { min: 1, max: 99 } as const;
