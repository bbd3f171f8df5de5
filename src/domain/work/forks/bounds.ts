// Limits for forks.
export const forkBounds = {
  /** Smallest and largest number of a call in its step. */
  call: { min: 1, max: 1_000_000 },
  /** Maximum model calls on a page of a recording. */
  calls: 200,
  /** Query cost, in points, of a field that reads a whole recording. */
  readingCost: 5_000,
  /** Maximum forks that the page of a run lists: the newest ones. */
  perRun: 50,
} as const;
