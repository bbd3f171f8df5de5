// People mark items of their inbox as done or snoozed. Open pages receive the number of items whenever it may have changed.
import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { days, now, seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { countInbox, findItem, type InboxItem } from './items.ts';
import { InboxMark } from './model.ts';

/** Longest time for which an item can be snoozed. */
export const maxSnoozeMs = days(90);
/** How long the marks "done" and "snoozed" are stored. No item stays in the inbox for so long. */
const retentionMs = days(400);

const markSql = `insert into inbox_marks (user_id, org_id, item_id, since, until, created_at) values ($1, $2, $3, $4, $5, $6)
  on conflict (user_id, org_id, item_id) do update set since = excluded.since, until = excluded.until, created_at = excluded.created_at`;

/**
 * Hides the item from the caller's person until something new happens to it, or until the given time.
 * @throws 400 for a time in the past or after 90 days; 404 for an item that is not waiting
 */
export async function markDone(caller: Caller, itemId: string, until: number | null): Promise<InboxItem> {
  const [orgId, userId, at] = [ownOrganization(caller), ownPerson(caller), now()];
  if (until !== null && (until <= at || until > at + maxSnoozeMs))
    throw invalid.field('until', 'must be within the next 90 days');
  const item = (await findItem(caller, itemId)) ?? InboxMark.refuse();
  await transaction(async (trx) => {
    await sql(markSql, [userId, orgId, itemId, item.since, until, at], trx);
    await announce(trx, userId);
  });
  return { ...item, hiddenUntil: until, isDone: until === null };
}

/** Removes the mark, so that the item is visible again; an item without a mark is unchanged. @throws 404 for an item that is not waiting */
export async function restoreItem(caller: Caller, itemId: string): Promise<InboxItem> {
  const [orgId, userId] = [ownOrganization(caller), ownPerson(caller)];
  const item = (await findItem(caller, itemId)) ?? InboxMark.refuse();
  await transaction(async (trx) => {
    await InboxMark.query(trx).where({ userId, orgId, itemId }).delete();
    await announce(trx, userId);
  });
  return { ...item, hiddenUntil: null, isDone: false };
}

export async function sweepInboxMarks(): Promise<void> {
  await sql('delete from inbox_marks where created_at <= $1', [now() - retentionMs]);
}

/** Ids that are announced when the caller's inbox may have changed; database triggers announce the id of the organization. */
export const idsOfInbox = (caller: Caller): string[] => [
  `inbox:${ownOrganization(caller)}`,
  ...(caller.userId ? [caller.userId] : []),
];

/** Minimum time between two counts for one page, in milliseconds; changes in between are combined. */
const restMs = seconds(1);

/** Yields the count at once and after each change, even if the number stays the same, because the items may differ. */
export async function* followCount(changes: AsyncIterable<() => Promise<Caller>>): AsyncGenerator<number> {
  for await (const currentCaller of changes) {
    yield await countInbox(await currentCaller());
    await wait(restMs, undefined, { ref: false });
  }
}
