// Figures that remain of a run without details.

/** Figures that remain of a run whose details were deleted after the retention period of its organization. */
export interface KeptFigures {
  deletedAt: number;
  /** Days from the end of the run after which details were deleted. */
  retentionDays: number;
  steps: number;
  /** Messages and answers of people. */
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
