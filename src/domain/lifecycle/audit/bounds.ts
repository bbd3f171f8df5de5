// Limits of the audit log.
/**
 * Days for which an organization keeps its audit log. The minimum prevents an administrator from soon deleting the traces of their own
 * actions.
 */
export const retentionDays = { min: 30, max: 3_650, default: 730 } as const;

/** Maximum characters of a destination's address, and of each of its credentials. */
export const streamBounds = { address: { min: 8, max: 500 }, secret: { min: 8, max: 500 } } as const;
