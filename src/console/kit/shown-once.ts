// A secret that the service returns only once.
import { useEffect, useState } from 'preact/hooks';

/** A secret that the page shows, or a value that contains one. It is forgotten when the person leaves the page, because the back/forward cache must not keep it. */
export function useShownOnce<T>(): [T | null, (secret: T | null) => void] {
  const [secret, setSecret] = useState<T | null>(null);
  useEffect(() => {
    const forget = () => setSecret(null);
    addEventListener('pagehide', forget);
    return () => removeEventListener('pagehide', forget);
  }, []);
  return [secret, setSecret];
}
