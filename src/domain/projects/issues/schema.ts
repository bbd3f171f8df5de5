// Issues of the built-in tracker.

import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { filter, pathId } from '#graph/input.ts';
import { belongsTo, epochMs, int, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, previewSizes, text } from '#limits.ts';
import { loadAgent } from '../agents/schema.ts';
import { ProjectType } from '../projects/schema.ts';
import { issueText } from './bounds.ts';
import { Issue, issueStates } from './model.ts';
import * as operations from './operations.ts';

export const IssueState = wordSet('IssueState', issueStates, 'Whether work on an issue is still to be done.', {
  open: 'Work is expected or in progress.',
  closed: 'The work is done, or no longer wanted.',
});
const peopleWithIds = toOne(operations.findAssignees, ({ id }) => id);

export const IssueType = builder.modelType(Issue, 'Issue').implement({
  description: 'An issue of the built-in tracker.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `iss_`.'),
      projectId: string('The id of the project; starts with `prj_`.'),
      number: int('Consecutive number within the project.'),
      key: string('The issue code of the project and the number, such as WEB-12.'),
      title: string(`The title in one line, at most ${issueText.title.max} characters.`),
      body: string('The task in Markdown.', { complexity: weightOf(text.prompt.max) }),
      labels: strings('The labels, at most 20.'),
      state: typed(IssueState.type, 'Whether work on the issue is finished.'),
      agentId: stringOrNull(
        'The agent to which the issue is assigned; null while it is assigned to a person or nobody.',
      ),
      assigneeUserId: stringOrNull(
        'The person to whom the issue is assigned; null while it is assigned to an agent or nobody.',
      ),
      assigneeName: t.string({
        nullable: true,
        description:
          'Name of the agent or person to whom the issue is assigned; null without one, and for a deleted agent.',
        resolve: async ({ agentId, assigneeUserId }, _, context) => {
          if (agentId !== null) return (await loadAgent(context).load(agentId))?.name ?? null;
          return assigneeUserId && ((await peopleWithIds(context).load(assigneeUserId))?.name ?? null);
        },
      }),
      createdByUserId: stringOrNull(
        'The person who wrote the issue; null for the issue of a mission, and once the account is deleted.',
      ),
      runId: stringOrNull('The run that the issue was created for; null for an issue that a person wrote.'),
      createdAt: epochMs('When the issue was created.'),
      updatedAt: epochMs('When the issue was last changed.'),
      project: belongsTo('projects:read', 'The project; null when the caller is not allowed to read projects.'),
    }),
});

builder.objectField(ProjectType, 'issues', (t) =>
  t.hasMany('issues', {
    description: `The newest ${previewSizes.perParent} issues of the built-in tracker.`,
    link: 'missions:read',
    limit: previewSizes.perParent,
  }),
);

const IssuePage = pageOf('IssuePage', IssueType);

builder.queryFields((t) => ({
  issues: t.field({
    description: 'Issues of the built-in tracker, of one project or of all projects.',
    scope: 'missions:read',
    rest: 'GET /issues',
    tool: 'list_issues',
    type: IssuePage,
    args: {
      ...pageArguments(pages.other),
      ...orderArgument(),
      projectId: t.arg.string(filter),
      state: t.arg({ type: IssueState.type, description: 'Only issues in this state.' }),
      agentId: t.arg.string({ ...filter, description: 'Only issues that are assigned to this agent.' }),
    },
    resolve: (_, args, { caller }) => operations.listIssues(caller, args),
  }),
  issue: t.field({
    description: 'One issue of the built-in tracker.',
    scope: 'missions:read',
    rest: 'GET /issues/{issueId}',
    tool: 'get_issue',
    type: IssueType,
    args: { issueId: t.arg.string(pathId) },
    resolve: (_, { issueId }, { caller }) => operations.findIssue(caller, issueId),
  }),
}));
