// Threads on lines of a pull request at its source host, as they were when the pull request was last read.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/** Whether lines of a diff belong to the old or to the new version of the file. */
export const diffSides = ['old', 'new'] as const;

export class PullRequestThread extends table('pull_request_threads', {
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  prNumber: column<number>(),
  key: column<string>(),
  seq: column<number>(),
  url: column<string>(),
  path: column<string>(),
  side: column<(typeof diffSides)[number]>(),
  startLine: column<number | null>(),
  line: column<number | null>(),
  isResolved: column<boolean>(),
  resolvedBy: column<string | null>(),
  commentId: column<string | null>(),
  comments: column<readonly { author: string; body: string; createdAt: number }[]>(),
}) {
  static override noun = 'thread';
  static override idColumn = ['projectId', 'prNumber', 'key'];
  static override order = '"seq"';
  static override jsonAttributes = ['comments'];
  static visibleTo = withinReach;
}
