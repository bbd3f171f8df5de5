// The built-in tracker: issues in our own database, read in the console. The outcome is read from the run.
import { addresses } from '#foundation/addresses.ts';
import { Issue } from '../issues/model.ts';
import { closeIssue, createIssue } from '../issues/operations.ts';
import type { Tracker } from './tracker.ts';

export const builtin: Tracker = {
  async createIssue(project, issue) {
    const id = await createIssue(project, issue);
    return { id, url: `${addresses().issuer}/console/issues/${id}` };
  },

  async findIssue(project, reference) {
    const issue =
      (await Issue.find({ projectId: project.id, id: reference })) ??
      (await Issue.get({ projectId: project.id, key: reference.toUpperCase() }));
    return { id: issue.id, url: `${addresses().issuer}/console/issues/${issue.id}` };
  },

  async finishIssue(project, issueId, { closes }) {
    if (closes) await closeIssue(project.id, issueId);
  },
};
