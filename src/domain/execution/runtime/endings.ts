// Ends a runtime's work on a run: the runtime reports the outcome or hands the run back.
import type { Caller } from '#access/principal.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type FinishedRun, finishReportedRun, handBackRun as handBackHeldRun } from '../../work/runs/finish.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';

/** Hands back a run that the runtime cannot continue. A canceled run stays canceled. */
export const reportHandedBack = (
  caller: Caller,
  input: { runId: string; leaseId: string; reason: string },
): Promise<void> =>
  transaction(async (trx) => {
    const { id } = await lockHeldRun(trx, caller, input);
    await handBackHeldRun(trx, { id, leaseId: input.leaseId }, input.reason);
  });

/** Ends a run and its running sandboxes. A repeated report changes nothing; a canceled run stays canceled. */
export const reportFinished = (caller: Caller, input: FinishedRun): Promise<void> =>
  transaction((trx) => finishReportedRun(trx, caller, input));
