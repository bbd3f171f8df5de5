// The bounds of preparations.

/** Characters of the runtime's key and of the last lines of the log; preparations of one run; seconds; bytes. */
export const preparationBounds = {
  key: { min: 1, max: 200 },
  lastLines: { max: 8_000 },
  perRun: 50,
  seconds: 1e7,
  bytes: 1e15,
} as const;
