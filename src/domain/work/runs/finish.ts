// Ends a run and its running sandboxes when a runtime finishes the run or hands it back, or when the run is canceled.

import { raw } from 'objection';
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import type { Key, Patch } from '#foundation/postgres/base-model.ts';
import { announce } from '#foundation/postgres/changes.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { lease } from '#limits.ts';
import { rejectEffectsOf } from '../../projects/effects/staging.ts';
import { endSandboxesOf } from '../sandboxes/end.ts';
import { enqueueAnswer } from './answers.ts';
import { findReportedRun, leaseIsLost, serviceReach } from './lock.ts';
import { Run } from './model.ts';
import { recordEnds } from './spans.ts';
import { heldStates, isOpen, moveRuns, openStates, type RunState } from './states.ts';
import { endStepsOf, leaveStepOf } from './steps.ts';

interface RunOutcome {
  status: 'completed' | 'failed';
  error?: string | null | undefined;
  /** Whether the runtime knows that costs are missing from the sum. */
  costIncomplete?: boolean | undefined;
  /** Reason for the failure, worded by the platform. */
  reason?: string | null;
}

export interface FinishedRun extends RunOutcome {
  runId: string;
  leaseId: string;
}

/** Ends a run with the outcome that its runtime reports. A repeated report changes nothing. @throws 404, or 409 `lease_lost` */
export async function finishReportedRun(trx: Transaction, caller: Caller, report: FinishedRun): Promise<void> {
  const { runId, leaseId, status, error, costIncomplete } = report;
  const reported = await findReportedRun(trx, caller, runId);
  // A failure of the steps takes precedence over the status that the runtime reports.
  const failure = reported?.failure;
  // If the run has reached a limit, the response to a heartbeat tells the runtime to stop, and the runtime reports this stop as a failure.
  // Such a run does not fail, but waits for a higher limit.
  const isPaused = status === 'failed' && !failure && reported?.leaseId === leaseId && reported.pausesAt !== null;
  if (isPaused && isOpen(reported)) return pauseRun(trx, reported);
  const outcome = failure
    ? { status: 'failed' as const, error: error ?? failure, costIncomplete, reason: failure }
    : { status, error, costIncomplete };
  if (await finishRun(trx, { id: runId, leaseId, ...serviceReach(caller) }, outcome)) return;
  const run = (await findReportedRun(trx, caller, runId)) ?? Run.refuse();
  if (run.leaseId !== leaseId || ![outcome.status, 'canceled'].includes(run.status)) throw leaseIsLost();
}

/** Ends the run that has the id and the lease in `held`. Returns false if no run in one of the `heldStates` has this id and this lease. */
async function finishRun(
  trx: Transaction,
  held: Key<Run>,
  { status, error, costIncomplete, reason = null }: RunOutcome,
): Promise<boolean> {
  const changes = {
    finishedAt: now(),
    leaseUntil: null,
    silentSince: null,
    interruptedAt: null,
    reason,
    lastError: error ?? null,
    ...(status === 'completed' && { missionProgress: 100 }),
    ...(costIncomplete && { missionCostIncomplete: true }),
  };
  const [finished] = await moveRuns(trx, status, held, changes, heldStates);
  if (!finished) return false;
  const { id, leaseId } = finished;
  recordEnds(trx, [id]);
  const sandboxIds = await endSandboxesOf(trx, 'leaseId', [leaseId!], {
    status,
    terminationReason: 'the run has ended',
  });
  await endStepsOf(trx, [id], status, error);
  await enqueue(trx, 'finish issue', { runId: id });
  if (finished.originNumber !== null) await enqueue(trx, 'answer event', { runId: id });
  if (finished.headSha !== null) {
    await enqueue(trx, 'commit status', { runId: id });
    await enqueue(trx, 'attest', { runId: id });
  }
  await announce(trx, id, ...sandboxIds);
  return true;
}

/**
 * Ends the lease, so that another runtime can claim the run after a short pause. The caller has locked the run. Nothing happens when the
 * run has another lease.
 */
