// Reviews of the changes of missions, in GraphQL and as MCP tools.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, epochMsOrNull, hasMany, int, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { bytes, text } from '#limits.ts';
import { branchKeyOf } from '../../work/runs/loader-keys.ts';
import { RunType } from '../../work/runs/schema.ts';
import { DiffSide } from '../../work/runs/schema-threads.ts';
import { commitSha } from '../runtime/schema-runs.ts';
import { reviewBounds } from './bounds.ts';
import { readChangedFile } from './changed-file.ts';
import { mergePullRequest } from './merge.ts';
import { ChangeComment, ChangeReview, reviewVerdicts } from './model.ts';
import * as operations from './operations.ts';

const ReviewVerdict = wordSet('ReviewVerdict', reviewVerdicts, 'Verdict of a review.', {
  approve: 'The change may be merged without changes after the reviewed commit.',
  request_changes: 'The agent is to change its work.',
  comment: 'No decision: the review is only for people.',
});

const ReviewCommentType = builder.modelType(ChangeComment, 'ReviewComment').implement({
  description: 'A comment of a review on lines of the change.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `cmt_`.'),
      path: string('The path of the file in the repository.'),
      side: typed(DiffSide.type, 'The version of the file to which the lines belong.'),
      startLine: int('The first of the lines, counted from 1.'),
      line: int('The last of the lines.'),
      quote: string('The lines as the reviewer saw them; empty when they were not sent.', {
        complexity: weightOf(reviewBounds.quote.max),
      }),
      body: string('The comment.', { complexity: weightOf(reviewBounds.comment.max) }),
      resolvedAt: epochMsOrNull('When a person resolved the comment; null while it is open.'),
      resolvedBy: stringOrNull('The name of the person who resolved the comment; null while it is open.'),
      createdAt: epochMs('When the review was submitted.'),
    }),
});

const ReviewType = builder.modelType(ChangeReview, 'Review').implement({
  description: 'A person’s verdict on the change of a mission. The runs of one branch share their reviews.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `rvw_`.'),
      runId: string('The run whose change was reviewed.'),
      headSha: string('The reviewed commit.'),
      verdict: typed(ReviewVerdict.type, 'The verdict.'),
      body: string('The person’s text about the whole change; may be empty.', {
        complexity: weightOf(reviewBounds.body.max),
      }),
      author: string('The name of the person when the review was submitted.'),
      authorUserId: stringOrNull('The person; null once the account is deleted.'),
      answeringRunId: stringOrNull('The run whose agent got the requested changes; null for other verdicts.'),
      createdAt: epochMs('When the review was submitted.'),
      comments: hasMany('missions:read', 'The comments on lines, in the order of the review.'),
    }),
});

const loadReviews = toMany<ChangeReview>(operations.reviewsOf, branchKeyOf);

builder.objectField(RunType, 'reviews', (t) =>
  t.field({
    type: [ReviewType],
    graphOnly: true,
    complexity: { field: 1, multiplier: 10 },
    description: 'Reviews of the run’s branch, including those of other runs on it, oldest first.',
    resolve: (run, _, context) => (run.branch === null ? [] : loadReviews(context).load(branchKeyOf(run))),
  }),
);

const line = z.int().min(reviewBounds.line.min).max(reviewBounds.line.max);
const NewComment = z
  .object({
    path: boundedText(reviewBounds.path).describe('The path of the file in the repository.'),
    side: DiffSide.zod.describe('The version of the file to which the lines belong.'),
    startLine: line
      .nullish()
      .describe('The first line, if the comment belongs to several lines; absent means one line.'),
    line: line.describe('The line to which the comment belongs; for several lines, the last line.'),
    quote: boundedText(reviewBounds.quote).default('').describe('The lines as you saw them, for the agent.'),
    body: boundedText(reviewBounds.comment).describe('The comment.'),
  })
  .describe('A comment on lines of the change.');
const SubmitReviewRequest = request(
  'SubmitReviewRequest',
  z
    .object({
      runId: boundedText(text.pathId).describe('The run whose change was reviewed.'),
      headSha: commitSha.describe('The commit that you have reviewed: `outcome.headSha` of the run.'),
      verdict: ReviewVerdict.zod.describe('The verdict.'),
      body: boundedText(reviewBounds.body).default('').describe('Your text about the whole change.'),
      comments: z
        .array(NewComment)
        .max(reviewBounds.comments)
        .default([])
        .describe(`Comments on lines, at most ${reviewBounds.comments}.`),
      reviewId: boundedText(text.runtimeKey)
        .nullish()
        .describe('An id that you choose for the review: a repeated request with the same id changes nothing.'),
    })
    .describe('A review of the change of a run.'),
);

const ChangedFile = builder.objectRef<{ content: Buffer | null }>('ChangedFile').implement({
  description: 'The content of a changed file before or after the change.',
  fields: (t) => ({
    base64: t.string({
      nullable: true,
      description:
        `The content in base64, at most ${bytes.repositoryFile.toLocaleString('en')} bytes before the encoding; null if the run has no change, ` +
        'the file does not exist in that version, or the source host does not have the commit.',
      complexity: weightOf(bytes.repositoryFile),
      resolve: ({ content }) => content?.toString('base64') ?? null,
    }),
  }),
});

builder.queryField('changedFile', (t) =>
  t.field({
    description: 'A file that a run has changed, such as an image, as the source host has it.',
    scope: 'artifacts:read',
    type: ChangedFile,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The run.' }),
      path: t.arg.string({
        required: true,
        description: 'The path of the file in the repository.',
        validate: { schema: boundedText(text.filePath) },
      }),
      side: t.arg({ type: DiffSide.type, required: true, description: 'The version of the file.' }),
    },
    resolve: async (_, args, { caller }) => ({ content: await readChangedFile(caller, args) }),
  }),
);

builder.mutationFields((t) => ({
  submitReview: t.field({
    description:
      'Reviews the change of a run. `request_changes` sends all comments to the agent: an open run gets them as one message, and a run that has ' +
      'ended is continued on the same branch. `approve` is the approval that a project with `autoMerge` waits for; it is refused for a ' +
      'commit that is not the newest one of the branch.',
    scope: 'missions:run',
    tool: 'submit_review',
    type: ReviewType,
    args: { input: t.arg({ type: SubmitReviewRequest, required: true, description: 'The review.' }) },
    resolve: (_, { input }, { caller }) => operations.submitReview(caller, input),
  }),
  mergePullRequest: t.field({
    description:
      'Merges the pull request of a run that has ended. The answer is 409 when the named commit is not the newest commit of the pull ' +
      'request, and when the rules of the source host forbid the merge.',
    scope: 'missions:run',
    tool: { name: 'merge_pull_request', idempotent: true, openWorld: true },
    type: RunType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The run.' }),
      headSha: t.arg.string({
        required: true,
        description: 'The commit that you have reviewed: the newest one of the pull request.',
        validate: { schema: commitSha },
      }),
    },
    resolve: (_, args, { caller }) => mergePullRequest(caller, args),
  }),
  resolveReviewComment: t.field({
    description: 'Marks a comment of a review as resolved, or opens it again.',
    scope: 'missions:run',
    type: ReviewCommentType,
    args: {
      commentId: t.arg.string({ ...pathId, description: 'The id of the comment.' }),
      isResolved: t.arg.boolean({ required: true, description: 'Whether the comment is resolved.' }),
    },
    resolve: (_, args, { caller }) => operations.resolveReviewComment(caller, args),
  }),
}));
