// How a runtime ends its work on a run: it reports the outcome or hands the run back.
import type { Caller } from '#access/principal.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { finishRun as finishHeldRun, handBackRun as handBackHeldRun, type RunOutcome } from '../../work/runs/finish.ts';
import { findReported, leaseIsLost, lockHeldRun, serviceReach } from '../../work/runs/lock.ts';
import { Run } from '../../work/runs/model.ts';

/** Hands back a run that the runtime cannot continue. A run that was canceled meanwhile stays canceled. */
export const reportHandedBack = (
  caller: Caller,
  input: { runId: string; leaseId: string; reason: string },
): Promise<void> =>
  transaction(async (trx) => {
    const { id } = await lockHeldRun(trx, caller, input);
    await handBackHeldRun(trx, { id, leaseId: input.leaseId }, input.reason);
  });

export interface Finish extends RunOutcome {
  runId: string;
  leaseId: string;
}

/** Ends a run, with those of its sandboxes that still run. A repeated report changes nothing; a canceled run stays canceled. */
export const reportFinished = (caller: Caller, input: Finish): Promise<void> =>
  transaction(async (trx) => {
    const { runId: id, leaseId } = input;
    const outcome = await decidedOutcome(trx, caller, input);
    const isFinished = await finishHeldRun(trx, { id, leaseId, ...serviceReach(caller) }, outcome);
    if (!isFinished) await checkRepeated(trx, caller, { ...input, ...outcome });
  });

/** Steps that have failed outweigh what the runtime says. */
async function decidedOutcome(trx: Transaction, caller: Caller, { runId, ...said }: Finish): Promise<RunOutcome> {
  const { status, error, costIncomplete } = said;
  const failure = (await findReported(trx, caller, runId))?.failure;
  return failure
    ? { status: 'failed', error: error ?? failure, costIncomplete, reason: failure }
    : { status, error, costIncomplete };
}

async function checkRepeated(trx: Transaction, caller: Caller, { runId, leaseId, status }: Finish): Promise<void> {
  const run = (await findReported(trx, caller, runId)) ?? Run.refuse();
  if (run.leaseId !== leaseId || ![status, 'canceled'].includes(run.status)) throw leaseIsLost();
}
