// A comment on an issue of the built-in tracker, by a person or by the mission that works on the issue.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Issue } from './model.ts';

export class IssueComment extends table('issue_comments', {
  id: column<Id<'issueComment'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  issueId: column<Id<'issue'>>(),
  authorUserId: column<Id<'person'> | null>(),
  /** The author's name when the comment was written. */
  author: column<string>(),
  /** The first run of the mission that keeps this comment up to date; null for a person's comment. */
  runId: column<Id<'run'> | null>(),
  body: column<string>(),
  /** Explanation of the comment's effect on a mission; null for a comment that concerns no mission. */
  effect: column<string | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'comment';

  static visibleTo = withinReach;
  static {
    this.belongsTo('issue', Issue, 'issueId');
  }
}
