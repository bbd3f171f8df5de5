// How a runtime ends its work on a run: it reports the outcome or hands the run back.
import type { Caller } from '#access/principal.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { finishRun as finishHeldRun, handBackRun as handBackHeldRun, type Outcome } from '../runs/finish.ts';
import { Run } from '../runs/model.ts';
import { leaseIsLost, lockHeldRun, serviceReach } from './lease.ts';

/** Hands back a run that the runtime cannot continue. A run that was canceled meanwhile stays canceled. */
export const handBackRun = (caller: Caller, input: { runId: string; leaseId: string; reason: string }): Promise<void> =>
  transaction(async (trx) => {
    const { id } = await lockHeldRun(trx, caller, input);
    await handBackHeldRun(trx, { id, leaseId: input.leaseId }, input.reason);
  });

export interface Finish extends Outcome {
  runId: string;
  leaseId: string;
}

/** Ends a run, with those of its sandboxes that still run. A repeated report changes nothing; a canceled run stays canceled. */
export const finishRun = (caller: Caller, input: Finish): Promise<void> =>
  transaction(async (trx) => {
    const { runId: id, leaseId } = input;
    const isFinished = await finishHeldRun(trx, { id, leaseId, ...serviceReach(caller) } as object, input);
    if (!isFinished) await checkRepeated(trx, caller, input);
  });

async function checkRepeated(trx: Transaction, caller: Caller, { runId, leaseId, status }: Finish): Promise<void> {
  const run = (await Run.query(trx).findOne({ id: runId, ...serviceReach(caller) })) ?? Run.refuse();
  if (run.leaseId !== leaseId || ![status, 'canceled'].includes(run.status)) throw leaseIsLost();
}
