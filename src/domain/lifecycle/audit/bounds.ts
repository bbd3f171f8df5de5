// Limits of the audit log.
/**
 * Limits of the retention of an organization's audit log, in days. The minimum prevents administrators from quickly deleting the traces of
 * their own actions.
 */
export const retentionDays = { min: 30, max: 3_650, default: 730 } as const;

/** Maximum length of a destination's URL and of each of its credentials, in characters. */
export const streamBounds = { address: { min: 8, max: 500 }, secret: { min: 8, max: 500 } } as const;
