// The inbox: everything that waits for a person to act. Items are read from the waiting records themselves; only people's marks, which hide
// items, are stored.
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
  /**
   * When the item began to wait, copied from the item when the person hid it. If the record later waits again, its item has a later time than this
   * copy, and reappears.
   */
  since: column<number>(),
  /** Time until which the item is hidden; null for an item that the person has marked as done. */
  until: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'inbox item';
  static override idColumn = ['userId', 'orgId', 'itemId'];
  static override order = '"item_id"';
}
