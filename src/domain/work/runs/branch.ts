// The branch that a run has pushed, and its pull request: opened here, then checked until it is merged or closed.

import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce, announcing } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { defaultLoop, Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import type { PullRequest, ReviewComment } from '../../projects/vendors/source-host.ts';
import { hostOf, mayWriteTo } from '../../projects/vendors/source-host-of.ts';
import { repeatDecision } from './attempts.ts';
import { stepText } from './bounds.ts';
import { Run } from './model.ts';
import { boundReached, historyOf, noteRemark } from './remarks.ts';
import { isOpen, isWithheld } from './states.ts';
import { type ForwardedMessage, forwardMessages } from './steering.ts';
import { recordThreads } from './threads.ts';

export interface PushedBranch
  extends Pick<Run, 'commits' | 'changedFiles' | 'insertions' | 'deletions' | 'changeArtifactId' | 'changedPaths'> {
  branch: string;
  baseBranch: string;
  baseSha: string | null;
  headSha: string;
  title: string;
  body: string;
}

/** The branch that a run works on: the branch of the pull request that it continues, else a new branch. */
export const branchOf = ({ id, branch }: Pick<Run, 'id' | 'branch'>): string => branch ?? ownBranch(id);
const ownBranch = (runId: string): string => `mission/${runId}`;
export const isOwnBranch = (runId: string, branch: string): boolean => branch === ownBranch(runId);
/** The id of the run for which this branch name was created; empty for any other name. */
export const runIdOf = (branch: string): string => /^mission\/(run_\w+)$/.exec(branch)?.[1] ?? '';

const newestSql = `select id from runs where project_id = $1 and branch = $2
  order by created_at desc, id desc limit 1`;

/** The newest run that works on the branch or has pushed it; at least one exists. */
export const newestOfBranch = async (
  trx: Transaction,
  { projectId, branch }: { projectId: string; branch: string },
): Promise<Run['id']> => (await sql<{ id: Run['id'] }>(newestSql, [projectId, branch], trx))[0]!.id;

/** Interval between checks of a pull request: short after a change of its run, longer while nothing happens. */
const checkAfterMs = { min: minutes(1), max: hours(1) };
const nextCheck = ({ updatedAt }: Pick<Run, 'updatedAt'>, at: number): number =>
  at + Math.min(Math.max(Math.round((at - updatedAt) / 10), checkAfterMs.min), checkAfterMs.max);

/** Records that the runtime has opened the repository, so that the run has an outcome to show. */
export const recordCheckout = async (id: Run['id']): Promise<void> => {
  await Run.patch(undefined, { id, openedRepository: false }, { openedRepository: true });
};

/** Records the branch and opens or updates its pull request. Returns null when the source host has no pull requests. */
export async function recordBranch(run: Run, pushed: PushedBranch): Promise<PullRequest | null> {
  const { title, body, ...reported } = pushed;
  const { branch, baseBranch } = reported;
  const project = await Project.get({ id: run.projectId });
  const { host } = await hostOf(project);
  const withheld = isWithheld(run);
  const isContinued = run.prNumber !== null && !isOwnBranch(run.id, branch);
  // A pull request that the run continues keeps its title and text.
  const pullRequest = isContinued
    ? await host.pullRequests!.read(project, run.prNumber!)
    : withheld
      ? null
      : ((await host.pullRequests?.open(project, { branch, baseBranch, title, body })) ?? null);
  const pullRequestDraft = withheld ? { title, body } : null;
  await transaction(async (trx) => {
    await recordPushed(trx, run.id, { ...reported, pullRequestDraft }, pullRequest);
    // A person may have decided about the attempt before this report, so the effects of the decision are repeated for the pushed branch.
    if (withheld) await repeatDecision(trx, run.id);
  });
  return pullRequest;
}

/** Records the state of a branch at the source host. */
export async function recordPushed(
  trx: Transaction,
  id: Run['id'],
  reported: Partial<PushedBranch> & Partial<Pick<Run, 'pullRequestDraft'>>,
  pullRequest: PullRequest | null,
): Promise<void> {
  const at = now();
  const ofPullRequest = pullRequest && {
    prNumber: pullRequest.number,
    prUrl: pullRequest.url,
    prState: pullRequest.state,
  };
  const prCheckAt = pullRequest && at + checkAfterMs.min;
  await Run.patch(trx, { id }, { ...reported, ...ofPullRequest, prCheckAt, updatedAt: at });
  if (pullRequest) await enqueue(trx, 'commit status', { runId: id });
  await announce(trx, id);
}

/** Checks the pull request soon, because its host has reported a change. */
export const checkSoon = async (runId: Run['id']): Promise<void> => {
  await Run.patch(undefined, { id: runId, prState: 'open' }, { prCheckAt: now() });
};

/** Maximum number of pull requests that are checked after a push, and the time in which further pushes cause no further check. */
const checkedAtOnce = 100;
const collectMs = seconds(5);
const checkAllSql = `update runs set pr_check_at = $3 where id in (
  select id from runs where project_id = any($1) and pr_state = 'open' and base_branch = $2 and pr_check_at > $3
  order by created_at desc limit ${checkedAtOnce} for no key update skip locked)`;

/** Schedules checks of the open pull requests into the branch: new commits on it may cause conflicts. */
export const checkAllInto = async (projectIds: readonly string[], branch: string): Promise<void> => {
  await sql(checkAllSql, [projectIds, branch, now() + collectMs]);
};

const takeOpenSql = `update runs r set pr_check_at = $1::bigint + ${checkAfterMs.min} where id in (
    select id from runs where pr_state = 'open' and pr_check_at <= $1 and ${isWritableSql('runs.org_id')} order by pr_check_at limit 20
    for no key update skip locked
  ) returning r.id, r.project_id, r.status, r.head_sha, r.approved_sha, r.pr_number, r.created_at, r.updated_at,
    not exists (select from runs n where n.project_id = r.project_id and n.pr_number = r.pr_number and n.created_at > r.created_at)
      as is_newest`;

type OpenPullRequest = Pick<
  Run,
  'id' | 'projectId' | 'status' | 'headSha' | 'approvedSha' | 'createdAt' | 'updatedAt'
> & {
  prNumber: number;
  /** Whether this is the latest run that works on the pull request. */
  isNewest: boolean;
};

/** Checks the open pull requests that are due. @throws when one failed, after all were tried; a failed check is repeated later */
export async function followPullRequests(): Promise<void> {
  const dueRuns = await sql<OpenPullRequest>(takeOpenSql, [now()]);
  const outcomes = await Promise.allSettled(dueRuns.map(follow));
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (errors.length > 0) throw new Error(`${errors.length} pull requests could not be read`, { cause: errors[0] });
}

const noteErrorSql = announcing('update runs set last_error = $2, pr_check_at = $3, updated_at = $4 where id = $1');

const noteBlockerSql = announcing(
  'update runs set merge_blocker = $2, updated_at = $3 where id = $1 and merge_blocker is distinct from $2',
);

/** A commit is merged automatically only if a reviewer of the run, or a person, has approved this commit. */
function mergeBlocker(
  { status, approvedSha }: OpenPullRequest,
  { state, headSha, isReady }: PullRequest,
): string | null {
  if (status !== 'completed' || state !== 'open') return null;
  if (approvedSha === headSha) return isReady ? null : 'The merge waits for the checks and rules of the base branch.';
  return approvedSha === null
    ? 'No reviewer has approved the change: a person has to merge it.'
    : 'The branch has commits that no reviewer has approved: a person has to merge it.';
}

async function follow(run: OpenPullRequest): Promise<void> {
  const project = await Project.find({ id: run.projectId });
  if (!project) return;
  try {
    const { host } = await hostOf(project);
    let pullRequest = await host.pullRequests!.read(project, run.prNumber);
    let blocker = project.autoMerge ? mergeBlocker(run, pullRequest) : null;
    if (project.autoMerge && run.status === 'completed' && pullRequest.isReady && !blocker) {
      const refusal = await host.pullRequests!.merge(project, run.prNumber, pullRequest.headSha);
      blocker = refusal && `The source host did not merge the pull request: ${refusal}`;
      pullRequest = await host.pullRequests!.read(project, run.prNumber);
    }
    await sql(noteBlockerSql, [run.id, blocker, now()]);
    if (isOpen(run)) {
      const comments = await host.pullRequests!.comments(project, run.prNumber, run.createdAt);
      await forwardMessages(run.id, (await ofWriters(project, comments)).map(messageOf));
    } else if (pullRequest.hasConflict) await noteConflict(project, run, pullRequest.headSha);
    await recordPullRequest(run, pullRequest);
    if (run.isNewest) await recordThreads(project, run, await host.pullRequests!.threads(project, run.prNumber));
  } catch (error) {
    if (!isFinal(error)) throw error;
    const words = `The state of the pull request cannot be read: ${error.body.description}`;
    await sql(noteErrorSql, [run.id, words, now() + checkAfterMs.max, now()]);
  }
}

/** Omits comments of people without write access to the repository, so that no agent receives them. */
async function ofWriters(project: Project, comments: readonly ReviewComment[]): Promise<ReviewComment[]> {
  const authors = [...new Set(comments.map(({ author }) => author))];
  const writers = new Set<string>();
  for (const author of authors) if (await mayWriteTo(project, author)) writers.add(author);
  return comments.filter(({ author }) => writers.has(author));
}

const noteConflictSql =
  announcing(`update runs set last_error = concat_ws(E'\\n', last_error, $2::text), updated_at = $3
  where id = $1 and position($2::text in coalesce(last_error, '')) = 0`);

/** A conflict of the newest commit with the base branch continues the mission, within the limits of the project. */
async function noteConflict(project: Project, { id, projectId, prNumber }: OpenPullRequest, headSha: string) {
  const reason = boundReached(project, await historyOf({ projectId, prNumber }));
  if (reason !== null) {
    if ((project.pullRequestLoop ?? defaultLoop).rounds === 0) return;
    await sql(noteConflictSql, [
      id,
      `The commit ${headSha} conflicts with the base branch. ${reason} Continue the mission to resolve it.`,
      now(),
    ]);
    return;
  }
  const text = 'The branch conflicts with its base branch: merge the base branch into it and resolve the conflicts.';
  await noteRemark(undefined, id, {
    key: `conflict ${headSha}`,
    author: '',
    text,
    actorUserId: null,
    deliveryId: null,
  });
}

/** A comment as a message to the agent of an open run. After the run has ended, comments arrive as events (../inbound/pull-request.ts). */
const messageOf = ({ url: key, author, text, place }: ReviewComment): ForwardedMessage => ({
  key,
  author,
  text: `${place ? `${place}: ` : ''}${text}`.slice(0, stepText.message.max),
});

/** Records the state of the pull request. When it is merged, the issue of the run is closed. */
export const recordPullRequest = (
  run: Pick<OpenPullRequest, 'id' | 'updatedAt'>,
  { state, isUndecided = false }: PullRequest,
): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    if (state === 'open') {
      // While the host has not yet determined whether the pull request has conflicts, it is checked at the shortest interval.
      await Run.patch(trx, { id: run.id }, { prCheckAt: isUndecided ? at + checkAfterMs.min : nextCheck(run, at) });
      return;
    }
    const moved = await Run.patch(
      trx,
      { id: run.id, prState: 'open' },
      { prState: state, prEndedAt: at, prCheckAt: null, updatedAt: at },
    );
    if (moved === 0) return;
    await enqueue(trx, 'finish issue', { runId: run.id });
    await enqueue(trx, 'answer event', { runId: run.id });
    await announce(trx, run.id);
  });
