// Reads an artifact of a change: its diff, or its commits.
import { useEffect, useState } from 'preact/hooks';

/** An artifact; its URL changes with every read of the run, its id does not. */
export type ChangeArtifact = { id: string; url: string } | null;

export interface Loaded<T> {
  content: T | null;
  /** Whether the download failed. */
  hasFailed: boolean;
  read(): void;
}

export function useArtifact<T>(artifact: ChangeArtifact, parse: (text: string) => T): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'read'>>({ content: null, hasFailed: false });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!artifact) return;
    const stop = new AbortController();
    fetch(artifact.url, { credentials: 'omit', signal: stop.signal })
      .then((response) => (response.ok ? response.text() : Promise.reject(new Error(String(response.status)))))
      .then((text) => setState({ content: parse(text), hasFailed: false }))
      .catch(() => stop.signal.aborted || setState(({ content }) => ({ content, hasFailed: true })));
    return () => stop.abort();
  }, [artifact?.id, tries]);
  return { ...state, read: () => setTries((before) => before + 1) };
}
