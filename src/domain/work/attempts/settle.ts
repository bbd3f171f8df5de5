// Changes the source host after a person has decided about attempts: opens the pull request of the chosen attempt, and deletes the branches of the
// other attempts. This happens in the background, and each change can be repeated.

import { transaction } from '#foundation/postgres/database.ts';
import { waitsFor } from '../../projects/effects/policy.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { decidedAttempts } from '../runs/attempts.ts';
import { branchOf, recordPushed } from '../runs/branch.ts';
import { appendError } from '../runs/decisions.ts';
import { policyOfRun } from '../runs/effect-policy.ts';
import { lockRun } from '../runs/lock.ts';
import type { Run } from '../runs/model.ts';
import { stageDraft } from '../runs/stage-branch.ts';

/**
 * Carries out the effects of the decision. A permanent error of the source host is recorded on the run that it concerns.
 * @throws after all effects were tried, if one of them failed with an error that may be temporary
 */
export async function settleAttempts({ groupId }: { groupId: string }): Promise<void> {
  const decided = await decidedAttempts(groupId);
  const errors: unknown[] = [];
  for (const run of decided) {
    const isChosen = run.attemptState === 'chosen';
    try {
      if (!isChosen) await deleteBranch(run);
      else if (run.prNumber === null) await openDraft(run);
    } catch (error) {
      if (!isFinal(error)) errors.push(error);
      else {
        const what = isChosen ? 'The pull request could not be opened' : 'The branch could not be deleted';
        const words = `${what}: ${error.body.description}`;
        if (!run.lastError?.includes(words)) await appendError(run.id, words);
      }
    }
  }
  if (errors.length > 0)
    throw new Error(
      `The source host could not open the pull request of the chosen attempt, or delete branches of other attempts (${errors.length} failed calls)`,
      {
        cause: errors[0],
      },
    );
}

/** Opens the pull request of a chosen attempt. The attempt has pushed its branch before the choice. */
async function openDraft(run: Run): Promise<void> {
  const { id, projectId, branch, baseBranch, pullRequestDraft } = run;
  const project = await Project.find({ id: projectId });
  if (!project || branch === null || baseBranch === null || !pullRequestDraft) return;
  const wanted = { branch, baseBranch, ...pullRequestDraft };
  // If pull requests wait for an approval, the pull request of a chosen attempt does too.
  if (waitsFor(await policyOfRun(run), 'pull_request')) return transaction((trx) => stageDraft(trx, run, wanted));
  const { host } = await hostOf(project);
  const pullRequest = await host.pullRequests?.open(project, wanted);
  if (!pullRequest) return;
  await transaction(async (trx) => {
    const locked = await lockRun(trx, { id });
    if (locked?.prNumber === null) await recordPushed(trx, id, { pullRequestDraft: null }, pullRequest);
  });
}

/** Deletes the branch of an attempt that was not chosen. */
async function deleteBranch({ id, projectId, branch }: Run): Promise<void> {
  const project = await Project.find({ id: projectId });
  if (!project || branch !== branchOf({ id, branch: null })) return;
  const { connector, host } = await hostOf(project);
  await host.deleteBranch(project, connector, branch);
}
