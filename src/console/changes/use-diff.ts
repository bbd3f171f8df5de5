// Reads and parses the diff of a run.
import { useEffect, useState } from 'preact/hooks';
import { type FileChange, parseDiff } from './diff-parse.ts';

export interface LoadedDiff {
  files: readonly FileChange[] | null;
  /** Whether the download failed. */
  hasFailed: boolean;
  read(): void;
}

/** @param diff The artifact; its address changes with every read of the run, its id does not. */
export function useDiff(diff: { id: string; url: string } | null): LoadedDiff {
  const [state, setState] = useState<Omit<LoadedDiff, 'read'>>({ files: null, hasFailed: false });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!diff) return;
    const stop = new AbortController();
    fetch(diff.url, { credentials: 'omit', signal: stop.signal })
      .then((response) => (response.ok ? response.text() : Promise.reject(new Error(String(response.status)))))
      .then((text) => setState({ files: parseDiff(text), hasFailed: false }))
      .catch(() => stop.signal.aborted || setState(({ files }) => ({ files, hasFailed: true })));
    return () => stop.abort();
  }, [diff?.id, tries]);
  return { ...state, read: () => setTries((before) => before + 1) };
}
