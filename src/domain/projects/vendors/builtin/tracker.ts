// The built-in tracker: issues in the platform's own database, shown in the console.
import { newId } from '#foundation/ids.ts';
import { consolePage, pageOfSlug } from '../../../organization/organizations/pages.ts';
import { readComments, writeMissionComment } from '../../issues/comments.ts';
import { Issue } from '../../issues/model.ts';
import { closeIssue, createIssues } from '../../issues/operations.ts';
import type { CreatedIssue, Tracker } from '../tracker.ts';

export const issuePage = (id: Issue['id']): string => `/issues/${id}`;

const named = async ({ orgId }: Pick<Issue, 'orgId'>, id: Issue['id']): Promise<CreatedIssue> => ({
  id,
  url: await consolePage(orgId, issuePage(id)),
});

export const builtinTracker: Tracker = {
  createIssue: async (project, issue) => named(project, (await createIssues([{ project, issue }])).get(issue.runId)!),
  local: {
    name(slug) {
      const id = newId('issue');
      return { id, url: pageOfSlug(slug, issuePage(id)) };
    },
    create: createIssues,
  },

  async findIssue(project, reference) {
    const issue =
      (await Issue.find({ projectId: project.id, id: reference })) ??
      (await Issue.get({ projectId: project.id, key: reference.toUpperCase() }));
    const comments = await readComments(issue.id);
    return { ...(await named(project, issue.id)), title: issue.title, body: issue.body, comments };
  },

  async finishIssue(project, issueId, { runId, closes, comment }) {
    if (comment !== null) await writeMissionComment(issueId, runId, comment);
    if (closes) await closeIssue(project.id, issueId);
  },
};
