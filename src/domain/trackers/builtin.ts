// The tracker that needs nothing outside: issues in our own database, read in the console. How a run went, the run itself says.
import { addresses } from '#foundation/addresses.ts';
import { closeIssue, createIssue } from '../issues/operations.ts';
import type { Tracker } from './tracker.ts';

export const builtin: Tracker = {
  async createIssue(project, issue) {
    const id = await createIssue(project, issue);
    return { id, url: `${addresses().issuer}/console/issues/${id}` };
  },

  async finishIssue(project, issueId, { status }) {
    if (status === 'completed') await closeIssue(project.id, issueId);
  },
};
