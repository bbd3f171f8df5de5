// A runtime's reports on the environment of a run: its preparation, and the connections that the sandbox attempted.
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { addConnections, type ReportedConnection } from '../../work/connections/record.ts';
import { type ReportedPreparation, recordPreparation } from '../../work/preparations/record.ts';
import { addRunCall } from '../../work/run-calls/record.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import { latestStepOf } from '../../work/runs/steps.ts';

interface Held {
  runId: string;
  leaseId: string;
}

/** Maximum number of connections that are recorded one by one for each report; further connections are counted together. */
const namedConnections = 50;

function connectionFacts(connections: readonly ReportedConnection[]) {
  const named = connections.slice(0, namedConnections).map(({ programs: _, ...one }) => one);
  return { connections: named, omitted: connections.length - named.length };
}

/** Adds reported connections to the totals of the run. @throws 404, or 409 `lease_lost` */
export const reportConnections = (
  caller: Caller,
  { reportId, connections, ...held }: Held & { reportId: string; connections: ReportedConnection[] },
): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, held);
    const step = await latestStepOf(trx, run.id);
    const { sandboxTemplateId } = step!.agent;
    const report = `${held.leaseId} ${reportId}`;
    await addConnections(trx, run, sandboxTemplateId, report, connections);
    await addRunCall(trx, run, 'network', report, connectionFacts(connections));
    await announce(trx, run.id);
    return { ok: true };
  });

/** Records the preparation of a sandbox. @throws 404; 409 `lease_lost`, and 409 beyond the maximum number of preparations of a run */
export const reportPreparation = (caller: Caller, report: Held & ReportedPreparation): Promise<{ ok: true }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, report);
    await recordPreparation(trx, run, run.leaseId!, report);
    await announce(trx, run.id);
    return { ok: true };
  });
