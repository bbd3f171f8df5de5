// People review the change of a mission. A review that requests changes is sent to the agent that works on the branch; if no agent works on
// it, a new run continues the mission. An approval allows the merge.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { checkSoon, newestOfBranch } from '../../work/runs/branch.ts';
import { recordApproval, workOnPullRequest } from '../../work/runs/decisions.ts';
import { requireDetails } from '../../work/runs/kept.ts';
import { partsOf } from '../../work/runs/loader-keys.ts';
import type { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { authorOf, lockRunInReach, writeMessageToAgent } from '../../work/runs/steering.ts';
import { writeMission } from '../../work/starts/operations.ts';
import { continueFrom } from '../checkpoints/operations.ts';
import { reviewBounds } from './bounds.ts';
import { ChangeComment, ChangeReview, type ReviewVerdict } from './model.ts';
import { type NewComment, requestOf } from './request.ts';

export interface NewReview {
  runId: string;
  /** The commit that the person has reviewed. */
  headSha: string;
  verdict: ReviewVerdict;
  body: string;
  comments: readonly (Omit<NewComment, 'startLine'> & { startLine?: number | null | undefined })[];
  /** The sender's own id of the review: a repeated review is stored once. */
  reviewId?: string | null | undefined;
}

/** A run with a pushed branch. */
type ReviewedRun = Run & { branch: string; headSha: string };

/**
 * Stores a review with all its comments, and acts on its verdict.
 * @throws 400 for a review without text, 402, 404, 409 for a run without changes, for the approval of a commit that is not the newest one
 * of the branch, and while the mission accepts no messages
 */
export async function submitReview(caller: Caller, input: NewReview): Promise<ChangeReview> {
  const review = await transaction((trx) => writeReview(trx, caller, input));
  if (review.verdict === 'approve') await checkSoon(review.runId);
  return review;
}

async function writeReview(trx: Transaction, caller: Caller, input: NewReview): Promise<ChangeReview> {
  const { runId, headSha, verdict, body, reviewId: key = null } = input;
  const comments = input.comments.map((one) => ({ ...one, startLine: one.startLine ?? one.line }));
  const run = await lockNewest(trx, caller, runId);
  const before = key && (await ChangeReview.query(trx).findOne({ runId: run.reviewed.id, key }));
  if (before) return before;
  requireDetails(run.reviewed);
  checkComments(verdict, body, comments);
  if ((await countReviews(trx, run.newest)) >= reviewBounds.perBranch)
    throw conflict(`The branch has ${reviewBounds.perBranch} reviews, which is the maximum.`);
  if (verdict === 'approve') await approve(trx, run.newest, headSha);
  const answeringRunId =
    verdict === 'request_changes' ? await requestChanges(trx, caller, run.newest, requestOf(body, comments)) : null;
  const { id: reviewedId, orgId, projectId, branch } = run.reviewed;
  const id = newId('review');
  const at = now();
  const of = { orgId, projectId, createdAt: at };
  const stored = { id, runId: reviewedId, branch, headSha, verdict, body, answeringRunId, key, ...of };
  await ChangeReview.insert(trx, { ...stored, ...(await authorOf(caller)) });
  const rows = comments.map((one, seq) => ({ ...one, id: newId('reviewComment'), reviewId: id, seq, ...of }));
  await ChangeComment.insertMany(trx, rows);
  if (run.newest.prState === 'open') await enqueue(trx, 'host review', { reviewId: id });
  for (const runId of new Set([reviewedId, run.newest.id])) await enqueue(trx, 'attest', { runId });
  await announce(trx, reviewedId, run.newest.id);
  return (await ChangeReview.find({ id }, trx))!;
}

function checkComments(verdict: ReviewVerdict, body: string, comments: readonly NewComment[]): void {
  if (verdict !== 'approve' && body === '' && comments.length === 0)
    throw invalid.field('body', 'must not be empty in a review without comments');
  for (const [i, { startLine, line }] of comments.entries())
    if (startLine > line) throw invalid.field(`comments.${i}.startLine`, 'must not be after `line`');
  if (verdict === 'request_changes' && requestOf(body, comments).length > reviewBounds.request)
    throw invalid.field('comments', `are, together with the body, longer than ${reviewBounds.request} characters`);
}

/**
 * Locks the newest run of the branch, and returns it with the reviewed run. @throws 404; 409 if the run has no changes to review, or if its
 * branch was deleted because another attempt was chosen
 */
async function lockNewest(
  trx: Transaction,
  caller: Caller,
  runId: string,
): Promise<{ reviewed: ReviewedRun; newest: ReviewedRun }> {
  const reviewed = await lockRunInReach(trx, caller, runId);
  const { projectId, branch, headSha } = reviewed;
  if (branch === null || headSha === null) throw conflict('The run has no changes to review.');
  if (reviewed.attemptState === 'closed')
    throw conflict('Another attempt was chosen, so the branch of this one was deleted.');
  for (let newest = reviewed; ; ) {
    const id = await newestOfBranch(trx, { projectId, branch });
    // Continuing a run requires its lock, so no newer run can appear while this lock is held.
    if (id === newest.id) return { reviewed, newest } as { reviewed: ReviewedRun; newest: ReviewedRun };
    newest = await lockRunInReach(trx, caller, id);
  }
}

const countReviews = (trx: Transaction, { projectId, branch }: ReviewedRun): Promise<number> =>
  ChangeReview.query(trx).where({ projectId, branch }).resultSize();

async function approve(trx: Transaction, newest: ReviewedRun, headSha: string): Promise<void> {
  if (headSha !== newest.headSha)
    throw conflict.field(
      'headSha',
      `is not the newest commit of the branch, which is ${newest.headSha ?? 'not known yet'}`,
    );
  await recordApproval(trx, newest.id, headSha);
  if (newest.prNumber !== null) await enqueue(trx, 'commit status', { runId: newest.id });
}

/**
 * Sends the request for changes to the agent: to an open run as a message, else to a new run. Returns the id of that run. @throws 402, 409
 */
async function requestChanges(
  trx: Transaction,
  caller: Caller,
  newest: ReviewedRun,
  request: string,
): Promise<Run['id']> {
  if (isOpen(newest)) {
    await writeMessageToAgent(trx, caller, newest, { kind: 'message', text: request });
    return newest.id;
  }
  const id = await continueFrom(trx, newest, { prompt: request }, (mission, issue) =>
    writeMission(trx, caller, mission, issue),
  );
  // The new run pushes to the branch of the pull request only while the pull request is open.
  if (newest.prState === null || newest.prState === 'open')
    await workOnPullRequest(trx, id, { ...newest, originDeliveryId: null, originNumber: null });
  return id;
}

const ofBranchesSql = `${selectionOf(ChangeReview)} where org_id = $1 and ($2::text is null or project_id = $2)
  and (project_id, branch) in (select b.project, b.branch from unnest($3::text[], $4::text[]) b (project, branch)) order by ${ChangeReview.order}`;

/** Reviews of these branches (named by `branchKeyOf`) that the caller can access, oldest first. */
export function reviewsOf(branches: readonly string[], caller: Caller): Promise<ChangeReview[]> {
  const { orgId, projectId = null } = withinReach(caller);
  return sql<ChangeReview>(ofBranchesSql, [orgId, projectId, ...partsOf(branches)]);
}

/** Resolves or reopens a comment and its thread at the source host. @throws 404 */
export const resolveReviewComment = (
  caller: Caller,
  { commentId: id, isResolved }: { commentId: string; isResolved: boolean },
): Promise<ChangeComment> =>
  transaction(async (trx) => {
    const comment = await ChangeComment.lock(trx, { id, ...withinReach(caller) });
    if (!comment) return ChangeComment.refuse();
    if ((comment.resolvedAt !== null) === isResolved) return comment;
    await enqueue(trx, 'host thread', { commentId: id });
    return setResolved(trx, comment, isResolved ? (await authorOf(caller)).author : null);
  });

/**
 * Resolves a comment in the name of a person, or opens it again. @param comment The row, locked by the transaction @param resolvedBy Null
 * opens the comment again
 */
export async function setResolved(
  trx: Transaction,
  comment: ChangeComment,
  resolvedBy: string | null,
): Promise<ChangeComment> {
  const changes = { resolvedAt: resolvedBy === null ? null : now(), resolvedBy };
  await ChangeComment.patch(trx, { id: comment.id }, changes);
  const { runId } = (await ChangeReview.find({ id: comment.reviewId }, trx))!;
  await announce(trx, runId);
  return { ...comment, ...changes };
}
