// Values that the browser keeps: what a person has written survives a lost connection, a reload and an ended session.
import { useCallback, useState } from 'preact/hooks';

/** A value in the local storage of the browser. Without storage it is kept as long as the page is open. */
export function useStored<T>(name: string, initial: () => T): [T, (change: (before: T) => T) => void] {
  const [value, set] = useState<T>(() => {
    try {
      return JSON.parse(localStorage.getItem(name)!) ?? initial();
    } catch {
      return initial();
    }
  });
  const change = useCallback(
    (to: (before: T) => T) =>
      set((before) => {
        const after = to(before);
        try {
          if (after) localStorage.setItem(name, JSON.stringify(after));
          else localStorage.removeItem(name);
        } catch {
          // Storage that is full or disabled is ignored: the value is kept while the page is open.
        }
        return after;
      }),
    [name],
  );
  return [value, change];
}
