// Comments on lines, from submitted reviews and from the draft, and the form for a new comment.
import { useEffect, useRef, useState } from 'preact/hooks';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';
import type { DraftComment, DraftOfReview } from './draft.ts';
import type { Thread, ThreadActions } from './threads.ts';

const linesOf = ({ startLine, line }: { startLine: number; line: number }): string =>
  startLine === line ? `Line ${line}` : `Lines ${startLine} to ${line}`;

interface SavedProperties {
  thread: Thread;
  isOutdated?: boolean;
  actions: ThreadActions;
}

export function SavedComment({ thread, isOutdated = false, actions }: SavedProperties) {
  const { author, createdAt, comment, replies, url, key } = thread;
  const [isAnswering, setAnswering] = useState(false);
  const { body, quote, isResolved, resolvedBy } = comment;
  const text = (
    <>
      {isOutdated && quote && <pre class="quote">{quote}</pre>}
      <p class="prompt">{body}</p>
      {replies.map((reply, i) => (
        <div key={i} class="reply">
          <strong>{reply.author}</strong>{' '}
          <span class="muted small">
            <Time at={reply.createdAt} />
          </span>
          <p class="prompt">{reply.body}</p>
        </div>
      ))}
    </>
  );
  return (
    <div class="comment">
      <div class="step-head">
        <strong>{author}</strong>
        <span class="muted small">
          {comment.line > 0 && `${linesOf(comment)}, `}
          <Time at={createdAt} />
          {isResolved && `, resolved${resolvedBy ? ` by ${resolvedBy}` : ''}`}
        </span>
        {url !== null && (
          <a class="small" href={url} rel="noreferrer">
            Open at the source host
          </a>
        )}
        {may('missions:run') && (
          <>
            {key !== null && !isAnswering && (
              <button type="button" class="quiet slim" onClick={() => setAnswering(true)}>
                Answer
              </button>
            )}
            <Action label={isResolved ? 'Reopen' : 'Resolve'} act={() => actions.resolve(thread, !isResolved)} />
          </>
        )}
      </div>
      {isResolved ? (
        <details>
          <summary class="small">Show the comment</summary>
          {text}
        </details>
      ) : (
        text
      )}
      {isAnswering && <AnswerForm thread={thread} actions={actions} close={() => setAnswering(false)} />}
    </div>
  );
}

function AnswerForm({ thread, actions, close }: Omit<SavedProperties, 'isOutdated'> & { close(): void }) {
  const form = useForm({
    name: `answer in ${thread.key}`,
    prefix: `${thread.key}-`,
    initial: { body: '' },
    async send({ body }, key) {
      await actions.answer(thread, body, key);
      close();
    },
  });
  return (
    <FormFrame form={form} action="Answer" close={close}>
      <Text form={form} name="body" label="Answer" rows={3} maxLength={4_000} required>
        Your answer is posted at the source host in your name. The agent does not see it.
      </Text>
    </FormFrame>
  );
}

interface DraftProperties {
  comment: DraftComment;
  draft: DraftOfReview;
}

export const DraftNote = ({ comment, draft }: DraftProperties) => (
  <div class="comment draft">
    <div class="step-head">
      <strong>You</strong>
      <span class="muted small">{linesOf(comment)}, not submitted yet</span>
      <button type="button" class="quiet slim" onClick={() => draft.edit(comment.id, { isOpen: true })}>
        Edit
      </button>
      <button type="button" class="quiet slim" onClick={() => draft.remove(comment.id)}>
        Discard
      </button>
    </div>
    <p class="prompt">{comment.body}</p>
  </div>
);

export function CommentForm({ comment, draft }: DraftProperties) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const save = () => {
    // The focus returns to the line, so that keyboard navigation continues there.
    field.current?.closest('.notes')?.previousElementSibling?.querySelector<HTMLElement>('[data-line]')?.focus();
    if (comment.body.trim() === '') draft.remove(comment.id);
    else draft.edit(comment.id, { isOpen: false });
  };
  const id = `comment-${comment.id}`;
  return (
    <form
      class="compose comment draft"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label for={id}>Comment on {linesOf(comment).toLowerCase()}</label>
      <textarea
        id={id}
        ref={field}
        rows={3}
        maxLength={4_000}
        value={comment.body}
        onInput={({ currentTarget }) => draft.edit(comment.id, { body: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            save();
          }
          // The typed text stays in the draft of the review.
          if (event.key === 'Escape') save();
        }}
      />
      <div class="decisions">
        <button type="submit" class="slim">
          Add comment
        </button>
        <button type="button" class="quiet slim" onClick={() => draft.remove(comment.id)}>
          Discard
        </button>
      </div>
    </form>
  );
}
