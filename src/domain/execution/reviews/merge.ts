// Merges the pull request of a mission at the request of a person.
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict } from '#foundation/problem.ts';
import { Project } from '../../projects/projects/model.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { recordPullRequest } from '../../work/runs/branch.ts';
import { Run } from '../../work/runs/model.ts';
import { findRun } from '../../work/runs/operations.ts';
import { isOpen } from '../../work/runs/states.ts';

/**
 * Merges the pull request. @throws 404; 409 if there is no pull request, if `headSha` is not its newest commit, or if the source host does
 * not merge it; the errors of the source host
 */
export async function mergePullRequest(
  caller: Caller,
  { runId, headSha }: { runId: string; headSha: string },
): Promise<Run> {
  // Only a person may merge: `ownPerson` rejects service tokens.
  ownPerson(caller);
  const run = await findRun(caller, runId);
  if (run.prNumber === null) throw conflict('The run has no pull request.');
  if (run.prState === 'merged') return run;
  if (isOpen(run)) throw conflict('The run has not ended: its agent may still push commits.');
  const project = await Project.get({ id: run.projectId });
  await releaseTransaction();
  const { host } = await hostOf(project);
  const pullRequests = host.pullRequests!;
  const before = await pullRequests.read(project, run.prNumber);
  // A repeated request finds the pull request already merged.
  if (before.state !== 'merged') {
    if (before.state === 'closed') throw conflict('The pull request is closed.');
    if (before.headSha !== headSha)
      throw conflict.field('headSha', `is not the newest commit of the pull request, which is ${before.headSha}`);
    const refusal = await pullRequests.merge(project, run.prNumber, headSha);
    if (refusal !== null) throw conflict(`The source host did not merge the pull request: ${refusal}`);
  }
  await recordPullRequest(run, await pullRequests.read(project, run.prNumber));
  return Run.get({ id: run.id });
}
