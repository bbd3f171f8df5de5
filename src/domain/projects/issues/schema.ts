// Issues of the built-in tracker.
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
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
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id, which starts with `iss_`.' }),
    projectId: t.exposeString('projectId', { description: 'The id of the project; starts with `prj_`.' }),
    number: t.exposeInt('number', { description: 'Consecutive number within the project.' }),
    key: t.exposeString('key', { description: 'The issue code of the project and the number, such as WEB-12.' }),
    title: t.exposeString('title', { description: 'The title of the mission, in one line.' }),
    body: t.exposeString('body', { complexity: weightOf(text.prompt.max), description: 'The task in Markdown.' }),
    labels: t.exposeStringList('labels', { description: 'Labels of the scheduled task or automation.' }),
    state: t.expose('state', { type: IssueState.type, description: 'Whether work on the issue is finished.' }),
    runId: t.exposeString('runId', { nullable: true, description: 'The run that the issue was created for.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the issue was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'EpochMs', description: 'When the issue was last changed.' }),
    project: t.belongsTo('project', {
      link: 'projects:read',
      description: 'The project; null when the caller may not read projects.',
    }),
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
