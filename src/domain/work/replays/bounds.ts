// The bounds of links to missions, and of the moments that a mission can be shown at.

export const shareBounds = {
  days: { min: 1, max: 30, default: 7 },
  /** Maximum links of one run that have neither expired nor been revoked. */
  perRun: 20,
  /** Reads of all links from one network address. */
  readsPerMinute: 60,
} as const;

/** Entries of a moment: the newest ones. */
export const momentBounds = { fragments: 100, events: 500, logCharacters: 32_768 } as const;
