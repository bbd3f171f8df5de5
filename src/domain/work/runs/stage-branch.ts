// Stages the push of a branch and its pull request: the run shows the change as if it had been pushed, but nothing is sent to the source
// host.
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import type { EffectPayloads } from '../../projects/effects/model.ts';
import { stageEffect } from '../../projects/effects/staging.ts';
import { Project } from '../../projects/projects/model.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { isOwnBranch, type PushedBranch } from './branch.ts';
import { Run } from './model.ts';
import { isWithheld } from './states.ts';

/**
 * The pull request to stage. Null when the run continues a pull request, which keeps its title and text, or when the host has no pull
 * requests.
 */
export async function stagedPullRequest(
  run: Run,
  { branch, baseBranch, title, body }: PushedBranch,
): Promise<EffectPayloads['pull_request'] | null> {
  if (run.prNumber !== null && !isOwnBranch(run.id, branch)) return null;
  const { host } = await hostOf(await Project.get({ id: run.projectId }));
  return host.pullRequests ? { branch, baseBranch, title, body } : null;
}

interface StagedBranch {
  /** The push to stage; null for a branch that is already pushed. */
  push: Pick<EffectPayloads['push'], 'expectedSha' | 'artifactId'> | null;
  pullRequest: EffectPayloads['pull_request'] | null;
}

/** Stages the push and the pull request of the run, which the caller has locked. */
export async function stageBranch(
  trx: Transaction,
  run: Run,
  { title, body, ...reported }: PushedBranch,
  { push, pullRequest }: StagedBranch,
): Promise<void> {
  const pullRequestDraft = isWithheld(run) && pullRequest ? { title, body } : null;
  await Run.patch(trx, { id: run.id }, { ...reported, pullRequestDraft, updatedAt: now() });
  const { branch, baseBranch, headSha, commits, changedFiles: files, insertions, deletions } = reported;
  const size = { commits, files, insertions, deletions };
  if (push)
    await stageEffect(trx, run, {
      kind: 'push',
      key: branch,
      payload: { branch, baseBranch, headSha, ...size, ...push },
    });
  if (pullRequest && !isWithheld(run))
    await stageEffect(trx, run, { kind: 'pull_request', key: branch, payload: pullRequest });
  await announce(trx, run.id);
}

/** Stages the pull request of an attempt that was chosen. */
export async function stageDraft(trx: Transaction, run: Run, payload: EffectPayloads['pull_request']): Promise<void> {
  await Run.patch(trx, { id: run.id }, { pullRequestDraft: null });
  await stageEffect(trx, run, { kind: 'pull_request', key: payload.branch, payload });
}
