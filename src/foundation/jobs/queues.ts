// The queues of background jobs. Each is created by a migration.
import { hours, minutes, seconds } from '../clock.ts';

/**
 * Number of retries, delay before the first retry (doubled each time, with jitter), and the time after which a worker counts as lost, which
 * is longer than any job takes.
 */
export const queues = {
  mail: { retries: 12, delayMs: seconds(15), timeoutMs: minutes(2) },
  'finish issue': { retries: 12, delayMs: seconds(15), timeoutMs: minutes(2) },
  'answer event': { retries: 12, delayMs: seconds(5), timeoutMs: minutes(2) },
  'commit status': { retries: 8, delayMs: seconds(15), timeoutMs: minutes(2) },
  attest: { retries: 8, delayMs: seconds(5), timeoutMs: minutes(2) },
  'commit effects': { retries: 12, delayMs: seconds(5), timeoutMs: minutes(7) },
  attempts: { retries: 12, delayMs: seconds(15), timeoutMs: minutes(5) },
  'host review': { retries: 8, delayMs: seconds(15), timeoutMs: minutes(2) },
  'host thread': { retries: 8, delayMs: seconds(15), timeoutMs: minutes(2) },
  'resolved comments': { retries: 5, delayMs: seconds(5), timeoutMs: minutes(2) },
  reaction: { retries: 5, delayMs: seconds(5), timeoutMs: minutes(2) },
  'a2a push': { retries: 12, delayMs: seconds(15), timeoutMs: minutes(2) },
  'inbound event': { retries: 12, delayMs: seconds(15), timeoutMs: minutes(2) },
  'session event': { retries: 12, delayMs: seconds(5), timeoutMs: minutes(2) },
  'chat event': { retries: 12, delayMs: seconds(5), timeoutMs: minutes(2) },
  'chat reply': { retries: 8, delayMs: seconds(5), timeoutMs: minutes(2) },
  'chat thread': { retries: 12, delayMs: seconds(5), timeoutMs: minutes(2) },
  // A delivery that fails is tried again by the next job of its organization.
  'audit stream': { retries: 1, delayMs: minutes(2), timeoutMs: minutes(3) },
  'export organization': { retries: 12, delayMs: seconds(15), timeoutMs: hours(1) },
} as const;
export type Queue = keyof typeof queues;
