// Actions of a person on items of the inbox: each settles its item. A hidden item can be brought back.
import { useState } from 'preact/hooks';
import { markInboxItemDone, restoreInboxItem } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { now } from '../kit/page.ts';
import type { Act, Item } from './acts.ts';
import { titleOfItem } from './item-row.tsx';
import { useItems, useSelected } from './use-items.ts';

/** Nine o'clock tomorrow, by the clock of the person. */
function tomorrow(): number {
  const date = new Date(now());
  date.setDate(date.getDate() + 1);
  return date.setHours(9, 0, 0, 0);
}

interface Settings {
  mine: boolean;
  hidden: boolean;
  /** Whether an item is always selected. */
  selectsFirst: boolean;
}

export function useInbox({ mine, hidden, selectsFirst }: Settings) {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ProblemBody | null>(null);
  const [status, setStatus] = useState('');
  const list = useItems({ mine, hidden });
  const { selected, select, leave, move } = useSelected(list.items, selectsFirst, setStatus);
  const { remember, undo } = useUndo(setStatus, (item) => {
    if (item) {
      list.bringBack(item);
      select(item);
    }
    list.read();
  });

  const perform = async (item: Item, done: string, act: () => Promise<unknown>) => {
    setBusy(true);
    setRefusal(null);
    setStatus('');
    try {
      await act();
      setStatus(done);
      leave(item);
      list.settle(item.id);
    } catch (error) {
      setRefusal(problemOf(error));
    } finally {
      setBusy(false);
      list.read();
    }
  };
  const hide = (item: Item, until: number | null) =>
    perform(item, until ? 'Snoozed until tomorrow.' : 'Done.', async () => {
      await ask(markInboxItemDone, { itemId: item.id, until });
      remember(item);
    });
  return {
    ...list,
    selected,
    select(item: Item | null): void {
      setRefusal(null);
      select(item);
    },
    move,
    isBusy,
    refusal,
    status,
    perform: (act: Act, words: string) => selected && perform(selected, act.done, () => act.act(words)),
    finish: () =>
      selected &&
      (hidden
        ? perform(selected, 'Back in the inbox.', () => ask(restoreInboxItem, { itemId: selected.id }))
        : hide(selected, null)),
    snooze: () => selected && hide(selected, tomorrow()),
    undo,
  };
}

/** Shows items again that were hidden on this page, the last one first; `onBack` gets null for an item that no longer waits. */
function useUndo(say: (words: string) => void, onBack: (item: Item | null) => void) {
  const [hidden, setHidden] = useState<Item[]>([]);
  const item = hidden.at(-1);
  const undo = async () => {
    setHidden((before) => before.slice(0, -1));
    const isBack = await ask(restoreInboxItem, { itemId: item!.id }).then(
      () => true,
      () => false,
    );
    say(`“${titleOfItem(item!)}” ${isBack ? 'is back' : 'no longer waits'}.`);
    onBack(isBack ? item! : null);
  };
  return { remember: (one: Item) => setHidden((before) => [...before, one]), undo: item && undo };
}
