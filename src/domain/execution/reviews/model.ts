// A review: a person's verdict on the change of a mission, with comments on its lines. The runs of one branch share its reviews.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../../work/runs/model.ts';

export const reviewVerdicts = ['approve', 'request_changes', 'comment'] as const;
export type ReviewVerdict = (typeof reviewVerdicts)[number];

export class ChangeReview extends table('reviews', {
  id: column<Id<'review'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Run['id']>(),
  branch: column<string>(),
  /** The commit that the person has reviewed. */
  headSha: column<string>(),
  verdict: column<ReviewVerdict>(),
  body: column<string>(),
  authorUserId: column<Id<'person'> | null>(),
  /** Name of the author when the review was submitted. */
  author: column<string>(),
  /** The run whose agent gets the requested changes; null for other verdicts. */
  answeringRunId: column<Run['id'] | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'review';
  static override order = '"created_at", "id"';
  static visibleTo = withinReach;

  /** The sender's own id of the review; null without one. */
  declare key: string | null;
}

export class ChangeComment extends table('review_comments', {
  id: column<Id<'reviewComment'>>(),
  reviewId: column<ChangeReview['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Position among the comments of the review. */
  seq: column<number>(),
  path: column<string>(),
  /** The version of the file (before or after the change) to which the lines belong. */
  side: column<'old' | 'new'>(),
  /** The first commented line (`startLine`) and the last one (`line`). */
  startLine: column<number>(),
  line: column<number>(),
  /** The lines as the reviewer saw them. */
  quote: column<string>(),
  body: column<string>(),
  resolvedAt: column<number | null>(),
  /** Name of the person who has resolved the comment. */
  resolvedBy: column<string | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'review comment';
  static override order = '"seq"';
  static visibleTo = withinReach;

  static {
    this.belongsTo('review', ChangeReview, 'reviewId', 'comments');
  }
}
