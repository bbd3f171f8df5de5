// The end of a step, reported by its runtime; the response contains the next step.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { endsAtCall, findReplaying } from '../../work/forks/replaying.ts';
import { pauseRun } from '../../work/runs/finish.ts';
import { leaseIsLost, serviceReach } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { RunStep, type StepOutcome } from '../../work/runs/step-model.ts';
import { endStep, lockSteps } from '../../work/runs/steps.ts';
import { advanceRun, readStep, type StepEnd } from '../mission-steps/advance.ts';
import { orderOf, type StepOrder } from '../mission-steps/orders.ts';

export interface StepReport extends StepEnd {
  runId: string;
  leaseId: string;
  stepId: string;
}

export interface StepAnswer {
  outcome: StepOutcome;
  step: StepOrder | null;
  /** Reason for the failure of the run; null when it has not failed. */
  failure: string | null;
}

/** Records the end of a step, and returns the next one. A repeated report gets the same response. @throws 404, or 409 `lease_lost` */
export const finishStep = (caller: Caller, report: StepReport): Promise<StepAnswer> =>
  transaction(async (trx) => {
    const { runId, leaseId, stepId } = report;
    const { run, steps } = await lockSteps(trx, { id: runId, ...serviceReach(caller) });
    const step = steps.find(({ id }) => id === stepId) ?? RunStep.refuse();
    if (step.leaseId !== leaseId) throw leaseIsLost();
    if (step.outcome) {
      const next = steps.find(({ seq }) => seq === step.seq + 1);
      return answerOf(trx, run, step.outcome, next, run.failure);
    }
    if (run.status === 'canceled') return { outcome: 'done', step: null, failure: run.reason };
    if (run.leaseId !== leaseId || !isOpen(run)) throw leaseIsLost();
    // A heartbeat has told the runtime to stop, because the run has reached a limit. The runtime reports the stop as a failure of the
    // step, but the run does not fail: it waits until a person raises the limit.
    if (run.pausesAt !== null && report.status === 'failed') {
      await pauseRun(trx, run);
      return { outcome: 'handed_back', step: null, failure: null };
    }
    const fork = await findReplaying(trx, run);
    // A step that ends at the call at which a fork begins has no output.
    const read = readStep(fork && endsAtCall(fork, step) ? { ...step, hasSchema: false } : step, report);
    const { error, output, sessionId, turns } = read;
    const status = error === null ? 'completed' : 'failed';
    const ended = { status, error, output, sessionId, turns, finishedAt: now() } as const;
    // The decision about the next step reads these values from the step.
    Object.assign(step, ended);
    const { outcome, next, failure = run.failure } = await advanceRun(trx, caller, run, steps, step, read, fork);
    await endStep(trx, step.id, { ...ended, outcome });
    await announce(trx, run.id);
    return answerOf(trx, run, outcome, next, failure);
  });

async function answerOf(
  trx: Transaction,
  run: Run,
  outcome: StepOutcome,
  next: RunStep | undefined,
  failure: string | null,
): Promise<StepAnswer> {
  return { outcome, step: outcome === 'next' && next ? await orderOf(trx, run, next) : null, failure };
}
