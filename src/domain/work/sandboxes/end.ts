// Ends running sandboxes. The runtime of a sandbox ends it, or it ends together with its run, or after a timeout.

import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { silenceMs } from '#limits.ts';
import { Sandbox, type SandboxStatus } from './model.ts';

export interface SandboxEnd {
  status: Extract<SandboxStatus, 'destroyed' | 'completed' | 'failed'>;
  terminationReason: string | null;
}

/** Ends the running sandboxes of these runs or organizations, or those registered under these leases, and returns their ids. */
export async function endSandboxesOf(
  trx: Transaction,
  column: 'runId' | 'leaseId' | 'orgId',
  values: readonly string[],
  end: SandboxEnd,
): Promise<string[]> {
  if (values.length === 0) return [];
  const ended = await Sandbox.query(trx)
    .whereIn(column, [...values])
    .where({ status: 'running' })
    .patch({ ...end, destroyedAt: now() })
    .returning('id');
  return ended.map(({ id }) => id);
}

const lost = { status: 'failed', terminationReason: 'the runtime was lost' } as const;

/** Ends sandboxes of the run that were registered under earlier leases and still run, and returns their ids. */
export async function endLostSandboxes(trx: Transaction, runId: string, leaseId: string): Promise<string[]> {
  const ended = await Sandbox.query(trx)
    .where('runId', runId)
    .where('status', 'running')
    .whereNot('leaseId', leaseId)
    .patch({ ...lost, destroyedAt: now() })
    .returning('id');
  return ended.map(({ id }) => id);
}

/** Ends the sandbox if it is running; returns whether it was. */
export async function endRunningSandbox(trx: Transaction, id: Sandbox['id'], end: SandboxEnd): Promise<boolean> {
  const ended = await Sandbox.patch(trx, { id, status: 'running' }, { ...end, destroyedAt: now() });
  return ended > 0;
}

/** Ends sandboxes past their timeout, and those without a heartbeat for ten minutes. */
export const endOverdueSandboxes = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    const end = async (column: 'timeoutAt' | 'lastHeartbeatAt', until: number, how: SandboxEnd) => {
      const ended = await Sandbox.query(trx)
        .where({ status: 'running' })
        .where(column, '<=', until)
        .patch({ ...how, destroyedAt: at })
        .returning(['id', 'runId']);
      await announce(trx, ...ended.flatMap(({ id, runId }) => (runId ? [id, runId] : [id])));
    };
    await end('timeoutAt', at, { status: 'destroyed', terminationReason: 'timeout' });
    await end('lastHeartbeatAt', at - silenceMs.failed, lost);
  });