export async function handBackRun(
  trx: Transaction,
  { id, leaseId }: { id: string; leaseId: string },
  reason: string,
): Promise<void> {
  const at = now();
  const changes = {
    leaseId: null,
    claimedBy: null,
    leaseUntil: at + lease.restMs,
    silentSince: null,
    waitingSince: at,
    pausesAt: null,
    missionProgress: null,
    missionActivity: `Handed back: ${reason}`,
    // Every claim increments `claims`, which must count only the claims whose runtime was lost. This claim ends in another way, so it is
    // subtracted.
    claims: raw('claims - 1'),
  };
  const handedBack = await moveRuns(trx, 'waitingForRuntime', { id }, changes, heldStates);
  if (handedBack.length === 0) return;
  await leaveStepOf(trx, id);
  const end = { status: 'failed', terminationReason: 'handed back' } as const;
  await announce(trx, id, ...(await endSandboxesOf(trx, 'leaseId', [leaseId], end)));
}

/**
 * Ends the lease of a run between two steps, and completes the sandboxes of the lease. Afterwards, the run waits for another runtime or for a person.
 * The caller has locked the run, whose lease is valid.
 */
export async function releaseRun(
  trx: Transaction,
  { id, leaseId }: { id: Run['id']; leaseId: string },
  changes: Patch<Run>,
): Promise<void> {
  const released = {
    leaseId: null,
    claimedBy: null,
    leaseUntil: null,
    silentSince: null,
    pausesAt: null,
    waitingSince: now(),
    claims: 0,
  };
  await moveRuns(trx, 'waitingForRuntime', { id }, { ...released, ...changes }, heldStates);
  const end = { status: 'completed', terminationReason: 'the step has ended' } as const;
  await announce(trx, id, ...(await endSandboxesOf(trx, 'leaseId', [leaseId], end)));
}

/** Ends the lease of a parked run, whose step waits until the limit is raised. */
export async function pauseRun(
  trx: Transaction,
  { id, leaseId, parkedReason }: Pick<Run, 'id' | 'leaseId' | 'parkedReason'>,
): Promise<void> {
  await leaveStepOf(trx, id);
  await releaseRun(
    trx,
    { id, leaseId: leaseId! },
    { reason: parkedReason, missionProgress: null, missionActivity: null },
  );
}

/** Cancels the runs that match and are in one of these states, and returns their number. Their runtimes stop at their next heartbeat. */
export async function cancelRuns(
  trx: Transaction,
  where: Key<Run>,
  reason: string,
  from: readonly RunState[] = openStates,
): Promise<number> {
  const changes = { reason, finishedAt: now(), leaseUntil: null, awaitsApproval: false, interruptedAt: null };
  const canceled = await moveRuns(trx, 'canceled', where, changes, from);
  const ids = canceled.map(({ id }) => id);
  recordEnds(trx, ids);
  for (const run of canceled) {
    if (run.headSha !== null) {
      await enqueue(trx, 'commit status', { runId: run.id });
      await enqueue(trx, 'attest', { runId: run.id });
    }
    await enqueueAnswer(trx, run);
  }
  await endStepsOf(trx, ids, 'canceled');
  await rejectEffectsOf(trx, ids);
  const end = { status: 'destroyed', terminationReason: 'canceled' } as const;
  await announce(trx, ...ids, ...(await endSandboxesOf(trx, 'runId', ids, end)));
  return ids.length;
}

type Failed = Pick<Run, 'id' | 'issueId'>;

/** Announces failed runs, and queues the report to their trackers. */
export async function announceFailed(trx: Transaction, failed: readonly Failed[]): Promise<void> {
  for (const { id, issueId } of failed) {
    if (issueId) await enqueue(trx, 'finish issue', { runId: id });
    await enqueue(trx, 'commit status', { runId: id });
    await enqueue(trx, 'attest', { runId: id });
    await enqueue(trx, 'answer event', { runId: id });
  }
  const ids = failed.map(({ id }) => id);
  recordEnds(trx, ids);
  await endStepsOf(trx, ids, 'failed');
  await announce(trx, ...ids);
}
