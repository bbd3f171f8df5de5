// Limits for attempts at one task.

export const attemptBounds = {
  perTask: { min: 2, max: 8 },
  /** Maximum number of files of a change that are compared. */
  paths: 1_000,
} as const;
