// Comments on an issue, oldest first, and the form for a new one. They steer the mission of the issue.
import {
  commentOnIssue,
  deleteIssueComment,
  type IssueCommentFragment,
  issueComments,
  updateIssueComment,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useReplacedButton } from '../kit/focus.ts';
import { useForm } from '../kit/form.ts';
import { ListView } from '../kit/list-view.tsx';
import { Markdown } from '../kit/markdown.tsx';
import { may, pageAt, person } from '../kit/page.ts';
import { Action, Card, Skeleton } from '../kit/pieces.tsx';
import { useList, useRefresh } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';

export function IssueComments({ issueId, onSaid }: { issueId: string; onSaid(): void }) {
  const list = useList(issueComments, { issueId, limit: 50 }, (data) => data.issueComments);
  useRefresh(list.read);
  const said = () => {
    list.read();
    onSaid();
  };
  return (
    <Card title="Comments">
      <ListView list={list} skeleton={<Skeleton rows={2} height={72} />} empty={<p>No comments yet.</p>}>
        {(rows) => (
          <ol class="messages">
            {[...rows].reverse().map((comment) => (
              <Comment key={comment.id} comment={comment} onChanged={list.read} />
            ))}
          </ol>
        )}
      </ListView>
      {may('missions:run') && <Compose issueId={issueId} onSaid={said} />}
    </Card>
  );
}

function Comment({ comment, onChanged }: { comment: IssueCommentFragment; onChanged(): void }) {
  const { id, author, authorUserId, runId, body, effect, createdAt, updatedAt } = comment;
  const { isOpen: isEdited, setOpen: setEdited, button } = useReplacedButton();
  const done = () => {
    setEdited(false);
    onChanged();
  };
  return (
    <li>
      <div class="step-head">
        <strong>{runId ? <a href={pageAt(`/runs/${runId}`)}>{author}</a> : author}</strong>
        <span class="muted small">
          <Time at={createdAt} />
          {updatedAt > createdAt && (
            <>
              , {runId ? 'updated' : 'edited'} <Time at={updatedAt} />
            </>
          )}
        </span>
        {authorUserId === person && !isEdited && (
          <>
            <button
              ref={button}
              type="button"
              class="quiet slim"
              aria-label="Edit comment"
              onClick={() => setEdited(true)}
            >
              Edit
            </button>
            <Action
              label="Delete"
              describes="Delete comment"
              question="Delete this comment? Agents that have already received it keep it."
              act={async (key) => {
                await mutate(deleteIssueComment, { issueCommentId: id }, key);
                onChanged();
              }}
            />
          </>
        )}
      </div>
      {isEdited ? <Edit comment={comment} done={done} cancel={() => setEdited(false)} /> : <Markdown text={body} />}
      {effect && <p class="muted small">{effect}</p>}
    </li>
  );
}

function Edit({ comment, done, cancel }: { comment: IssueCommentFragment; done(): void; cancel(): void }) {
  const form = useForm({
    name: `comment ${comment.id}`,
    prefix: `${comment.id}-`,
    initial: { body: comment.body },
    async send({ body }, key) {
      await mutate(updateIssueComment, { issueCommentId: comment.id, body }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save comment" close={cancel}>
      <Text form={form} name="body" label="Text" rows={4} maxLength={8_000} required>
        Agents that have already received the comment do not see the change.
      </Text>
    </FormFrame>
  );
}

function Compose({ issueId, onSaid }: { issueId: string; onSaid(): void }) {
  const form = useForm({
    name: `comment on ${issueId}`,
    prefix: 'comment-',
    initial: { body: '' },
    async send({ body }, key) {
      await mutate(commentOnIssue, { issueId, body }, key);
      onSaid();
    },
  });
  return (
    <FormFrame form={form} action="Comment">
      <Text form={form} name="body" label="New comment" rows={4} maxLength={8_000} required>
        An agent at work on the issue gets the comment as a message. Once its mission has ended, a comment continues the
        mission; if the issue is closed, only a comment that mentions @agent does.
      </Text>
    </FormFrame>
  );
}
