// A runtime reports how a step ended; the answer says what is next.
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { leaseIsLost, lockRun, serviceReach } from '../../work/runs/lock.ts';
import { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { RunStep, type StepOutcome } from '../../work/runs/step-model.ts';
import { endStep, recordStepOutcome, stepsOf } from '../../work/runs/steps.ts';
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
  /** Why the run has failed; null: it has not. */
  failure: string | null;
}

/** Records how a step ended, and says what is next. A repeated report gets the same answer. @throws 404, or 409 `lease_lost` */
export const finishStep = (caller: Caller, report: StepReport): Promise<StepAnswer> =>
  transaction(async (trx) => {
    const { runId, leaseId, stepId } = report;
    const run = (await lockRun(trx, { id: runId, ...serviceReach(caller) })) ?? Run.refuse();
    const steps = await stepsOf(trx, run.id);
    const step = steps.find(({ id }) => id === stepId) ?? RunStep.refuse();
    if (step.leaseId !== leaseId) throw leaseIsLost();
    if (step.outcome) return answerOf(step, steps, run.failure);
    if (run.status === 'canceled') return { outcome: 'done', step: null, failure: run.reason };
    if (run.leaseId !== leaseId || !isOpen(run)) throw leaseIsLost();
    const read = readStep(step, report);
    const { error, output, sessionId, turns } = read;
    const status = error === null ? 'completed' : 'failed';
    await endStep(trx, step, { status, error, output, sessionId, turns });
    const { outcome, failure = run.failure } = await advanceRun(trx, caller, run, steps, step, read);
    await recordStepOutcome(trx, step, outcome);
    await announce(trx, run.id);
    return answerOf(step, await stepsOf(trx, run.id), failure);
  });

function answerOf({ seq, outcome }: RunStep, steps: readonly RunStep[], failure: string | null): StepAnswer {
  const next = steps.find((one) => one.seq === seq + 1);
  return { outcome: outcome!, step: outcome === 'next' && next ? orderOf(next) : null, failure };
}
