// Reviews that people have submitted on the branch, and their comments on files that the change no longer has.
import type { ChangeReviewFragment, ReviewVerdict } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { plural, Time } from '../kit/words.tsx';
import { SavedComment } from './comments.tsx';
import type { FileChange } from './diff-parse.ts';

const verdictWords: Record<ReviewVerdict, string> = {
  approve: 'approved the change',
  request_changes: 'requested changes',
  comment: 'commented',
};

interface Properties {
  reviews: readonly ChangeReviewFragment[];
  files: readonly FileChange[];
  onResolve(commentId: string, isResolved: boolean): void;
}

export function PastReviews({ reviews, files, onResolve }: Properties) {
  const present = new Set(files.map(({ path }) => path));
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
            {review.comments
              .filter(({ path }) => !present.has(path))
              .map((comment) => (
                <div key={comment.id}>
                  <p class="small muted">
                    <code>{comment.path}</code>, no longer part of the change
                  </p>
                  <SavedComment review={review} comment={comment} isOutdated onResolve={onResolve} />
                </div>
              ))}
          </li>
        ))}
      </ol>
    </Card>
  );
}
