// The beginning of a step: the runner prepares the environment of the step, and renews the lease of the run meanwhile. Network connections
// of the step are reported when the preparation has succeeded, and repeatedly after that.
import { randomUUID } from 'node:crypto';
import type { Pace, RunLease } from './contract.ts';
import { reportConnections } from './generated/operations.ts';
import { keepLease } from './protocol/heartbeat.ts';
import type { Journal } from './protocol/journal.ts';
import type { Platform } from './protocol/platform.ts';
import type { StepContext } from './step-context.ts';

/** Outcome of a step when the runner shuts down. */
export const runnerStopped = 'runner stopped';

/** Maximum number of connections per report: the platform accepts 200. */
const connectionsAtOnce = 200;

/**
 * Prepares the environment of a step. @returns the reason if the step cannot begin; its journal is then already closed. Empty if the step
 * can begin
 */
export async function setUpStep(
  platform: Platform,
  lease: RunLease,
  context: StepContext,
  journal: Journal,
  pace: Pace,
  stopping: AbortSignal,
): Promise<string> {
  const ended = new AbortController();
  const report = { log: journal.log, signal: AbortSignal.any([stopping, ended.signal]) };
  const setUp = async () => {
    try {
      const failure = await keepLease(platform, lease, pace, context.setUp(report));
      return stopping.aborted ? runnerStopped : failure;
    } catch (error) {
      // The lease says `stopped` when a person has canceled the run.
      if ((error as Error).message === 'stopped') return 'stopped';
      throw error;
    } finally {
      ended.abort();
    }
  };
  const failure = stopping.aborted ? runnerStopped : await setUp();
  if (failure) await journal.close();
  else await reportConnectionsOf(platform, lease, context);
  return failure;
}

/** Reports the connections since the last report. */
export async function reportConnectionsOf(
  platform: Platform,
  lease: RunLease,
  { connections: counter }: StepContext,
): Promise<void> {
  const counted = counter.take();
  for (let at = 0; at < counted.length; at += connectionsAtOnce) {
    const connections = counted.slice(at, at + connectionsAtOnce);
    await platform.mutate(reportConnections, { ...lease, reportId: randomUUID(), connections });
  }
}
