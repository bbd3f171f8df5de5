// Limits for forks.
export const forkBounds = {
  /** Smallest and largest number that a call can have; the calls of each step are numbered from 1. */
  call: { min: 1, max: 1_000_000 },
  /** Maximum number of model calls on a page of a recording. */
  calls: 200,
  /** Query cost, in points, of a field that reads a whole recording. */
  readingCost: 5_000,
  /** Maximum number of forks on the page of a run: the newest ones are listed. */
  perRun: 50,
} as const;
