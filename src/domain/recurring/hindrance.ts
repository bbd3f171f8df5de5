// What keeps a mission from starting: its project, the organization's means, or its own earlier run. Asked under the lock on
// what is to be run, so that two who ask at once get two answers.
import type { Transaction } from '#foundation/database.ts';
import { conflict, outOfMeans, type Problem } from '#foundation/problem.ts';
import { type MayStart, mayStartMission } from '../orchestrator/operations.ts';
import type { Project } from '../projects/model.ts';
import { type Kind, openStatuses, type Recurring, Run } from './model.ts';

export interface Hindrance {
  /** What the skipped run says. */
  reason: string;
  /** What a person who asked for the run is told; null: it is skipped for them too. */
  refusal: Problem | null;
}

/** Those that may not start now, by id. All must be locked. */
export async function hindrances(
  trx: Transaction,
  kind: Kind,
  candidates: readonly Recurring[],
  projects: ReadonlyMap<string, Pick<Project, 'status'>>,
): Promise<Map<string, Hindrance>> {
  const busy = await busyOnes(trx, kind, candidates);
  const means = await meansOf(trx, new Set(candidates.map(({ orgId }) => orgId)));
  const found = new Map<string, Hindrance>();
  for (const { id, projectId, orgId } of candidates) {
    const { status } = projects.get(projectId)!;
    const may = means.get(orgId)!;
    if (status !== 'active') {
      const reason = `The project is ${status}: no mission starts on it.`;
      found.set(id, { reason, refusal: conflict(reason) });
    } else if (!may.ok) {
      found.set(id, { reason: may.reason, refusal: outOfMeans(may.code, may.reason) });
    } else if (busy.has(id)) {
      found.set(id, { reason: 'The previous run is still open.', refusal: null });
    }
  }
  return found;
}

async function meansOf(trx: Transaction, orgIds: ReadonlySet<string>): Promise<Map<string, MayStart>> {
  const means = new Map<string, MayStart>();
  for (const orgId of orgIds) means.set(orgId, await mayStartMission(trx, orgId));
  return means;
}

/** Of those that pass over an occurrence while a run is open, the ones that have an open run. */
async function busyOnes(trx: Transaction, kind: Kind, candidates: readonly Recurring[]): Promise<Set<string | null>> {
  const careful = candidates.filter(({ skipIfPreviousOpen }) => skipIfPreviousOpen).map(({ id }) => id);
  if (careful.length === 0) return new Set();
  const open = await Run.query(trx)
    .distinct(kind.parent)
    .whereIn(kind.parent, careful)
    .whereIn('status', [...openStatuses]);
  return new Set(open.map((run) => run[kind.parent]));
}
