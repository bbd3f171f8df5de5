// Threads of the source host that people resolve and answer in this service. Each action is sent to the host, and a note in the thread
// names the person.
import type { Caller } from '#access/principal.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { recordAction } from '../../organization/audit-changes/changes.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { appendError } from '../../work/runs/decisions.ts';
import type { Run } from '../../work/runs/model.ts';
import { findRun } from '../../work/runs/operations.ts';
import { authorOf } from '../../work/runs/steering.ts';
import type { PullRequestThread } from '../../work/runs/thread-model.ts';
import { findThread, recordResolved, recordThreads, threadOfComment } from '../../work/runs/threads.ts';
import { nameInMarkdown } from './host.ts';
import { ChangeComment, ChangeReview } from './model.ts';
import { setResolved } from './operations.ts';

interface Place {
  project: Project;
  run: { id: Run['id']; prNumber: number };
  thread: PullRequestThread;
}

/** Finds the thread with its run and project. @throws 404 for an unknown run or thread */
async function findPlace(caller: Caller, runId: string, key: string): Promise<Place> {
  const run = await findRun(caller, runId);
  const thread = await findThread(caller, run, key);
  const project = await Project.get({ id: run.projectId });
  return { project, run: { id: run.id, prNumber: thread.prNumber }, thread };
}

/** Resolves a thread at the source host, or opens it again. A repeated call changes nothing. @throws 404; the errors of the host */
export async function resolveHostThread(
  caller: Caller,
  { runId, key, isResolved }: { runId: string; key: string; isResolved: boolean },
): Promise<PullRequestThread> {
  const { author } = await authorOf(caller);
  const place = await findPlace(caller, runId, key);
  // The id of the note is fixed in the first step, so that a repeated request does not write a second note.
  const noteId = await firstStep(async () => newId('reviewComment'));
  if (place.thread.isResolved !== isResolved) await resolveAtHost(place, { author, isResolved, noteId });
  return (await findPlace(caller, runId, key)).thread;
}

interface Resolution {
  author: string;
  isResolved: boolean;
  noteId: string;
}

/** The service has an account of its own at the host, so a note in the thread names the person. */
async function resolveAtHost({ project, run, thread }: Place, { author, isResolved, noteId }: Resolution) {
  const { host } = await hostOf(project);
  const { key } = thread;
  const pullRequests = host.pullRequests!;
  const body = `**${nameInMarkdown(author)}** ${isResolved ? 'resolved this thread' : 'opened this thread again'}.`;
  await pullRequests.resolveThread(project, run.prNumber, key, isResolved);
  await pullRequests.answerThread(project, run.prNumber, key, { id: noteId, body });
  await transaction((trx) => recordResolution(trx, { project, run, thread }, isResolved ? author : null));
  await recordThreads(project, run, await pullRequests.threads(project, run.prNumber));
}

/** Records that the thread is resolved or reopened. The comment from which the thread was created gets the same state. */
async function recordResolution(trx: Transaction, { thread, run }: Place, resolvedBy: string | null): Promise<void> {
  const { projectId, commentId } = thread;
  const isResolved = resolvedBy !== null;
  await recordResolved(trx, thread, resolvedBy);
  const comment = commentId && (await ChangeComment.lock(trx, { id: commentId as Id<'reviewComment'>, projectId }));
  if (comment && (comment.resolvedAt !== null) !== isResolved) await setResolved(trx, comment, resolvedBy);
  await announce(trx, run.id);
}

/** Replies in a thread at the source host. @throws 404; the errors of the host */
export async function answerHostThread(
  caller: Caller,
  { runId, key, body }: { runId: string; key: string; body: string },
): Promise<PullRequestThread> {
  const { author } = await authorOf(caller);
  const { project, run, thread } = await findPlace(caller, runId, key);
  const id = await firstStep(async () => newId('reviewComment'));
  const { host } = await hostOf(project);
  const pullRequests = host.pullRequests!;
  await pullRequests.answerThread(project, run.prNumber, key, {
    id,
    body: `**${nameInMarkdown(author)}:** ${body}`,
  });
  const { projectId, path } = thread;
  await recordAction(project.orgId, 'host_thread_answers', { projectId, runId: run.id, key, path });
  await recordThreads(project, run, await pullRequests.threads(project, run.prNumber));
  return (await findPlace(caller, runId, key)).thread;
}

/**
 * When a comment was resolved or reopened in the console, does the same with the comment's thread at the source host. If the host refuses,
 * the run shows the reason. @throws retryable Problems
 */
export async function resolveThreadOfComment({ commentId }: { commentId: string }): Promise<void> {
  const comment = await ChangeComment.find({ id: commentId as Id<'reviewComment'> });
  const thread = comment && (await threadOfComment(comment.projectId, commentId));
  if (!thread || thread.isResolved === (comment.resolvedAt !== null)) return;
  const project = await Project.get({ id: thread.projectId });
  const { runId } = (await ChangeReview.find({ id: comment.reviewId }))!;
  const { resolvedBy } = comment;
  const place = { project, run: { id: runId, prNumber: thread.prNumber }, thread };
  try {
    const { host } = await hostOf(project);
    await host.pullRequests!.resolveThread(project, thread.prNumber, thread.key, resolvedBy !== null);
    await transaction((trx) => recordResolution(trx, place, resolvedBy));
  } catch (error) {
    if (!isFinal(error)) throw error;
    await appendError(
      runId,
      `The thread on ${comment.path} was not changed at the source host: ${error.body.description}`,
    );
  }
}
