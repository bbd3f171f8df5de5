// The bounds of secrets and variables.

/** Characters of a value. A shorter secret could not be told from other text where it is masked. */
export const secretValue = { min: 1, max: 16_384, shortestSecret: 8 } as const;

/** Hosts of one secret, and secrets and variables of one scope. */
export const secretCounts = { hosts: 20, perScope: 100 } as const;
