// Keys of the inbox: j and k move, Enter opens, a letter or digit presses the button that shows it, r starts an answer, z undoes.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Key, press, useKeys } from '../kit/keys.ts';
import { pageOf } from './acts.ts';
import type { useInbox } from './use-inbox.ts';

const buttonKeys = [...'adse123456789'];

export function useInboxKeys(
  box: RefObject<HTMLElement | null>,
  { selected, move, undo }: Pick<ReturnType<typeof useInbox>, 'selected' | 'move' | 'undo'>,
): void {
  const { route } = useLocation();
  const find = (selector: string) => box.current?.querySelector<HTMLElement>(selector);
  const go = (by: 1 | -1) => {
    const item = move(by);
    if (item) find(`[data-item="${item.id}"]`)?.focus();
  };
  // When the focused row or button is removed, the focus moves to the item in its place. Opening the page does not move the focus.
  const before = useRef(selected);
  useEffect(() => {
    if (before.current && selected && document.activeElement === document.body)
      find(`[data-item="${selected.id}"]`)?.focus();
    before.current = selected;
  }, [selected?.id]);
  const isRowFocused = () => document.activeElement?.matches('.inbox-row, body, h1') ?? true;
  const pressed = (key: string): Key => [words[key] ?? 'Answer with that choice', press(key)];
  useKeys({
    j: ['Next, previous item', () => go(1)],
    k: ['Next, previous item', () => go(-1)],
    // If no row has the focus, Enter presses the button or follows the link that has the focus.
    Enter: [
      'Open the mission, its changes, or the page of the limit',
      selected && isRowFocused() ? () => route(pageOf(selected)[0]) : undefined,
    ],
    r: ['Write the answer, or the reason', () => find('#inbox-words')?.focus()],
    z: ['Undo', undo],
    ...Object.fromEntries(buttonKeys.map((key) => [key, pressed(key)])),
  });
}

const words: Record<string, string> = {
  a: 'Approve, start, or raise the limit',
  d: 'Deny, reject, or dismiss',
  e: 'Done',
  s: 'Snooze until tomorrow',
};
