// The draft of a review, kept in the browser until it is submitted: a lost connection, a reload or an ended session loses no word of it.
import { useCallback, useState } from 'preact/hooks';
import type { DiffSide } from '../generated/documents.ts';
import { person } from '../kit/page.ts';

/** Lines of a file that a comment is about. */
export interface Place {
  path: string;
  side: DiffSide;
  startLine: number;
  line: number;
}

export interface DraftComment extends Place {
  id: string;
  quote: string;
  body: string;
  /** Whether its form is open. */
  isOpen: boolean;
}

export interface Draft {
  /** Id of the review: submitted again after a lost answer, it is stored once. */
  reviewId: string;
  comments: DraftComment[];
  body: string;
}

const newDraft = (): Draft => ({ reviewId: crypto.randomUUID(), comments: [], body: '' });

/** A value in the storage of the browser. Without a storage it lives as long as the page. */
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
          localStorage.setItem(name, JSON.stringify(after));
        } catch {
          // Full, or switched off.
        }
        return after;
      }),
    [name],
  );
  return [value, change];
}

export function useDraft(runId: string) {
  const [draft, change] = useStored<Draft>(`review ${person} ${runId}`, newDraft);
  const changeComments = (to: (comments: DraftComment[]) => DraftComment[]) =>
    change((before) => ({ ...before, comments: to(before.comments) }));
  return {
    draft,
    /** Opens a form on these lines. */
    begin: (place: Place, quote: string) =>
      changeComments((all) => [...all, { ...place, quote, id: crypto.randomUUID(), body: '', isOpen: true }]),
    edit: (id: string, changes: Partial<DraftComment>) =>
      changeComments((all) => all.map((one) => (one.id === id ? { ...one, ...changes } : one))),
    remove: (id: string) => changeComments((all) => all.filter((one) => one.id !== id)),
    write: (body: string) => change((before) => ({ ...before, body })),
    clear: () => change(newDraft),
  };
}
export type DraftOfReview = ReturnType<typeof useDraft>;
