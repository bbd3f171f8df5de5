// Comments of people on issues of the built-in tracker. A comment steers the open mission of its issue, or continues the ended one within
// the limits of the project. Rules decide about comments on issues without a mission.
import type { Caller } from '#access/principal.ts';
import { ownPerson, withinReach } from '#access/reach.ts';
import { nowAfter } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { forbidden } from '#foundation/problem.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { IssueComment } from '../../projects/issues/comment-model.ts';
import { addComment } from '../../projects/issues/comments.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { newMentions } from '../../projects/vendors/event-reader.ts';
import { mentionsAgent } from '../inbound/pull-request.ts';
import { stepText } from '../runs/bounds.ts';
import { chainOf } from '../runs/chain.ts';
import { lockRun } from '../runs/lock.ts';
import type { Run } from '../runs/model.ts';
import { boundReached, findRunOfIssue, noteRemark, roundsOf, withdrawRemark } from '../runs/remarks.ts';
import { isOpen } from '../runs/states.ts';
import { forwardTo } from '../runs/steering.ts';
import { noteIssueEvent } from './events.ts';
import { lockIssue } from './operations.ts';

/** Adds a comment; `effect` says how it affects a mission. @throws 404, 409 for an issue with the maximum number of comments */
export const commentOnIssue = (caller: Caller, issueId: string, body: string): Promise<IssueComment> =>
  transaction(async (trx) => {
    const { userId } = await lockOwnMembership(trx, caller);
    const issue = await lockIssue(trx, caller, issueId);
    const { name } = await Person.get({ id: userId });
    const comment = await addComment(trx, issue, { body, author: name, authorUserId: userId });
    const action = { name: 'issue_comment' as const, action: 'created', comment: { id: comment.id, body } };
    const run = await missionOf(trx, issue);
    if (!run) {
      await noteIssueEvent(trx, caller, issue, action);
      return comment;
    }
    const { effect, handling } = await applyComment(trx, issue, comment, run);
    const status = handling ? ('started' as const) : ('ignored' as const);
    const deliveryId = await noteIssueEvent(trx, caller, issue, action, { status, reason: effect });
    if (handling === 'later') await remark(trx, issue, comment, { run, deliveryId });
    await IssueComment.patch(trx, { id: comment.id }, { effect });
    return { ...comment, effect };
  });

/**
 * Locks and returns the run in which a comment on the issue takes effect: the newest run of the issue's mission. Null if that run was canceled, and
 * for an issue without a mission.
 */
async function missionOf(trx: Transaction, { id: issueId, projectId }: Issue): Promise<Run | null> {
  const newest = await findRunOfIssue(trx, { projectId, issueId });
  const run = newest && (await lockRun(trx, { id: newest.id }));
  return run && run.status !== 'canceled' ? run : null;
}

interface CommentEffect {
  effect: string;
  /** When the comment takes effect: `now` in the open mission, `later` by continuing the mission; false for no effect. */
  handling: 'now' | 'later' | false;
}

async function applyComment(trx: Transaction, issue: Issue, comment: IssueComment, run: Run): Promise<CommentEffect> {
  const { id: key, author, authorUserId, body } = comment;
  const text = body.slice(0, stepText.message.max).toWellFormed();
  if (isOpen(run) && (await forwardTo(trx, run, [{ key, author, authorUserId, text }]))) {
    return { effect: `Sent to the agent of ${run.id}.`, handling: 'now' };
  }
  if (issue.state === 'closed' && !(await mentionsAgent(issue.orgId, newMentions(body, '')))) {
    return { effect: 'The issue is closed: mention @agent to continue its mission.', handling: false };
  }
  const project = await Project.get({ id: issue.projectId });
  const bound = boundReached(project, roundsOf(await chainOf(run, trx)), ' of the issue');
  if (bound) return { effect: `${bound} Assign the issue again to start another one.`, handling: false };
  return { effect: `The mission of ${run.id} continues within a minute.`, handling: 'later' };
}

async function remark(
  trx: Transaction,
  issue: Issue,
  { id: key, author, authorUserId: actorUserId, body: text }: IssueComment,
  { run, deliveryId }: { run: Run; deliveryId: `dlv_${string}` },
): Promise<void> {
  await noteRemark(trx, run.id, { key, author, text, actorUserId, deliveryId });
  if (issue.state === 'closed') await Issue.patch(trx, { id: issue.id }, { state: 'open' });
}

/**
 * Deletes the caller's own comment. If the comment was to continue a mission, the mission is no longer continued. An agent that has already
 * received the comment keeps it. @throws 403 for another person's comment, 404
 */
export const deleteComment = (caller: Caller, commentId: string): Promise<IssueComment> =>
  transaction(async (trx) => {
    const { comment } = await lockOwnComment(trx, caller, commentId);
    await withdrawRemark(trx, comment.id);
    await IssueComment.query(trx).deleteById(comment.id);
    return comment;
  });

async function lockOwnComment(
  trx: Transaction,
  caller: Caller,
  commentId: string,
): Promise<{ issue: Issue; comment: IssueComment }> {
  const where = { id: commentId as IssueComment['id'], ...withinReach(caller) };
  const found = await IssueComment.find(where, trx);
  if (!found) return IssueComment.refuse();
  const issue = await lockIssue(trx, caller, found.issueId);
  const comment = (await IssueComment.lock(trx, where)) ?? IssueComment.refuse();
  if (comment.authorUserId !== ownPerson(caller))
    throw forbidden('Only the author of a comment may change or delete it.');
  return { issue, comment };
}

/**
 * Changes the text of the caller's own comment. A mission that has received the comment does not receive the change. A new mention starts a
 * mission if a rule says so. @throws 403 for another person's comment, 404
 */
export const updateComment = (caller: Caller, commentId: string, body: string): Promise<IssueComment> =>
  transaction(async (trx) => {
    const { issue, comment } = await lockOwnComment(trx, caller, commentId);
    if (comment.body === body) return comment;
    const changes = { body, updatedAt: nowAfter(comment.updatedAt) };
    await IssueComment.patch(trx, { id: comment.id }, changes);
    if (!(await missionOf(trx, issue))) {
      const edited = { id: comment.id, body, before: comment.body };
      await noteIssueEvent(trx, caller, issue, { name: 'issue_comment', action: 'edited', comment: edited });
    }
    return { ...comment, ...changes };
  });
