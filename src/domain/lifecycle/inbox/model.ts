// The inbox: everything that waits for a person, read from the records that wait. Only marks are stored: the items that a person has
// hidden.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const inboxKinds = [
  'approval',
  'answer',
  'decision',
  'budget',
  'limit',
  'spending',
  'event',
  'attempts',
  'review',
  'effects',
  'failure',
] as const;
export type InboxKind = (typeof inboxKinds)[number];

export class InboxMark extends table('inbox_marks', {
  userId: column<Id<'person'>>(),
  orgId: column<Id<'organization'>>(),
  itemId: column<string>(),
  /** The beginning of the item, as the person saw it. */
  since: column<number>(),
  /** Null for an item that is done. */
  until: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'inbox item';
  static override idColumn = ['userId', 'orgId', 'itemId'];
  static override order = '"item_id"';
}
