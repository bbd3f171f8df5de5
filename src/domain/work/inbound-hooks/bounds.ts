// Limits for inbound events.
import { days } from '#foundation/clock.ts';

/** Minimum and maximum lengths of texts, in characters. */
export const inboundText = {
  hookName: { min: 1, max: 120 },
  header: { min: 1, max: 100 },
  secret: { min: 16, max: 200 },
  word: { min: 1, max: 100 },
  expression: { min: 1, max: 500 },
  template: { min: 1, max: 4_000 },
} as const;

/** Maximum number of hooks per organization, and of event triggers per scheduled task or automation. */
export const inboundCounts = { hooks: 50, triggers: 10 } as const;
/** Maximum number of deliveries in a preview, and the number of newest deliveries that are searched. */
export const inboundPreview = { deliveries: 5, searched: 1_000 } as const;

/**
 * Maximum size of an event's body, and maximum levels of arrays and objects in it. The signature of a larger body is verified up to
 * `verifiedBytes`, the most that GitHub sends, so that the event is listed with the reason why it was refused.
 */
export const inboundPayload = { bytes: 1024 * 1024, verifiedBytes: 25 * 1024 * 1024, depth: 64 } as const;

/** Maximum number of missions that one rule starts on one issue or pull request within a day; further events wait for an approval. */
export const startsOfIssue = { starts: 10, withinMs: days(1) } as const;
export const eventsPerMinute = 1_200;
export const deliveryRetentionMs = days(30);
