// The interface to issue trackers: create the issue of a run, and close it. Each vendor implements it in its folder (../vendors).

import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import type { AskedIssue, NewIssue } from '../issues/operations.ts';
import type { Project } from '../projects/model.ts';

export interface CreatedIssue {
  /** The key or number of the issue at the tracker, such as WEB-12. */
  id: string;
  /** URL of the issue's page. */
  url: string;
}

/** An existing issue with its title, description and comments. */
export interface FoundIssue extends CreatedIssue {
  title: string;
  body: string;
  /** Comments on the issue, oldest first. */
  comments: { author: string; text: string }[];
}

/**
 * Describes how to change the issue of a run, so that the issue shows the state of the run. An issue is changed when its run has ended. If an event
 * has started the run, the issue is also changed when the run has started.
 */
export interface IssueOutcome {
  runId: Id<'run'>;
  closes: boolean;
  /** Text of the comment; null when the tracker already shows the mission in another way. */
  comment: string | null;
}

/** Each operation takes less than a fifth of a dispatcher's lease, and is idempotent, because another process may repeat it. */
export interface Tracker {
  /**
   * Creates the issue of a run. A repeated call for the same `runId` returns the same issue.
   * @throws a Problem: a retryable one is retried later, any other fails the run.
   */
  createIssue(project: Project, issue: NewIssue): Promise<CreatedIssue>;
  /** Present only for the built-in tracker, which creates the issues of runs in the transaction that writes the runs. */
  local?: {
    /** Id and URL for a new issue of the organization with the slug `slug`. */
    name(slug: string): CreatedIssue;
    create(named: readonly AskedIssue[], trx: Transaction): Promise<unknown>;
  };
  /**
   * The issue with the tracker's own id, or with the name that people use.
   * @throws a Problem when the project's tracker has no such issue
   */
  findIssue(project: Project, reference: string): Promise<FoundIssue>;
  /**
   * Writes the comment of the run or, if the tracker supports it, replaces its text, and closes the issue when `closes` is set.
   * @throws a Problem: a retryable one may be retried.
   */
  finishIssue(project: Project, issueId: string, outcome: IssueOutcome): Promise<void>;
}
