// The built-in tracker: issues in the platform's own database, shown in the console. The outcome is read from the run.
import { newId } from '#foundation/ids.ts';
import { consolePage, pageOfSlug } from '../../../organization/organizations/pages.ts';
import { Issue } from '../../issues/model.ts';
import { closeIssue, createIssues } from '../../issues/operations.ts';
import type { CreatedIssue, Tracker } from '../tracker.ts';

const pageOf = (id: Issue['id']): string => `/issues/${id}`;

const named = async ({ orgId }: Pick<Issue, 'orgId'>, id: Issue['id']): Promise<CreatedIssue> => ({
  id,
  url: await consolePage(orgId, pageOf(id)),
});

export const builtinTracker: Tracker = {
  createIssue: async (project, issue) => named(project, (await createIssues([{ project, issue }])).get(issue.runId)!),
  local: {
    name(slug) {
      const id = newId('issue');
      return { id, url: pageOfSlug(slug, pageOf(id)) };
    },
    create: createIssues,
  },

  async findIssue(project, reference) {
    const issue =
      (await Issue.find({ projectId: project.id, id: reference })) ??
      (await Issue.get({ projectId: project.id, key: reference.toUpperCase() }));
    return { ...(await named(project, issue.id)), title: issue.title, body: issue.body, comments: [] };
  },

  async finishIssue(project, issueId, { closes }) {
    if (closes) await closeIssue(project.id, issueId);
  },
};
