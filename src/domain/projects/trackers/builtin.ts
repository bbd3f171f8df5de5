// The built-in tracker: issues in our own database, read in the console. The outcome is read from the run.
import { addresses } from '#foundation/http/addresses.ts';
import { newId } from '#foundation/ids.ts';
import { Issue } from '../issues/model.ts';
import { closeIssue, createIssues } from '../issues/operations.ts';
import type { CreatedIssue, Tracker } from './tracker.ts';

const pageOf = (id: string): string => `${addresses().issuer}/console/issues/${id}`;

const named = (id: Issue['id']): CreatedIssue => ({ id, url: pageOf(id) });

export const builtin: Tracker = {
  createIssue: async (project, issue) => named((await createIssues([{ project, issue }])).get(issue.runId)!),
  local: {
    name: () => named(newId('issue')),
    create: createIssues,
  },

  async findIssue(project, reference) {
    const issue =
      (await Issue.find({ projectId: project.id, id: reference })) ??
      (await Issue.get({ projectId: project.id, key: reference.toUpperCase() }));
    return named(issue.id);
  },

  async finishIssue(project, issueId, { closes }) {
    if (closes) await closeIssue(project.id, issueId);
  },
};
