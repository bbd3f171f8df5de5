// The bounds of preparations.

/** Bounds of preparations: `key` and `lastLines` in characters; `perRun` is the maximum number per run. */
export const preparationBounds = {
  key: { min: 1, max: 200 },
  lastLines: { max: 8_000 },
  perRun: 50,
  seconds: 1e7,
  bytes: 1e15,
} as const;
