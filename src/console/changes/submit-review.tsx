// The dialog that submits a review: the summary and the verdict.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChangeReviewFragment, type ReviewVerdict, submitReview } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { Action, ErrorNote } from '../kit/pieces.tsx';
import { plural } from '../kit/words.tsx';
import type { DraftOfReview } from './draft.ts';

const verdicts: readonly [ReviewVerdict, string, string][] = [
  ['request_changes', 'Request changes', 'The agent continues on the same branch, with all of your comments.'],
  ['approve', 'Approve', 'The change may be merged in its state at this commit.'],
  ['comment', 'Comment', 'Your comments are for people. The agent does not get them.'],
];

interface ReviewedCommit {
  id: string;
  headSha: string;
}

const written = ({ comments }: DraftOfReview['draft']) => comments.filter((one) => one.body.trim() !== '');

/** Sends the draft, including comments whose form is still open. @throws Failure */
async function send({ id: runId, headSha }: ReviewedCommit, draft: DraftOfReview, verdict: ReviewVerdict) {
  const { reviewId, body } = draft.draft;
  const comments = written(draft.draft).map(({ id: _, isOpen: __, ...comment }) => comment);
  const input = { runId, headSha, verdict, body: body.trim(), comments, reviewId };
  const { submitReview: review } = await ask(submitReview, { input });
  draft.clear();
  return review;
}

interface SendProperties {
  run: ReviewedCommit;
  draft: DraftOfReview;
  onSubmitted(review: ChangeReviewFragment): void;
}

/** Sends the comments to the agent at once. */
export function RequestChanges({ run, draft, onSubmitted }: SendProperties) {
  const count = written(draft.draft).length;
  if (count === 0) return null;
  return (
    <Action
      label={`Request changes (${count})`}
      class="slim"
      act={async () => onSubmitted(await send(run, draft, 'request_changes'))}
    />
  );
}

interface Properties {
  run: ReviewedCommit;
  draft: DraftOfReview;
  /** The preselected verdict. */
  first: ReviewVerdict;
  onClose(): void;
  onSubmitted(review: ChangeReviewFragment): void;
}

export function SubmitReview({ run, draft, first, onClose, onSubmitted }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [verdict, setVerdict] = useState<ReviewVerdict>(first);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { body } = draft.draft;
  const comments = written(draft.draft);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      onSubmitted(await send(run, draft, verdict));
    } catch (error) {
      setProblem(problemOf(error, 'Your review is kept in this browser. Try again.'));
      setBusy(false);
    }
  };
  const isEmpty = body.trim() === '' && comments.length === 0;
  return (
    <dialog ref={dialog} class="panel review-dialog" aria-labelledby="review-title" onClose={onClose}>
      <form class="fields" onSubmit={submit}>
        <h2 id="review-title">Submit your review</h2>
        <p class="muted small">
          {comments.length > 0 ? `${plural(comments.length, 'comment')} on lines.` : 'No comments on lines.'} Commit{' '}
          <code>{run.headSha.slice(0, 7)}</code>
        </p>
        <label for="review-body">Summary</label>
        <textarea
          id="review-body"
          rows={4}
          maxLength={4_000}
          value={body}
          onInput={({ currentTarget }) => draft.write(currentTarget.value)}
        />
        <fieldset>
          <legend>Verdict</legend>
          {verdicts.map(([value, label, hint]) => (
            <label key={value} class="verdict">
              <input
                type="radio"
                name="verdict"
                value={value}
                checked={verdict === value}
                onChange={() => setVerdict(value)}
              />
              <span>
                <strong>{label}</strong>
                <span class="muted small">{hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {problem && <ErrorNote problem={problem} />}
        <div class="decisions">
          <button type="submit" disabled={isBusy || (isEmpty && verdict !== 'approve')}>
            Submit review
          </button>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
