// Issues of the built-in tracker.
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { belongsTo, epochMs, int, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, previewSizes, text } from '#limits.ts';
import { ProjectType } from '../projects/schema.ts';
import { Issue, issueStates } from './model.ts';
import * as operations from './operations.ts';

const IssueState = wordSet('IssueState', issueStates, 'Whether work on an issue is still to be done.', {
  open: 'Work is expected or under way.',
  closed: 'The run of the issue has ended.',
});

export const IssueType = builder.modelType(Issue, 'Issue').implement({
  description: 'An issue of the tracker that is built in.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `iss_`.'),
      projectId: string('The id of the project; starts with `prj_`.'),
      number: int('Consecutive number within the project.'),
      key: string('The issue code of the project and the number, such as WEB-12.'),
      title: string('The title of the mission, in one line.'),
      body: string('The task in Markdown.', { complexity: weightOf(text.prompt.max) }),
      labels: strings('Labels of the scheduled task or automation.'),
      state: typed(IssueState.type, 'Whether work on the issue is finished.'),
      runId: stringOrNull('The run that the issue was created for.'),
      createdAt: epochMs('When the issue was created.'),
      updatedAt: epochMs('When the issue was last changed.'),
      project: belongsTo('projects:read', 'The project; null when the caller may not read projects.'),
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
    description: 'Issues of the built-in tracker; of one project, or of all.',
    scope: 'missions:read',
    rest: 'GET /issues',
    type: IssuePage,
    args: { ...pageArguments(pages.other), ...orderArgument(), projectId: t.arg.string(filter) },
    resolve: (_, args, { caller }) => operations.listIssues(caller, args),
  }),
  issue: t.field({
    description: 'One issue of the built-in tracker.',
    scope: 'missions:read',
    rest: 'GET /issues/{issueId}',
    type: IssueType,
    args: { issueId: t.arg.string(pathId) },
    resolve: (_, { issueId }, { caller }) => operations.findIssue(caller, issueId),
  }),
}));
