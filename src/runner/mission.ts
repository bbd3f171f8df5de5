// One mission, from its claim to its end: its steps, one after the other, as the platform assigns them.
import type { Claimed, Pace, RunLease, Session, Step } from './contract.ts';
import {
  type Ending,
  finishRun,
  finishSandbox,
  finishStep,
  handBackRun,
  reportSession,
} from './generated/operations.ts';
import { keepLease } from './protocol/heartbeat.ts';
import { masked } from './protocol/masked.ts';
import { type Connection, type Platform, PlatformUnreachable, RequestRejected } from './protocol/platform.ts';
import { openRunWorkspace } from './run-workspace.ts';
import { type Outcome, work } from './step.ts';
import type { RunnerCapabilities, StepContext } from './step-context.ts';
import { reportConnectionsOf, runnerStopped } from './step-setup.ts';
import { clip } from './text.ts';

/** The platform accepts at most this number of characters for the outcome of a session. */
const maxOutcomeCharacters = 100;

/**
 * Executes the steps of a claimed run and reports them. When `stopping` aborts, the run is handed back.
 * @throws the error that prevented the report of the run's end
 */
export async function executeRun(
  unmasked: Connection,
  run: Claimed,
  pace: Pace,
  capabilities: RunnerCapabilities,
  stopping: AbortSignal,
): Promise<void> {
  const lease = { runId: run.runId, leaseId: run.leaseId };
  const platform = masked(unmasked);
  if (platform.via.secret) platform.conceal([platform.via.secret]);
  const workspace = openRunWorkspace(platform, capabilities, lease, run, pace);
  try {
    for (let step: Step | null = run.step; step; ) {
      platform.conceal(step.environment.secrets.map(({ value }) => value));
      const context = await keepLease(platform, lease, pace, workspace.prepare(step, run.maxTurns));
      try {
        const done = await work(platform, run, step, context, pace, stopping);
        await reportConnectionsOf(platform, lease, context);
        if (done.failure === runnerStopped) {
          await platform.mutate(handBackRun, { ...lease, reason: 'the runner is shutting down' });
          return;
        }
        step = await finish(platform, lease, step, context, done);
      } finally {
        await context.clear();
      }
    }
  } catch (error) {
    // Reports nothing further, because another runtime holds the run or will hold it after the lease has expired.
    if (error instanceof PlatformUnreachable || (error instanceof RequestRejected && error.code === 'lease_lost'))
      throw error;
    const why = clip(`The runner failed: ${(error as Error).message}`, 2_000);
    await platform.mutate(finishRun, { ...lease, status: 'failed', error: why });
  } finally {
    await workspace.close();
  }
}

/**
 * Reports the end of a step. After the last step, also reports the end of the run. @returns the next step for this runner; null if it has
 * none
 */
async function finish(
  platform: Platform,
  lease: RunLease,
  { stepId }: Step,
  { attest }: StepContext,
  { session, failure, output, sessionId, turns }: Outcome & { session: Session },
): Promise<Step | null> {
  const status: Ending = failure ? 'failed' : 'completed';
  const { sandboxId, leaseId } = session;
  // The outcome is shortened, so the last lines of output of a failed setup or service are only in the error of the step.
  const outcome = clip(failure || status, maxOutcomeCharacters);
  await platform.mutate(reportSession, { ...session, outcome });
  await platform.mutate(finishSandbox, { sandboxId, leaseId, status, terminationReason: outcome });
  const report = { ...lease, stepId, status, output, sessionId, turns, ...(failure && { error: failure }) };
  const next = await platform.mutate(finishStep, report);
  // If this runner gets no next step although the run is not done, its lease has ended: the run waits, or continues on another runtime.
  if (next.outcome !== 'done') return next.step;
  await attest();
  const why = failure || next.failure;
  await platform.mutate(finishRun, { ...lease, status: why ? 'failed' : 'completed', ...(why && { error: why }) });
  return null;
}
