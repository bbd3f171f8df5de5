// Parts of a large page are rendered a few at a time, so that the browser answers the person in between.
import { useEffect, useState } from 'preact/hooks';

/** Parts that are rendered at once: those of the first screen, and those of each later turn. */
const [first, perTurn] = [12, 24];

const waiting = new Set<() => void>();

function nextTurn(): void {
  for (const ready of [...waiting].slice(0, perTurn)) {
    waiting.delete(ready);
    ready();
  }
  if (waiting.size > 0) setTimeout(nextTurn);
}

/** Whether the turn of the part has come. @param index Position of the part on the page */
export function useTurn(index: number): boolean {
  const [isReady, setReady] = useState(index < first);
  useEffect(() => {
    if (isReady) return;
    const ready = () => setReady(true);
    waiting.add(ready);
    if (waiting.size === 1) setTimeout(nextTurn);
    return () => void waiting.delete(ready);
  }, []);
  return isReady;
}
