// How a runtime's hold on a run ends by its own word: finished or handed back. What ends by silence stands in silence.ts.
import { raw } from 'objection';
import type { Caller } from '#access/principal.ts';
import { enqueue } from '#foundation/background.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { missing } from '#foundation/record.ts';
import { lease } from '#limits.ts';
import { Run } from '../recurring/model.ts';
import { Sandbox } from '../sandboxes/model.ts';
import { heldRun, heldStatuses, lost, own } from './lease.ts';

/** Hands a run back that the runtime cannot go on with: another one may have it after a short rest. */
export const handBackRun = (caller: Caller, input: { runId: string; leaseId: string; reason: string }): Promise<void> =>
  transaction(async (trx) => {
    const { id, status, leaseId } = await heldRun(trx, caller, input);
    // Canceled meanwhile: there is nothing to hand back.
    if (status === 'canceled') return;
    const at = now();
    await Run.query(trx)
      .findById(id)
      .patch({
        status: 'dispatching',
        leaseId: null,
        claimedBy: null,
        leaseUntil: at + lease.rest,
        silentSince: null,
        waitingSince: at,
        missionProgress: null,
        missionActivity: `Handed back: ${input.reason}`,
        // A polite end is not a loss.
        claims: raw('claims - 1'),
        updatedAt: at,
      });
    await announce(trx, id, ...(await endSandboxes(trx, [leaseId!], 'failed', 'handed back', at)));
  });

export interface Finish {
  runId: string;
  leaseId: string;
  status: 'completed' | 'failed';
  error?: string | null | undefined;
  costIncomplete?: boolean | undefined;
}

/** Ends a run, with those of its sandboxes that still run. Said again it changes nothing; a canceled run stays canceled. */
export const finishRun = (caller: Caller, input: Finish): Promise<void> =>
  transaction(async (trx) => {
    const { runId, leaseId, status } = input;
    const at = now();
    const finished = await Run.query(trx)
      .where({ id: runId, leaseId, ...own(caller) })
      .whereIn('status', [...heldStatuses])
      .patch({
        status,
        finishedAt: at,
        leaseUntil: null,
        silentSince: null,
        reason: null,
        lastError: input.error ?? null,
        ...(status === 'completed' && { missionProgress: 100 }),
        ...(input.costIncomplete && { missionCostIncomplete: true }),
        updatedAt: at,
      });
    if (finished === 0) return finishedBefore(trx, caller, input);
    const ended = await endSandboxes(trx, [leaseId], status, 'the run has ended', at);
    await enqueue(trx, 'finish issue', { runId });
    await announce(trx, runId, ...ended);
  });

async function finishedBefore(trx: Transaction, caller: Caller, { runId, leaseId, status }: Finish): Promise<void> {
  const run = (await Run.query(trx).findOne({ id: runId, ...own(caller) })) ?? missing('run');
  if (run.leaseId !== leaseId || ![status, 'canceled'].includes(run.status)) throw lost();
}

/** Ends the running sandboxes that were registered under these leases, and returns their ids. */
export async function endSandboxes(
  trx: Transaction,
  leaseIds: readonly string[],
  status: 'completed' | 'failed',
  terminationReason: string,
  at: number,
): Promise<string[]> {
  const ended: { id: string }[] = await trx(Sandbox.tableName)
    .whereIn('leaseId', leaseIds)
    .where({ status: 'running' })
    .update({ status, terminationReason, destroyedAt: at })
    .returning('id');
  return ended.map(({ id }) => id);
}
