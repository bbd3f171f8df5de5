// Limits of one call of an agent-to-agent client (limits.ts has the limits of the runs that a call starts).
import { seconds } from '#foundation/clock.ts';

/**
 * Maximum number of parts of a message, maximum length of client ids, maximum wait of a call for the end of its task, and number of tasks
 * per page.
 */
export const a2a = {
  parts: 20,
  id: { min: 1, max: 200 },
  blockingMs: seconds(50),
  pageSize: { min: 1, max: 100, default: 50 },
} as const;

/** Maximum number of characters of the URL of a push notification, and of a secret sent with it. */
export const a2aPush = { url: { min: 1, max: 2_000 }, secret: { min: 1, max: 4_000 } } as const;
