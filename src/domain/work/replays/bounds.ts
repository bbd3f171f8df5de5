// Limits for share links to missions, and for replays.

export const shareBounds = {
  days: { min: 1, max: 30, default: 7 },
  /** Maximum number of active links of one run: links that have neither expired nor been revoked. */
  perRun: 20,
  /** Maximum number of reads of links per minute from one network address. */
  readsPerMinute: 60,
} as const;

/**
 * Maximum numbers. `fragments` and `logCharacters` limit the state of a run at a given time, which includes the newest fragments and the
 * end of the log. `events` limits the list of a run's events, which includes the newest events.
 */
export const momentBounds = { fragments: 100, events: 500, logCharacters: 32_768 } as const;
