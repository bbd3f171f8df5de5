// Synchronizes reviews with the source host: each review is written to the open pull request, and comments that are resolved there are
// resolved here.
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { appendError } from '../../work/runs/decisions.ts';
import { Run } from '../../work/runs/model.ts';
import type { ResolvedComment } from '../../work/runs/threads.ts';
import { ChangeComment, ChangeReview, type ReviewVerdict } from './model.ts';
import { setResolved } from './operations.ts';

const verdictWords: Record<ReviewVerdict, string> = {
  approve: 'approves the change',
  request_changes: 'requests changes',
  comment: 'comments on the change',
};

/** Escapes a name for Markdown, so that it cannot format the text or mention anyone. */
export const nameInMarkdown = (name: string): string => name.replaceAll(/[\\`*_[\]<>@#]/g, '\\$&');

/**
 * Writes a review to the pull request and names its author. If the host rejects it, the run shows the reason. @throws retryable Problems
 */
export async function writeReviewToHost({ reviewId }: { reviewId: string }): Promise<void> {
  const review = await ChangeReview.find({ id: reviewId as Id<'review'> });
  const run = review && (await Run.find({ id: review.runId }));
  const project = run && (await Project.find({ id: run.projectId }));
  if (!project || run.prNumber === null) return;
  const comments = await ChangeComment.findAll({ reviewId: review.id });
  const { id, headSha, verdict, body, author } = review;
  const name = nameInMarkdown(author);
  const page = await consolePage(run.orgId, `/runs/${run.id}/changes`);
  const head = `**${name}** ${verdictWords[verdict]} at ${headSha} ([review](${page})).`;
  try {
    const { host } = await hostOf(project);
    await host.pullRequests?.review(project, run.prNumber, {
      ...{ reviewId: id, headSha, body: body === '' ? head : `${head}\n\n${body}` },
      comments: comments.map((one) => ({ ...one, body: `**${name}:** ${one.body}` })),
    });
  } catch (error) {
    if (!isFinal(error)) throw error;
    await appendError(run.id, `The review by ${author} was not written to the pull request: ${error.body.description}`);
  }
}

/** Resolves comments that were resolved at the host, and reopens all other comments. */
export const resolveComments = ({
  projectId,
  comments,
}: {
  projectId: string;
  comments: ResolvedComment[];
}): Promise<void> =>
  transaction(async (trx) => {
    for (const { commentId, resolvedBy } of comments) {
      const comment = await ChangeComment.lock(trx, {
        id: commentId as Id<'reviewComment'>,
        projectId: projectId as Id<'project'>,
      });
      if (!comment || (comment.resolvedAt !== null) === (resolvedBy !== null)) continue;
      await setResolved(trx, comment, resolvedBy);
    }
  });
