// An event of another system in the form that triggers read, whichever system sent it.
import type { FoundIssue } from '../../../projects/trackers/tracker.ts';
import type { EventKind } from '../../recurring/model.ts';

export interface EventAuthor {
  login: string;
  isBot: boolean;
}

export interface Remark {
  /** Number of the pull request; null for a check, which names a branch. */
  number: number | null;
  /** The commit of a check; null for a comment. */
  sha: string | null;
  /** Permanent address or name, which identifies the remark. */
  key: string;
  /** The words with their place in the change; empty for a review without words. */
  text: string;
  /** The commit that a review approves; null for other remarks. */
  approves: string | null;
  /** Whether it is a part of a review, which needs no mention of the agent. */
  isReview: boolean;
}

export interface InboundEvent {
  kind: EventKind;
  /** The sender's name of what happened, such as `labeled`. */
  action: string;
  /** The repository, `owner/name` at the source host; null for an event of no repository. */
  repository: string | null;
  /** The event in one line, for lists. */
  title: string;
  /** The person who caused the event; null for a machine's event. */
  author: EventAuthor | null;
  /** The issue of the event, which a mission works on; null for a pull request. */
  issue: FoundIssue | null;
  /** The label that was put on, or the person who was assigned. */
  label: string | null;
  assignee: string | null;
  /** Text in which agents may be mentioned; for an edited comment, without the mentions that it already had. */
  words: string;
  /** Number of the issue or pull request, which gets a comment when the event starts a mission; null for others. */
  number: number | null;
  /** The issue or comment that gets a reaction when the event starts a mission, such as `issues/12`; null for others. */
  reactsTo: string | null;
  /** What a person or a check says about a pull request, which may be a mission's; null for other events. */
  remark: Remark | null;
  /** Branch of a failed check or of a pull request. */
  branch: string | null;
  /** The event as text for the agent, which quotes it. */
  text: string;
  /** Key of the event, equal for deliveries of it by several hooks. */
  key: string | null;
  payload: unknown;
}

/** The reason that no trigger can use an event. */
export interface UnusedEvent {
  reason: string;
  title?: string;
}
export const isUsed = (event: InboundEvent | UnusedEvent): event is InboundEvent => 'kind' in event;
