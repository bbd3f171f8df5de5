// The items of the inbox, as they change, and the selected one.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { inbox } from '../generated/documents.ts';
import { now } from '../kit/page.ts';
import { usePolledReading } from '../kit/reading.ts';
import type { Item } from './acts.ts';
import { showInboxCount, useInboxChanges } from './inbox-count.tsx';
import { titleOfItem } from './item-row.tsx';

/** Number of items that are read at first, and that each press on *Load more* adds; the API returns at most 200. */
const step = 50;
const maxItems = 200;
/** How long the service may take, in milliseconds, to continue a mission whose item in the inbox was settled. */
const settlingMs = 15_000;

export function useItems(filter: { mine: boolean; hidden: boolean }) {
  const [limit, setLimit] = useState(step);
  const { data, problem, read, change } = usePolledReading(inbox, { ...filter, limit });
  useInboxChanges(read);
  // For each settled item, the time until which the page hides it. The service still lists the item for some seconds, until it has continued
  // the mission.
  const settled = useRef(new Map<string, number>());
  const all = data?.inbox.data;
  const setData = (to: (data: Item[]) => Item[]) =>
    change((before) => ({ inbox: { ...before!.inbox, data: to(before!.inbox.data) } }));
  const items = useMemo(() => all?.filter(({ id }) => (settled.current.get(id) ?? 0) < now()) ?? null, [all]);
  const isWhole = !filter.mine && !filter.hidden && data?.inbox.nextCursor === null;
  useEffect(() => {
    if (items && isWhole) showInboxCount(items.length);
  }, [items, isWhole]);
  return {
    items,
    problem,
    read,
    /** Whether there are more items than are shown. */
    hasMore: Boolean(data?.inbox.nextCursor) && limit < maxItems,
    loadMore: () => setLimit(limit + step),
    settle(id: string): void {
      settled.current.set(id, now() + settlingMs);
      setData((data) => [...data]);
    },
    /** Shows a hidden item at once, without waiting for the next read of the list. */
    bringBack(item: Item): void {
      settled.current.delete(item.id);
      setData((data) => [item, ...data.filter(({ id }) => id !== item.id)]);
    },
  };
}

/**
 * The selected item, and functions that select another one. @param isRequired Whether an item is always selected.
 * @param onSettled Called when another person has settled the selected item
 */
export function useSelected(items: readonly Item[] | null, isRequired: boolean, onSettled: (words: string) => void) {
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const selected = items?.find(({ id }) => id === selectedId) ?? null;
  const last = useRef<{ item: Item; index: number } | null>(null);
  const select = (item: Item | null | undefined) => setSelectedId(item?.id ?? null);
  useEffect(() => {
    if (!items) return;
    if (selected) {
      last.current = { item: selected, index: items.indexOf(selected) };
      return;
    }
    const { item, index } = last.current ?? { item: null, index: 0 };
    last.current = null;
    if (item && selectedId === item.id) onSettled(`“${titleOfItem(item)}” no longer waits.`);
    // The next item takes the place of a settled one.
    select((item && selectedId !== null) || isRequired ? items[Math.min(index, items.length - 1)] : null);
  }, [items, selected, isRequired]);
  return {
    selected,
    select,
    /** Called when the person settles an item: selects the item after it. */
    leave(item: Item): void {
      const index = items?.indexOf(item) ?? -1;
      const rest = items?.filter((one) => one !== item) ?? [];
      last.current = null;
      if (index >= 0) select(rest[Math.min(index, rest.length - 1)]);
    },
    move(by: 1 | -1): Item | null {
      const index = selected ? (items?.indexOf(selected) ?? 0) + by : 0;
      const next = items?.[Math.max(0, Math.min(index, items.length - 1))] ?? null;
      select(next);
      return next;
    },
  };
}
