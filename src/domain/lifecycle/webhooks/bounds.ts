// Limits of webhooks.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Limits of texts, in characters. */
export const webhookText = { name: { min: 1, max: 120 }, url: { min: 1, max: 2_000 } } as const;

/**
 * Maximum number of endpoints per organization, projects per endpoint, and waiting deliveries per endpoint. Further events stay in the log
 * until waiting deliveries have been sent.
 */
export const webhookCounts = { endpoints: 20, projects: 50, waiting: 1_000 } as const;

/** Time limit for a receiver's response, and maximum length of the stored part. */
export const answerBounds = { timeoutMs: seconds(15), bytes: 4_096 } as const;

/** Duration of a worker's lease on an endpoint; longer than an attempt and the recording of its result. */
export const leaseMs = answerBounds.timeoutMs + seconds(15);

/**
 * Delays after failed attempts, as recommended by Standard Webhooks: 75 hours in total. When the attempt after the last delay fails, the
 * delivery has failed.
 */
export const retryDelaysMs: readonly number[] = [
  ...[seconds(5), minutes(5), minutes(30), hours(2), hours(5)],
  ...[hours(10), hours(14), hours(20), hours(24)],
];

/** An endpoint is disabled when all deliveries to it have failed for this long. */
export const maxFailingMs = days(5);
export const webhookRetentionMs = days(30);
/** After the secret of an endpoint is replaced, messages are signed with both the new and the previous secret for this long. */
export const secretOverlapMs = hours(24);
