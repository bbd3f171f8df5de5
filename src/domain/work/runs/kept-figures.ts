// Defines the figures that a run keeps when its details are deleted.

/** Figures that remain of a run whose details were deleted after the retention period of its organization. */
export interface KeptFigures {
  deletedAt: number;
  /** Number of days for which the details were kept, counted from the end of the run. */
  retentionDays: number;
  steps: number;
  /** Number of messages and answers that people sent to the agents of the run. */
  messages: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /** Verdict of the latest review by an agent; null without one. */
  review: 'approve' | 'request_changes' | null;
  /** Whether the latest test by an agent has passed; null without one. */
  isTestPassed: boolean | null;
}
