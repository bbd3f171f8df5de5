// The bounds of webhooks.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Bounds of texts, in characters. */
export const webhookText = { name: { min: 1, max: 120 }, url: { min: 1, max: 2_000 } } as const;

/**
 * Maximum endpoints per organization, projects per endpoint, and waiting deliveries per endpoint; further events stay in the log until some
 * were sent.
 */
export const webhookCounts = { endpoints: 20, projects: 50, waiting: 1_000 } as const;

/** Time limit for the response of a receiver, and maximum length of the part that is stored. */
export const answerBounds = { timeoutMs: seconds(15), bytes: 4_096 } as const;

/** Duration of the lease of a worker on an endpoint: longer than an attempt and the recording of its result. */
export const leaseMs = answerBounds.timeoutMs + seconds(15);

/** Delays after each failed attempt, the schedule of Standard Webhooks: 75 hours in all. After the last one a delivery has failed. */
export const retryDelaysMs: readonly number[] = [
  ...[seconds(5), minutes(5), minutes(30), hours(2), hours(5)],
  ...[hours(10), hours(14), hours(20), hours(24)],
];

/** Time after which an endpoint that fails constantly is disabled. */
export const maxFailingMs = days(5);
export const webhookRetentionMs = days(30);
/** How long messages are also signed with the previous secret after it was replaced. */
export const secretOverlapMs = hours(24);
