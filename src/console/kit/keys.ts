// Keys of a page: single letters act while the person writes nowhere.
import { useEffect, useRef } from 'preact/hooks';

export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.closest('input, textarea, select, dialog') !== null || target.isContentEditable);

/** Calls the act of a pressed key; acts are those of the latest render. */
export function useKeys(acts: Record<string, (() => void) | undefined>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
