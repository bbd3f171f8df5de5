// Mutations on issues of the built-in tracker: write, change, assign and comment. Assignments and comments start and steer missions.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { ifUpdatedAt, pathId, request } from '#graph/input.ts';
import { boundedText, nameText, plainText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { issueCounts, issueText } from '../../projects/issues/bounds.ts';
import { IssueState, IssueType } from '../../projects/issues/schema.ts';
import { IssueCommentType } from '../../projects/issues/schema-comments.ts';
import { RunType } from '../runs/schema.ts';
import * as comments from './comments.ts';
import * as operations from './operations.ts';

const title = nameText(issueText.title).describe(`The title in one line, ${range(issueText.title)} characters.`);
const body = plainText()
  .max(issueText.body.max)
  .describe(`The task in Markdown, at most ${issueText.body.max} characters. Agents get it as quoted text.`);
const labels = z.array(nameText(text.label)).max(issueCounts.labels).describe(`At most ${issueCounts.labels} labels.`);
const assignee = 'A member or an agent. Assigning an agent starts a mission at once; the mission is billed to you.';

const CreateRequest = request(
  'CreateIssueRequest',
  z
    .object({
      projectId: boundedText(text.pathId).describe('A project whose tracker is the built-in one.'),
      title,
      body: body.default(''),
      labels: labels.default([]),
      assigneeId: boundedText(text.pathId).nullish().describe(`${assignee} Absent means nobody.`),
    })
    .meta({
      description: 'A new issue of the built-in tracker.',
      examples: [{ projectId: 'prj_0193f0c2', title: 'The footer names the wrong year', assigneeId: 'agn_0193f0c2' }],
    }),
);
const UpdateRequest = request(
  'UpdateIssueRequest',
  z
    .object({
      title: title.optional(),
      body: body.optional(),
      labels: labels.optional(),
      state: IssueState.zod.optional().describe('`closed` cancels the mission of the issue; `open` starts none.'),
    })
    .meta({ description: 'Omitted members stay unchanged.', examples: [{ state: 'closed' }] }),
);

const issueId = { ...pathId, description: 'The id of the issue.' } as const;
const commentBody = {
  required: true,
  description: `The text in Markdown, ${range(issueText.comment)} characters.`,
  validate: { schema: boundedText(issueText.comment) },
} as const;

builder.objectField(IssueType, 'runs', (t) =>
  t.hasMany('runs', {
    description: 'The newest 20 runs of the issue.',
    link: 'missions:read',
    limit: 20,
    type: RunType,
  }),
);

builder.mutationFields((t) => ({
  createIssue: t.field({
    description:
      'Creates an issue in the built-in tracker of a project. If it is assigned to an agent, a mission starts.',
    scope: 'missions:run',
    tool: { name: 'create_issue', openWorld: true },
    type: IssueType,
    args: { input: t.arg({ type: CreateRequest, required: true, description: 'The new issue.' }) },
    resolve: (_, { input }, { caller }) => operations.createIssue(caller, input),
  }),
  updateIssue: t.field({
    description: 'Changes an issue of the built-in tracker, closes or reopens it. Closing cancels its mission.',
    scope: 'missions:run',
    tool: { name: 'update_issue', idempotent: true },
    type: IssueType,
    args: {
      issueId: t.arg.string(issueId),
      input: t.arg({ type: UpdateRequest, required: true, description: 'The changes.' }),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { issueId: id, input, ifUpdatedAt: seen }, { caller }) =>
      operations.updateIssue(caller, id, input, seen),
  }),
  assignIssue: t.field({
    description:
      'Assigns an issue of the built-in tracker. An agent starts a mission on it at once, billed to you; the mission of the previous agent ' +
      'is canceled. Repeating the assignment changes nothing while the agent works on the issue.',
    scope: 'missions:run',
    tool: { name: 'assign_issue', openWorld: true, idempotent: true },
    type: IssueType,
    args: {
      issueId: t.arg.string(issueId),
      assigneeId: t.arg.string({
        description: `${assignee} Null or absent means nobody. If the issue was assigned to an agent until now, the mission of that agent is canceled.`,
        validate: { schema: boundedText(text.pathId) },
      }),
    },
    resolve: (_, { issueId: id, assigneeId }, { caller }) => operations.assignIssue(caller, id, assigneeId ?? null),
  }),
  commentOnIssue: t.field({
    description:
      'Comments on an issue of the built-in tracker. An agent that works on the issue receives the comment as a message. If the mission of that agent has ended, the comment continues the mission within the limits of the project. On a closed issue, only a comment that mentions `@agent` continues the mission.',
    scope: 'missions:run',
    tool: { name: 'comment_on_issue', openWorld: true },
    type: IssueCommentType,
    args: { issueId: t.arg.string(issueId), body: t.arg.string(commentBody) },
    resolve: (_, { issueId: id, body: said }, { caller }) => comments.commentOnIssue(caller, id, said),
  }),
  deleteIssueComment: t.field({
    description:
      'Deletes your own comment, and returns it. An agent that has received the comment keeps it. If a mission was going to continue because of the comment, it no longer does.',
    scope: 'missions:run',
    tool: { name: 'delete_issue_comment', destructive: true },
    type: IssueCommentType,
    args: { issueCommentId: t.arg.string({ ...pathId, description: 'The id of the comment.' }) },
    resolve: (_, { issueCommentId }, { caller }) => comments.deleteComment(caller, issueCommentId),
  }),
  updateIssueComment: t.field({
    description:
      'Changes the text of your own comment. An agent that has received the comment does not receive the change.',
    scope: 'missions:run',
    tool: { name: 'update_issue_comment', idempotent: true },
    type: IssueCommentType,
    args: {
      issueCommentId: t.arg.string({ ...pathId, description: 'The id of the comment.' }),
      body: t.arg.string(commentBody),
    },
    resolve: (_, { issueCommentId, body: said }, { caller }) => comments.updateComment(caller, issueCommentId, said),
  }),
}));
