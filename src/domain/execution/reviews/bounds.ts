// Limits of reviews, in characters unless the name says otherwise.

export const reviewBounds = {
  body: { min: 0, max: 4_000 },
  comment: { min: 1, max: 4_000 },
  path: { min: 1, max: 4_096 },
  quote: { min: 0, max: 2_000 },
  /** Maximum number of comments in one review. */
  comments: 100,
  line: { min: 1, max: 10_000_000 },
  /** Maximum number of reviews of one branch. */
  perBranch: 100,
  /** Maximum length of the review text that the agent gets. */
  request: 20_000,
} as const;
