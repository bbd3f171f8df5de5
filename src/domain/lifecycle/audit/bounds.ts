// Limits of the audit log.
/** Days that an organization keeps its audit log. The minimum protects the traces of whoever may set it. */
export const retentionDays = { min: 30, max: 3_650, default: 730 } as const;
