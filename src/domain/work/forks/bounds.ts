// Bounds of forks.
export const forkBounds = {
  /** Number of a call in its step. */
  call: { min: 1, max: 1_000_000 },
  /** Calls of models on a page of a recording. */
  calls: 200,
  /** Forks of a run that its page lists: the newest ones. */
  perRun: 50,
} as const;
