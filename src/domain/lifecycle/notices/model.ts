// A notice tells a person about a fact or a necessary action. Computed when read; only its dismissals are stored.

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

export const noticeKinds = ['info', 'warning', 'action'] as const;

export interface Notice {
  /** Derived from the condition and its subject: the same cause has the same id, a new cause a different one. */
  id: string;
  kind: (typeof noticeKinds)[number];
  title: string;
  body: string;
  actionUrl: string | null;
  createdAt: number;
}

export class NoticeDismissal extends BaseModel {
  static override tableName = 'notice_dismissals';
  static override noun = 'notice';
  static override idColumn = ['orgId', 'userId', 'noticeId'];
  static override order = '"notice_id"';
  static override columns = ['orgId', 'userId', 'noticeId', 'dismissedAt'];

  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  declare noticeId: string;
  declare dismissedAt: number;
}
