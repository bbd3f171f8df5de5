// Events of the built-in tracker. Their payload is written by this service (../../issue-missions/events.ts).
import type { Id } from '#foundation/ids.ts';
import type { InboundEvent, UnusedEvent } from '../../../projects/vendors/event.ts';
import { newMentions, noDetails } from '../../../projects/vendors/event-reader.ts';
import { textOfIssue } from '../../../projects/vendors/issue-text.ts';
import type { FoundIssue } from '../../../projects/vendors/tracker.ts';

export interface BuiltinPayload {
  /** Action of the event: for an issue `opened`, `labeled` or `assigned`; for a comment `created` or `edited`. */
  action: string;
  issue: { id: string; key: string; title: string; body: string; labels: string[]; projectId: string };
  label?: string;
  /** Email address of the person to whom the issue was assigned. */
  assignee?: string;
  /** Name of the agent to which the issue was assigned. */
  agent?: string;
  /** The comment of the event; `before` is its text before an edit. */
  comment?: { id: string; body: string; before?: string };
  sender: { id: Id<'person'>; name: string };
}

export function readBuiltinEvent(event: BuiltinPayload): InboundEvent | UnusedEvent {
  const { action, issue, label, assignee, agent, comment, sender } = event;
  const title = `${issue.title} (${issue.key})`;
  if (agent !== undefined)
    return { reason: `The issue is assigned to ${agent}, so rules start no second mission.`, title };
  const comments = comment ? [{ author: sender.name, text: comment.body }] : [];
  const about: FoundIssue = { id: issue.id, url: '', title: issue.title, body: issue.body, comments };
  return {
    ...noDetails,
    kind: comment ? 'comment' : 'issue',
    action,
    repository: null,
    projectId: issue.projectId,
    title: comment ? `Comment on ${title}` : title,
    author: { id: sender.id, login: sender.name, isBot: false, userId: sender.id },
    issue: about,
    labels: label === undefined ? [] : [label],
    assignees: assignee === undefined ? [] : [assignee],
    words: comment ? newMentions(comment.body, comment.before ?? '') : '',
    text: textOfIssue(about),
    // An edit counts as an event only when it mentions somebody whom the comment did not mention before.
    key: comment ? `comment ${comment.id}` : null,
    payload: event,
  };
}
