// One mission, from its claim to its end: its steps, one after the other, as the platform says.
import type { Claimed, Held, Pace, Session, Step } from './contract.ts';
import { keepLease } from './protocol/heartbeat.ts';
import { type Platform, PlatformUnreachable, RequestRejected } from './protocol/platform.ts';
import { type Equipment, openWorkshop } from './run-workspace.ts';
import { left, type Outcome, work } from './step.ts';
import { clip } from './text.ts';

const stepFields = `{ stepId prompt outputSchema resumeSessionId resumePrompt preamble checkpoint { commitSha url } agent { name role harness model effort userPrompt skillRepos } }`;

export const claimed = `{ runId leaseId missionTitle instanceType memoryMb stepTimeoutMs maxTurns step ${stepFields} }`;

interface Next {
  outcome: 'next' | 'waiting' | 'handed_back' | 'done';
  step: Step | null;
  failure: string | null;
}

/**
 * Does what was claimed, and reports it. When `leaving` aborts, the run is handed back.
 * @throws what kept it from reporting how the run ended
 */
export async function carryOut(
  platform: Platform,
  run: Claimed,
  pace: Pace,
  equipment: Equipment,
  leaving: AbortSignal,
): Promise<void> {
  const held = { runId: run.runId, leaseId: run.leaseId };
  const workshop = openWorkshop(platform, equipment, held, run.memoryMb, pace.grace);
  try {
    for (let step: Step | null = run.step; step; ) {
      const bench = await keepLease(platform, held, pace, workshop.prepare(step, run.maxTurns));
      try {
        const done = await work(platform, run, step, bench, pace, leaving);
        if (done.failure === left) {
          await platform.say('handBackRun', { ...held, reason: 'the runner is shutting down' });
          return;
        }
        step = await finish(platform, held, step, done);
      } finally {
        await bench.clear();
      }
    }
  } catch (error) {
    // Another runtime holds the run, or will after the lease has expired: nothing more is reported.
    if (error instanceof PlatformUnreachable || (error instanceof RequestRejected && error.code === 'lease_lost'))
      throw error;
    const why = clip(`The runner failed: ${(error as Error).message}`, 2_000);
    await platform.say('finishRun', { ...held, status: 'failed', error: why });
  } finally {
    await workshop.close();
  }
}

/** Reports the end of a step, and of the run when it was the last one. @returns the next step of this runner */
async function finish(
  platform: Platform,
  held: Held,
  { stepId }: Step,
  { session, failure, output, sessionId, turns }: Outcome & { session: Session },
): Promise<Step | null> {
  const status = failure ? 'failed' : 'completed';
  const { sandboxId, leaseId } = session;
  await platform.say('reportSession', { ...session, outcome: failure || status });
  await platform.say('finishSandbox', { sandboxId, leaseId, status, terminationReason: failure || status });
  const report = { ...held, stepId, status, output, sessionId, turns, ...(failure && { error: failure }) };
  const fields = `{ outcome failure step ${stepFields} }`;
  const next = await platform.say<Next>('finishStep', report, fields);
  // A step whose run waits, or is for another runtime, ends the lease.
  if (next.outcome !== 'done') return next.step;
  const why = failure || next.failure;
  await platform.say('finishRun', { ...held, status: why ? 'failed' : 'completed', ...(why && { error: why }) });
  return null;
}
