// Runs of all kinds in one place: list them, read one, cancel one. What a run is stands in ../recurring/model.ts.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest, readPageOf } from '#foundation/cursor.ts';
import { transaction } from '#foundation/database.ts';
import { conflict } from '#foundation/problem.ts';
import { conditions, find, selection } from '#foundation/record.ts';
import { openStatuses, Run, type RunStatus } from '../recurring/model.ts';
import { Sandbox } from '../sandboxes/model.ts';

export interface RunFilter extends PageRequest {
  projectId?: string | null | undefined;
  status?: RunStatus | null | undefined;
}

/** Newest first. A project that the caller cannot reach has none. */
export async function listRuns(caller: Caller, { projectId, status, ...page }: RunFilter): Promise<Page<Run>> {
  const own = withinProject(caller, projectId);
  if (!own) return emptyPage;
  const { where, values } = conditions(own);
  // In the text, of which there are few: a prepared statement must find the index of that status alone.
  const ofStatus = status ? ` and "status" = '${status}'` : '';
  const binding = `runs\n${JSON.stringify([own, status ?? null])}`;
  return readPageOf<Run>({ binding, select: selection(Run), where: where + ofStatus, values }, page);
}

export const findRun = (caller: Caller, runId: string): Promise<Run> =>
  find<Run>(Run, 'run', { id: runId, ...withinReach(caller) });

/** The run at once, and after each change, until it has come to its end. Each change tells who is asking by then. */
export async function* followRun(changes: AsyncIterable<() => Promise<Caller>>, runId: string): AsyncGenerator<Run> {
  for await (const asking of changes) {
    const run = await findRun(await asking(), runId);
    yield run;
    if (!openStatuses.includes(run.status)) return;
  }
}

/**
 * Ends an open run at once, and its sandboxes; a runtime that has it stops at its next heartbeat. One that is canceled already is
 * what the caller wants. @throws 409 for one that has come to its end
 */
export async function cancelRun(caller: Caller, runId: string): Promise<Run> {
  const own = { id: runId, ...withinReach(caller) };
  await transaction(async (trx) => {
    const at = now();
    const canceled = await Run.query(trx)
      .where(own)
      .whereIn('status', [...openStatuses])
      .patch({ status: 'canceled', reason: 'Canceled by a person.', finishedAt: at, leaseUntil: null, updatedAt: at });
    if (canceled === 0) return;
    const ended = await trx(Sandbox.tableName)
      .where({ runId, status: 'running' })
      .update({ status: 'destroyed', terminationReason: 'canceled', destroyedAt: at })
      .returning('id');
    await announce(trx, runId, ...ended.map(({ id }: { id: string }) => id));
  });
  const run = await findRun(caller, runId);
  if (run.status !== 'canceled')
    throw conflict(`The run has come to its end (${run.status}): there is nothing to cancel.`);
  return run;
}
