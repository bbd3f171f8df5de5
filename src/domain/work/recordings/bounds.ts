// Limits for recordings, which src/runner/protocol/recorder.ts keeps to.

export const recordingBounds = {
  /** Number of days for which a recording is kept. */
  days: { min: 1, max: 365, default: 30 },
  /** Maximum size of the lines in one part of a recording, in bytes. */
  partBytes: 48 * 1024 * 1024,
  /** Bytes by which a stored part may exceed its lines: encryption adds 28, and Brotli up to 4 in each 16 KiB that it cannot compress. */
  overheadBytes: 16 * 1024,
  /** Maximum bytes of the lines of one run. */
  runBytes: 256 * 1024 * 1024,
  partsPerRun: 5_000,
} as const;
