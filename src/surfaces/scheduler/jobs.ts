// What happens by itself, and how often: one list. Every process may run every job at any time; a job is written so that
// doing it twice, or in two places at once, changes nothing.
import { sweepSessions } from '#domain/people/session.ts';
import { sweepSignIns } from '#domain/people/sign-in.ts';
import { hours, minutes } from '#foundation/clock.ts';
import { sweepIdempotencyKeys } from '#foundation/idempotency.ts';

export interface Job {
  name: string;
  /** Milliseconds between the end of one run and the begin of the next. */
  every: number;
  run(): Promise<unknown>;
}

export const jobs: readonly Job[] = [
  { name: 'sweep idempotency keys', every: minutes(10), run: sweepIdempotencyKeys },
  { name: 'sweep sign-in codes and links', every: minutes(10), run: sweepSignIns },
  { name: 'sweep sessions', every: hours(1), run: sweepSessions },
];
