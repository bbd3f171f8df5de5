// The port to issue trackers: what a mission's dispatch asks of them, whoever they are. One file per vendor.
import type { NewIssue } from '../../issues/operations.ts';
import type { Project } from '../../projects/model.ts';

export interface CreatedIssue {
  /** As the tracker names it. */
  id: string;
  /** Where a person reads it. */
  url: string;
}

export interface Tracker {
  /**
   * Creates the issue of a run. Asked again for the same `runId`, also by another process, it gives the same issue.
   * @throws a Problem: a retryable one is tried again later, any other fails the run.
   */
  createIssue(project: Project, issue: NewIssue): Promise<CreatedIssue>;
}
