// Limits for issues of the built-in tracker.

/** Minimum and maximum lengths of texts, in characters. */
export const issueText = {
  title: { min: 1, max: 200 },
  body: { max: 20_000 },
  comment: { min: 1, max: 8_000 },
} as const;

/** Maximum number of labels, and of comments, of an issue. */
export const issueCounts = { labels: 20, comments: 500 } as const;
