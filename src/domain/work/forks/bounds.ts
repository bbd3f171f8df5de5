// Bounds of forks.
export const forkBounds = {
  /** Number of a call in its step. */
  call: { min: 1, max: 1_000_000 },
  /** Calls of models on a page of a recording. */
  calls: 200,
  /** Points of a field that reads a whole recording. */
  readingCost: 5_000,
  /** Forks of a run that its page lists: the newest ones. */
  perRun: 50,
} as const;
