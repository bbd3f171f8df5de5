// A notice informs a person about a fact or a necessary action. Notices are computed when they are read; only dismissals are stored.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const noticeKinds = ['info', 'warning', 'action'] as const;

export interface Notice {
  /** The id, derived from the condition and its subject, so that the same cause always has the same id, and a new cause a different one. */
  id: string;
  kind: (typeof noticeKinds)[number];
  title: string;
  body: string;
  actionUrl: string | null;
  createdAt: number;
}

/** A notice with the console page on which a person acts on it. */
export type Condition = Omit<Notice, 'actionUrl'> & { page: string };

export const inQuotes = (name: string): string => `“${name}”`;

export class NoticeDismissal extends table('notice_dismissals', {
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  noticeId: column<string>(),
  dismissedAt: column<number>(),
}) {
  static override noun = 'notice';
  static override idColumn = ['orgId', 'userId', 'noticeId'];
  static override order = '"notice_id"';
}
