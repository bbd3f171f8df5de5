// The background jobs of a moving organization. They are taken out of their queues, and sent to the other cell after the file with the
// organization's rows was sent.
import { setTimeout as wait } from 'node:timers/promises';
import { minutes } from '#foundation/clock.ts';
import { maxQuestionBytes } from '#foundation/http/cells.ts';
import { hasOpenJobs, takeJobs, type WaitingJob } from '#foundation/jobs/waiting-jobs.ts';
import { ChangeComment, ChangeReview } from '../../execution/reviews/model.ts';
import type { CellOrganization } from '../../organization/cells/model.ts';
import { changeState, moveStateOf, putState } from '../../organization/cells/state.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { AttemptGroup } from '../../work/attempts/model.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { Run } from '../../work/runs/model.ts';
import { movePaths } from './arrive.ts';
import { askAboutMove } from './ask.ts';
import { MoveError } from './lock.ts';

/** Members of job payloads that contain the id of a record, each with the model of the record. */
const records = {
  runId: Run,
  threadId: ChatThread,
  groupId: AttemptGroup,
  deliveryId: InboundDelivery,
  projectId: Project,
  integrationId: Integration,
  reviewId: ChangeReview,
  commentId: ChangeComment,
} as const;

/**
 * SQL condition on a job of the organization `$1`. Mail jobs are not included: such a job contains the complete mail, so the cell that
 * wrote it sends it.
 */
const isOwnSql = [
  `data ->> 'orgId' = $1`,
  ...Object.entries(records).map(
    ([member, { tableName }]) =>
      `exists (select from ${tableName} r where r.id = data ->> '${member}' and r.org_id = $1)`,
  ),
].join(' or ');

/** Time limit for jobs that are running. */
const drainMs = minutes(2);
const pollMs = 200;

/** Takes the jobs of the organization out of their queues, and waits until running ones have ended. @throws MoveError */
export async function holdJobs(orgId: string, moveId: string): Promise<void> {
  for (let waited = 0; await hasOpenJobs(isOwnSql, orgId); waited += pollMs) {
    if (waited >= drainMs)
      throw new MoveError(
        'a job of the organization has not ended: repeat the command, or cancel the move with --cancel',
      );
    await changeState(orgId, async (trx) => {
      const state = await moveStateOf(orgId);
      if (state?.moveId !== moveId) throw new MoveError('the move was canceled');
      await putState(trx, { ...state, jobs: [...state.jobs, ...(await takeJobs(trx, isOwnSql, orgId))] });
    });
    await wait(pollMs);
  }
}

/** A part gets no further jobs once it has this size. */
const partBytes = 1024 ** 2;

/** Sends the jobs in parts, because an organization can have a hundred thousand of them. Sending them again changes nothing. @throws MoveError */
export async function sendJobs({ orgId, moveId, otherCell, jobs }: CellOrganization): Promise<void> {
  for (let first = 0; first < jobs.length; ) {
    const part = partFrom(jobs, first);
    await askAboutMove(
      otherCell,
      movePaths.jobs,
      { orgId, moveId, first, jobs: part },
      'has not received the waiting jobs',
    );
    first += part.length;
  }
}

function partFrom(jobs: readonly WaitingJob[], first: number): WaitingJob[] {
  let [end, size] = [first, 0];
  while (end < jobs.length && size < partBytes) {
    const bytes = Buffer.byteLength(JSON.stringify(jobs[end]));
    if (bytes > maxQuestionBytes - 2 * partBytes)
      throw new MoveError(
        `a job of the queue "${jobs[end]!.queue}" has ${bytes} bytes, which is too large to send: cancel the move (--cancel), and start again when the job has ended`,
      );
    size += bytes;
    end++;
  }
  return jobs.slice(first, end);
}
