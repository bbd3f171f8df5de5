// Checks that a runtime still holds the sandbox that it reports on. The row is locked during the report, as in work/runs/lock.ts.
import type { Caller } from '#access/principal.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { isRunHeld } from '../../work/runs/claim.ts';
import { leaseIsLost, reportableStates, serviceReach } from '../../work/runs/lock.ts';
import { lockSandbox } from '../../work/sandboxes/append.ts';
import { Sandbox } from '../../work/sandboxes/model.ts';

/**
 * SQL condition on a sandbox `s`: the run of the sandbox still has the sandbox's lease, and is in one of the states in which reports are
 * accepted.
 */
export const isReported = isRunHeld('s.run_id', 's.lease_id', reportableStates);

/**
 * Locks the sandbox. An ended sandbox is accepted while the runtime holds its run, because its last reports may still arrive. @throws 404,
 * or 409 `lease_lost`
 */
export async function lockHeldSandbox(
  trx: Transaction,
  caller: Caller,
  { sandboxId, leaseId }: { sandboxId: string; leaseId: string },
): Promise<Sandbox> {
  const held = await lockSandbox(trx, caller, { sandboxId, leaseId }, isReported);
  if (held) return held;
  const known = await Sandbox.find({ id: sandboxId as Sandbox['id'], ...serviceReach(caller) }, trx);
  if (!known) Sandbox.refuse();
  throw leaseIsLost();
}
