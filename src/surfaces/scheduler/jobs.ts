// What happens by itself, and how often: one list. Every process may run every job at any time; a job is written so that
// doing it twice, or in two places at once, changes nothing.
import { sweepAgentIdentities } from '#domain/agent-identities/sweep.ts';
import { deleteStaleHarnesses } from '#domain/agents/runtime-harnesses.ts';
import { sweepArtifacts } from '#domain/artifacts/content.ts';
import { expireEnvironments } from '#domain/environments/operations.ts';
import { sweepOAuth } from '#domain/oauth/sweep.ts';
import { sweepSignIns } from '#domain/people/sign-in-codes.ts';
import { dispatchDue } from '#domain/recurring/dispatch.ts';
import { explainWaits, failOverdueRuns, releaseSilentRuns } from '#domain/runs/waiting.ts';
import { endOverdueSandboxes } from '#domain/sandboxes/end.ts';
import { keepMetricPartitions } from '#domain/sandboxes/metric-partitions.ts';
import { sweepSessions } from '#domain/sessions/operations.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { sweepIdempotencyKeys } from '#foundation/idempotency.ts';
import { sweepThrottleCounts } from '#foundation/throttle.ts';

export interface Job {
  name: string;
  /** Milliseconds between the end of one run and the begin of the next. */
  every: number;
  run(): Promise<unknown>;
}

export const jobs: readonly Job[] = [
  { name: 'run what is due', every: 500, run: dispatchDue },
  { name: 'take back runs of silent runtimes', every: seconds(5), run: releaseSilentRuns },
  { name: 'end sandboxes that are out of time', every: seconds(10), run: endOverdueSandboxes },
  { name: 'say what runs wait for', every: seconds(2), run: explainWaits },
  { name: 'fail runs that nothing took', every: minutes(1), run: failOverdueRuns },
  { name: 'forget runtimes that are gone', every: hours(1), run: deleteStaleHarnesses },
  { name: 'take down environments that have expired', every: minutes(1), run: expireEnvironments },
  { name: 'sweep idempotency keys', every: minutes(10), run: sweepIdempotencyKeys },
  { name: 'sweep throttle counts', every: minutes(10), run: sweepThrottleCounts },
  { name: 'sweep sign-in codes and links', every: minutes(10), run: sweepSignIns },
  { name: 'sweep sessions', every: hours(1), run: sweepSessions },
  { name: 'sweep OAuth codes, tokens, keys and clients', every: hours(1), run: sweepOAuth },
  { name: 'sweep unclaimed agents', every: hours(1), run: sweepAgentIdentities },
  { name: 'sweep artifacts and their contents', every: hours(1), run: sweepArtifacts },
  { name: 'make and drop partitions of sandbox metrics', every: minutes(10), run: keepMetricPartitions },
];
