// Comments on issues of the built-in tracker.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, members, string, stringOrNull } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { weightOf } from '#graph/weight.ts';
import { pages } from '#limits.ts';
import { issueText } from './bounds.ts';
import { IssueComment } from './comment-model.ts';
import * as comments from './comments.ts';
import './schema.ts';

export const IssueCommentType = builder.modelType(IssueComment, 'IssueComment').implement({
  description: 'A comment on an issue of the built-in tracker.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `icm_`.'),
      issueId: string('The issue.'),
      projectId: string('The project of the issue.'),
      authorUserId: stringOrNull(
        'The person who wrote the comment; null for the comment of a mission, and once the account is deleted.',
      ),
      author: string('Name of the author when the comment was written.'),
      runId: stringOrNull(
        'The first run of the mission that keeps this comment up to date; null for a person’s comment.',
      ),
      body: string(`The text in Markdown, at most ${issueText.comment.max} characters.`, {
        complexity: weightOf(issueText.comment.max),
      }),
      effect: stringOrNull(
        'Explanation of the comment’s effect on a mission; null for a comment that concerns no mission.',
      ),
      createdAt: epochMs('When the comment was written.'),
      updatedAt: epochMs('When the text was last changed; equal to `createdAt` before the first change.'),
      issue: t.belongsTo('issue', { link: 'missions:read', description: 'The issue.' }),
    }),
});

builder.queryField('issueComments', (t) =>
  t.field({
    description: 'Comments on an issue of the built-in tracker.',
    scope: 'missions:read',
    tool: 'list_issue_comments',
    type: pageOf('IssueCommentPage', IssueCommentType),
    args: {
      issueId: t.arg.string({ ...pathId, description: 'The id of the issue.' }),
      ...pageArguments(pages.other),
      ...orderArgument(),
    },
    resolve: (_, args, { caller }) => comments.listComments(caller, args),
  }),
);
