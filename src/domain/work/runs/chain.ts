// The runs of one mission: the first, and those that continue it from a checkpoint.
import type { Transaction } from '#foundation/postgres/database.ts';
import { Run } from './model.ts';
import { RunStep } from './step-model.ts';

/** The runs of the mission that the run belongs to, oldest first. They share a project, and an issue or a pull request. */
export async function chainOf(run: Run, trx?: Transaction): Promise<Run[]> {
  const { projectId, issueId, prNumber } = run;
  if (issueId === null && prNumber === null) return [run];
  const related = await Run.query(trx)
    .where({ projectId, ...(issueId === null ? { prNumber } : { issueId }) })
    .orderBy([{ column: 'createdAt' }, { column: 'id' }]);
  const stepIds = related.flatMap(({ continuesStepId }) => continuesStepId ?? []);
  const steps = await RunStep.query(trx).select('id', 'runId').whereIn('id', stepIds);
  const runOfStep = new Map(steps.map(({ id, runId }) => [id as string, runId]));
  // Runs are sorted by age and continue only earlier runs, so the first run of the mission is known before the runs that continue it.
  const firstOf = new Map<string, string>();
  for (const { id, continuesStepId } of related) {
    const before = continuesStepId && runOfStep.get(continuesStepId);
    firstOf.set(id, (before && firstOf.get(before)) ?? id);
  }
  return related.filter(({ id }) => firstOf.get(id) === firstOf.get(run.id));
}
