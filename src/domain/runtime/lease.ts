// Whether a runtime still holds what it reports on. Asked under a lock on the row, so that what is lost meanwhile is lost before
// or after a report, and no report is half written.
import type { Caller } from '#access/principal.ts';
import type { Transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { leaseLost, notFound } from '#foundation/problem.ts';
import { Run } from '../recurring/model.ts';
import { Sandbox } from '../sandboxes/model.ts';

/** The records that a service may report on: all, or those of the one organization that its token is for. */
export const own = ({ orgId }: Caller): { orgId?: Id<'organization'> } => (orgId ? { orgId } : {});

/** A run whose runtime is silent keeps its lease while it waits, until another runtime takes it. */
export const heldStatuses = ['running', 'dispatching'] as const;
/** A canceled run is held until its runtime has said what there was to say. */
const reportable = [...heldStatuses, 'canceled'] as const;

/** The run, locked. @throws 404, or 409 `lease_lost` */
export async function heldRun(
  trx: Transaction,
  caller: Caller,
  { runId, leaseId }: { runId: string; leaseId: string },
): Promise<Run> {
  const held = await Run.query(trx)
    .findOne({ id: runId, leaseId, ...own(caller) })
    .whereIn('status', [...reportable])
    .forNoKeyUpdate();
  if (held) return held;
  const known = await Run.query(trx)
    .select('id')
    .findOne({ id: runId, ...own(caller) });
  throw known ? lost() : notFound('run');
}

export const lost = () =>
  leaseLost('The lease on this run is over: another runtime may have taken it. Stop, and report no more of it.');

/** The sandbox, locked: also one that has just ended, whose last words are still to come. @throws 404, or 409 `lease_lost` */
export async function heldSandbox(
  trx: Transaction,
  caller: Caller,
  { sandboxId, leaseId }: { sandboxId: string; leaseId: string },
): Promise<Sandbox> {
  const held = await Sandbox.query(trx)
    .findOne({ id: sandboxId, leaseId, ...own(caller) })
    .whereExists(
      Run.query(trx)
        .select('id')
        .whereIn('status', [...reportable])
        .where({ id: trx.ref('sandboxes.runId'), leaseId }),
    )
    .forNoKeyUpdate();
  if (held) return held;
  const known = await Sandbox.query(trx)
    .select('id')
    .findOne({ id: sandboxId, ...own(caller) });
  throw known ? lost() : notFound('sandbox');
}
