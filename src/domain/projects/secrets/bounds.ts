// Limits for secrets and variables.

/** Minimum and maximum length of a value, in characters. Masking a shorter secret would also hide ordinary text. */
export const secretValue = { min: 1, max: 16_384, shortestSecret: 8 } as const;

/** Maximums: hosts per secret, and secrets and variables per scope. */
export const secretCounts = { hosts: 20, perScope: 100 } as const;
