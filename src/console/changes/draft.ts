// The draft of a review, kept in the browser until it is submitted: it survives a lost connection, a reload and an ended session.
import type { DiffSide } from '../generated/documents.ts';
import { person } from '../kit/page.ts';
import { useStored } from '../kit/stored.ts';

/** Lines of a file that a comment refers to. */
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
  /** Whether the form for editing the comment is open. */
  isOpen: boolean;
}

export interface Draft {
  /** Id of the review. A review that is submitted again after a lost response is stored once. */
  reviewId: string;
  comments: DraftComment[];
  body: string;
}

const newDraft = (): Draft => ({ reviewId: crypto.randomUUID(), comments: [], body: '' });

export function useDraft(runId: string) {
  const [draft, change] = useStored<Draft>(`review ${person} ${runId}`, newDraft);
  const changeComments = (to: (comments: DraftComment[]) => DraftComment[]) =>
    change((before) => ({ ...before, comments: to(before.comments) }));
  return {
    draft,
    /** Opens a form for a new comment on these lines. */
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
