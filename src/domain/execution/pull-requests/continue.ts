// Continues the missions of pull requests and issues after new remarks from people or CI checks (../../work/runs/remarks.ts). An open run
// gets the remarks as messages; an ended run is continued from its newest checkpoint, on the same branch while its pull request is open.
import { randomUUID } from 'node:crypto';
import { days, now } from '#foundation/clock.ts';
import { idOfNoun } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { IssueComment } from '../../projects/issues/comment-model.ts';
import { stepText } from '../../work/runs/bounds.ts';
import { newestBeside } from '../../work/runs/chat-runs.ts';
import { appendError, keepPerson, recordOrigin, workOnPullRequest } from '../../work/runs/decisions.ts';
import { lockRun } from '../../work/runs/lock.ts';
import { findByKey } from '../../work/runs/messages.ts';
import { Run } from '../../work/runs/model.ts';
import {
  findRunOfIssue,
  findRunOfPullRequest,
  lockRemarks,
  runsWithRemarks,
  type StoredRemark,
  settleRemarks,
} from '../../work/runs/remarks.ts';
import { isOpen } from '../../work/runs/states.ts';
import { forwardTo } from '../../work/runs/steering.ts';
import { writeMissionFor } from '../../work/starts/operations.ts';
import { continueFrom } from '../checkpoints/operations.ts';
import { remarksPrompt } from '../mission-steps/prompts.ts';

/**
 * How long remarks, such as comments and failed checks, wait if their mission cannot be continued because credits are missing or because a
 * cap or a budget is reached. They wait because the organization may soon add credits or raise the cap or budget.
 */
const waitMs = days(2);

/** Continues all missions that have remarks. @throws after all missions were tried, when a mission failed internally */
export async function continuePullRequests(): Promise<void> {
  const errors: unknown[] = [];
  for (const runId of await runsWithRemarks()) {
    await transaction((trx) => continueWithRemarks(trx, runId)).catch((error) => errors.push(error));
  }
  if (errors.length > 0)
    throw new Error(`${errors.length} missions that have new remarks could not be continued`, { cause: errors[0] });
}

async function continueWithRemarks(trx: Transaction, runId: string): Promise<void> {
  const remarks = await lockRemarks(trx, runId);
  const named = await Run.find({ id: runId }, trx);
  if (!named || remarks.length === 0) return;
  const { projectId, prNumber: number, branch, issueId } = named;
  const isIssue = issueId !== null && remarks.some(isOfIssue);
  const newest =
    (await findRunOfPullRequest([projectId], { number, branch }, trx)) ??
    (isIssue ? await findRunOfIssue(trx, { projectId, issueId }) : await newestBeside(trx, runId));
  const run = newest && (await lockRun(trx, { id: newest.id }));
  // The remarks are dropped: the pull request is no longer open and the mission has no thread, or the mission of the issue was canceled.
  if (!run || (isIssue && run.status === 'canceled')) return settleRemarks(trx, remarks);
  if (isOpen(run)) {
    const messages = remarks.map(({ key, author, text, ...remark }) => ({
      key,
      author: author || 'A check',
      authorUserId: isOfIssue({ key }) ? remark.actorUserId : null,
      text: text.slice(0, stepText.message.max).toWellFormed(),
    }));
    // A run that is about to end accepts no messages, so it is continued after its end.
    if (await forwardTo(trx, run, messages)) await settleRemarks(trx, remarks);
    return;
  }
  const unheard: StoredRemark[] = [];
  for (const remark of remarks) if (!(await findByKey(trx, run.id, remark.key))) unheard.push(remark);
  if (unheard.length > 0 && !(await continueWith(trx, run, unheard))) return;
  await settleRemarks(trx, remarks);
}

/** Whether the remark is a comment on an issue of the built-in tracker. */
const isOfIssue = ({ key }: Pick<StoredRemark, 'key'>): boolean => idOfNoun('issueComment', key) !== null;

/** Continues the mission with the comments. Returns false when its budget or the credits do not allow that yet. */
async function continueWith(trx: Transaction, run: Run, remarks: readonly StoredRemark[]): Promise<boolean> {
  const author = remarks.findLast(({ actorUserId }) => actorUserId !== null)?.actorUserId ?? null;
  const actor = author ?? run.billingActorUserId;
  const isOnPullRequest = run.prState === 'open';
  const prompt = remarksPrompt(isOnPullRequest ? run : { ...run, prNumber: null }, remarks, randomUUID());
  try {
    await trx.transaction(async (savepoint) => {
      const id = await continueFrom(savepoint, run, { prompt }, (mission, issue) =>
        writeMissionFor(savepoint, { orgId: run.orgId, billingActorUserId: actor }, mission, issue),
      );
      if (!author) await keepPerson(savepoint, id, run);
      const originDeliveryId = remarks.findLast(({ deliveryId }) => deliveryId !== null)?.deliveryId;
      const originNumber = remarks.every(isOfIssue) ? null : run.prNumber;
      const origin = originDeliveryId && { originDeliveryId, originNumber };
      if (isOnPullRequest) await workOnPullRequest(savepoint, id, { ...run, ...origin });
      else if (origin) await recordOrigin(savepoint, id, origin);
      // The queued jobs update the comments on the pull request and the issue, so that they link to the new run.
      if (isOnPullRequest) await enqueue(savepoint, 'answer event', { runId: id });
      if (run.issueId !== null && (isOnPullRequest || origin)) await enqueue(savepoint, 'finish issue', { runId: id });
    });
    return true;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    if (error.status === 402 && remarks[0]!.createdAt > now() - waitMs) return false;
    const on = isOnPullRequest ? ' on the pull request' : '';
    const words = `The mission was not continued with the remarks${on}: ${error.body.description}`;
    await appendError(run.id, words, trx);
    const ids = remarks.filter(isOfIssue).map(({ key }) => key);
    await IssueComment.query(trx).whereIn('id', ids).patch({ effect: words });
    return true;
  }
}
