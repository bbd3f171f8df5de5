// Whether a runtime still holds what it reports on. The row is locked meanwhile, so that a lease is lost either before a report or
// after it, and no report is written in part.
import type { Caller } from '#access/principal.ts';
import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { leaseLost } from '#foundation/problem.ts';
import { isRunHeld } from '../../work/runs/claim.ts';
import { Run } from '../../work/runs/model.ts';
import { heldStates, isInState } from '../../work/runs/states.ts';
import { Sandbox } from '../../work/sandboxes/model.ts';

/** The records that a service may report on: all, or those of the one organization that its token is for. */
export const serviceReach = ({ orgId }: Caller): { orgId?: Id<'organization'> } => (orgId ? { orgId } : {});

/** After a run was canceled its runtime may still send the reports that it has not sent. */
const reportable = [...heldStates, 'canceled'] as const;

/** @throws 404, or 409 `lease_lost` */
export async function lockHeldRun(
  trx: Transaction,
  caller: Caller,
  { runId, leaseId }: { runId: string; leaseId: string },
): Promise<Run> {
  const held = await Run.query(trx)
    .findOne({ id: runId, leaseId, ...serviceReach(caller) })
    .whereRaw(isInState(reportable))
    .forNoKeyUpdate();
  if (held) return held;
  const known = await Run.query(trx)
    .select('id')
    .findOne({ id: runId, ...serviceReach(caller) });
  if (!known) Run.refuse();
  throw leaseIsLost();
}

export const leaseIsLost = () =>
  leaseLost('The lease on this run is over: another runtime may have taken it. Stop, and report no more of it.');

/** Also one that has ended, as long as its run is held: its last reports may follow. @throws 404, or 409 `lease_lost` */
export async function lockHeldSandbox(
  trx: Transaction,
  caller: Caller,
  { sandboxId, leaseId }: { sandboxId: string; leaseId: string },
): Promise<Sandbox> {
  const held = await Sandbox.query(trx)
    .findOne({ id: sandboxId, leaseId, ...serviceReach(caller) })
    .whereRaw(isRunHeld('sandboxes.run_id', 'sandboxes.lease_id', reportable))
    .forNoKeyUpdate();
  if (held) return held;
  const known = await Sandbox.query(trx)
    .select('id')
    .findOne({ id: sandboxId, ...serviceReach(caller) });
  if (!known) Sandbox.refuse();
  throw leaseIsLost();
}
