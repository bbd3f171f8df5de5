// The pause between two claims: a runner with more free slots claims sooner, so that missions are distributed by the number of free slots.

/** Pause after a successful claim of a runner that has one free slot. The pause is long enough for another runner to claim the next run. */
const spreadMs = 100;

/** Milliseconds until the next claim. */
export const pauseBeforeClaim = (pollMs: number, used: number, places: number, hasClaimed: boolean): number =>
  Math.round(hasClaimed ? Math.min(pollMs, spreadMs) / Math.max(1, places - used) : pollMs * (1 + used / places));
