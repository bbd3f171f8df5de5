// The built-in tracker: issues in our own database, read in the console. The outcome is read from the run.
import { addresses } from '#foundation/addresses.ts';
import { Issue } from '../issues/model.ts';
import { type AskedIssue, closeIssue, createIssues } from '../issues/operations.ts';
import type { CreatedIssue, Tracker } from './tracker.ts';

const pageOf = (id: string): string => `${addresses().issuer}/console/issues/${id}`;

async function created(asked: readonly AskedIssue[]): Promise<CreatedIssue[]> {
  const ids = await createIssues(asked);
  return asked.map(({ issue }) => {
    const id = ids.get(issue.runId)!;
    return { id, url: pageOf(id) };
  });
}

export const builtin: Tracker = {
  createIssue: async (project, issue) => (await created([{ project, issue }]))[0]!,
  createIssues: created,

  async findIssue(project, reference) {
    const issue =
      (await Issue.find({ projectId: project.id, id: reference })) ??
      (await Issue.get({ projectId: project.id, key: reference.toUpperCase() }));
    return { id: issue.id, url: pageOf(issue.id) };
  },

  async finishIssue(project, issueId, { closes }) {
    if (closes) await closeIssue(project.id, issueId);
  },
};
