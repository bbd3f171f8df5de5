// Locks runs, so that a runtime cannot lose its lease during a report: a report is written completely or not at all.

import type { Caller } from '#access/principal.ts';
import type { Id } from '#foundation/ids.ts';
import type { Key } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { leaseLost } from '#foundation/problem.ts';
import { Run } from './model.ts';
import { heldStates, isInState } from './states.ts';

export const lockRun = async (trx: Transaction, where: Key<Run>): Promise<Run | undefined> =>
  Run.query(trx).findOne(where).forNoKeyUpdate();

/** The run, and the other attempts at its task, locked in the order of their ids. */
export const lockRunWithAttempts = async (trx: Transaction, { id, attemptGroupId }: Run): Promise<Run[]> =>
  Run.query(trx)
    .where(attemptGroupId ? { attemptGroupId } : { id })
    .orderBy('id')
    .forNoKeyUpdate();

/** Condition for records that a service may report on: all records, or only records of the organization to which the service's token is bound. */
export const serviceReach = ({ orgId }: Caller): { orgId?: Id<'organization'> } => (orgId ? { orgId } : {});

/** States in which reports are accepted. They include `canceled`, because the runtime may still send outstanding reports. */
export const reportableStates = [...heldStates, 'canceled'] as const;

/** Locks a run that the runtime holds. @throws 404, or 409 `lease_lost` */
export async function lockHeldRun(
  trx: Transaction,
  caller: Caller,
  { runId, leaseId }: { runId: string; leaseId: string },
): Promise<Run> {
  const held = await Run.query(trx)
    .findOne({ id: runId, leaseId, ...serviceReach(caller) })
    .whereRaw(isInState(reportableStates))
    .forNoKeyUpdate();
  if (held) return held;
  if (!(await findReportedRun(trx, caller, runId))) Run.refuse();
  throw leaseIsLost();
}

export const leaseIsLost = () =>
  leaseLost(
    'The lease on this run has ended: another runtime may have claimed the run. Stop working on it and send no further reports.',
  );

/** A run that the service may report on, whether or not its runtime holds the lease. */
export const findReportedRun = async (trx: Transaction, caller: Caller, runId: string): Promise<Run | undefined> =>
  Run.query(trx).findOne({ id: runId, ...serviceReach(caller) });
