// The acceptance criteria that the artifacts of runs verify.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { Sandbox } from '../sandboxes/model.ts';
import { Artifact } from './model.ts';

export interface CriteriaOfRun {
  runId: string;
  criteria: number;
  criteriaPassed: number;
}

/** The acceptance criteria of runs. If several artifacts verify the same criterion, the newest one counts. */
export async function criteriaOf(runIds: readonly string[], caller: Caller): Promise<CriteriaOfRun[]> {
  const sandboxes = await Sandbox.findByKeys('runId', runIds, withinReach(caller));
  const ids = sandboxes.map(({ id }) => id);
  const artifacts = await Artifact.findByKeys('sandboxId', ids, withinReach(caller));
  artifacts.sort((a, b) => a.createdAt - b.createdAt);
  return runIds.map((runId) => {
    const own = new Set(sandboxes.filter((one) => one.runId === runId).map(({ id }) => id));
    const results = new Map<string, boolean>();
    for (const { sandboxId, criterion, criterionPassed } of artifacts)
      if (sandboxId && own.has(sandboxId) && criterion !== null && criterionPassed !== null)
        results.set(criterion, criterionPassed);
    return { runId, criteria: results.size, criteriaPassed: [...results.values()].filter(Boolean).length };
  });
}
