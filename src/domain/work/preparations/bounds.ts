// Limits for preparations.

/**
 * Bounds of preparations. The bounds of `key`, `lastLines` and `note` are lengths in characters. `perRun` is the maximum number of preparations of a
 * run, `notes` the maximum number of notes.
 */
export const preparationBounds = {
  key: { min: 1, max: 200 },
  lastLines: { max: 8_000 },
  note: { min: 1, max: 1_000 },
  notes: 20,
  perRun: 50,
  seconds: 1e7,
  bytes: 1e15,
} as const;
