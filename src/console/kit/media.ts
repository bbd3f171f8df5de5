// Whether the window matches a media query, such as a minimum width.
import { useEffect, useState } from 'preact/hooks';

/** @param list Shared by the readers of a query. */
export function useMedia(list: MediaQueryList): boolean {
  const [matches, setMatches] = useState(list.matches);
  useEffect(() => {
    const listen = () => setMatches(list.matches);
    listen();
    list.addEventListener('change', listen);
    return () => list.removeEventListener('change', listen);
  }, [list]);
  return matches;
}
