// Whether the window matches a media query, such as a minimum width.
import { useEffect, useState } from 'preact/hooks';

/** Whether the media query matches now. @param list The query, shared by all of its readers */
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
