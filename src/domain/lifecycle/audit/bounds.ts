// Limits of the audit log.
/**
 * Days for which an organization keeps its audit log. The minimum prevents an administrator from soon deleting the traces of their own
 * actions.
 */
export const retentionDays = { min: 30, max: 3_650, default: 730 } as const;

/** Characters of the address and of a credential of the destination of a log. */
export const streamBounds = { address: { min: 8, max: 500 }, secret: { min: 8, max: 500 } } as const;
