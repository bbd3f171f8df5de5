// Keyboard shortcuts of a page: single letters work unless a text field has the focus. palette/key-help.tsx lists them.
import { useEffect, useRef } from 'preact/hooks';

export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.closest('input:not([type="checkbox"], [type="radio"]), textarea, select, dialog, .shell') !== null ||
    target.isContentEditable);

/**
 * A keyboard shortcut: its text in the help, and its action. The action is undefined while the shortcut does nothing. If the action returns
 * false, the browser handles the key.
 */
export type Key = readonly [words: string, act: (() => unknown) | undefined];
export type Keys = Record<string, Key>;

const registered = new Set<{ current: Keys }>();

/** Returns the keyboard shortcuts of the current page. */
export const keysOfPage = (): Keys => Object.assign({}, ...[...registered].map(({ current }) => current));

/** Runs the action of a pressed key, unless the page has another use for the key. The actions of the latest render apply. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = latest.current[event.key]?.[1];
      if (act && act() !== false) event.preventDefault();
    };
    registered.add(latest);
    document.addEventListener('keydown', listen);
    return () => {
      registered.delete(latest);
      document.removeEventListener('keydown', listen);
    };
  }, []);
}

/**
 * Returns the action of a keyboard shortcut. It focuses the element whose `data-key` is the key, and clicks this element unless it is a text
 * field.
 */
export const press = (key: string) => () => {
  const found = document.querySelector<HTMLElement>(`main [data-key="${key}"]`);
  found?.focus();
  if (!found?.matches('textarea')) found?.click();
};
