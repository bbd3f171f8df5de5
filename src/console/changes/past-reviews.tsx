// Reviews that people have submitted on the branch, and threads on files that the change no longer has.
import type { ChangeReviewFragment, ReviewVerdict } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { plural, Time, visible } from '../kit/words.tsx';
import { SavedComment } from './comments.tsx';
import type { FileChange } from './diff-parse.ts';
import type { Thread, ThreadActions } from './threads.ts';

const verdictWords: Record<ReviewVerdict, string> = {
  approve: 'approved the change',
  request_changes: 'requested changes',
  comment: 'commented',
};

interface Properties {
  reviews: readonly ChangeReviewFragment[];
  files: readonly FileChange[];
  threads: ReadonlyMap<string, readonly Thread[]>;
  actions: ThreadActions;
}

export function PastReviews({ reviews, files, threads, actions }: Properties) {
  const present = new Set(files.map(({ path }) => path));
  const gone = [...threads.values()].flat().filter(({ comment }) => !present.has(comment.path));
  if (reviews.length + gone.length === 0) return null;
  return (
    <Card title="Reviews">
      <ol class="messages">
        {reviews.map((review) => (
          <li key={review.id}>
            <div class="step-head">
              <strong>{review.author}</strong>
              <span class="muted small">
                {verdictWords[review.verdict]} at <code>{review.headSha.slice(0, 7)}</code>,{' '}
                <Time at={review.createdAt} />
                {review.comments.length > 0 && `, ${plural(review.comments.length, 'comment')}`}
              </span>
              {review.answeringRunId && (
                <a class="small" href={pageAt(`/runs/${review.answeringRunId}`)}>
                  Follow-up mission
                </a>
              )}
            </div>
            {review.body && <p class="prompt">{review.body}</p>}
          </li>
        ))}
      </ol>
      {gone.map((thread) => (
        <div key={thread.comment.id}>
          <p class="small muted">
            <code>{visible(thread.comment.path)}</code>, no longer part of the change
          </p>
          <SavedComment thread={thread} isOutdated actions={actions} />
        </div>
      ))}
    </Card>
  );
}
