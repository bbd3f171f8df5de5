// An event of another system in the form that triggers read, independent of the system that sent it, and the interface that such systems
// implement.
import type { IncomingHttpHeaders } from 'node:http';
import type { Id } from '#foundation/ids.ts';
import type { SessionEvent } from './agent-session.ts';
import type { BodySignature } from './signature.ts';
import type { CiRun } from './source-host.ts';
import type { FoundIssue } from './tracker.ts';

/** The kinds of events of trackers and source hosts. */
export type VendorEventKind = 'issue' | 'comment' | 'pullRequest' | 'check' | 'session';

export interface EventAuthor {
  /** The host's id of the account; null where the event does not name it. */
  id: string | null;
  /** The name at the sender. */
  login: string;
  isBot: boolean;
  /** The verified email address, when the sender reports it. */
  email?: string | null;
  /** The member, when the sender knows it. */
  userId?: Id<'person'> | null;
}

export interface Remark {
  /** Number of the pull request; null for a check, which names a branch. */
  number: number | null;
  /** The commit of a check; null for a comment. */
  sha: string | null;
  /** Permanent address or name, which identifies the remark. */
  key: string;
  /** The text with its place in the change; empty for a review without text. */
  text: string;
  /** The commit that a review approves; null for other remarks. */
  approves: string | null;
  /** Whether the remark is part of a review, which counts without a mention of the agent. */
  isReview: boolean;
}

export interface InboundEvent {
  kind: VendorEventKind | 'webhook';
  /** The sender's name of the action, such as `labeled`. */
  action: string;
  /** The repository, `owner/name` at the source host; null for an event without one. */
  repository: string | null;
  /** Host of the pages of the repository's server, where the event names it. */
  server?: string | undefined;
  /** The server and its id of the repository, where the event names both. */
  repositoryKey?: string | undefined;
  /** The project of the event, when the sender knows it. */
  projectId?: string;
  /** The team at the tracker, by which projects are found. */
  team?: { id: string; key: string };
  /** The event in one line, for lists. */
  title: string;
  /** The person who caused the event; null for a machine's event. */
  author: EventAuthor | null;
  /** The issue of the event, which a mission works on; null for a pull request. */
  issue: FoundIssue | null;
  /** The labels that were added, and the people who were assigned. */
  labels: readonly string[];
  assignees: readonly string[];
  /** Text in which agents may be mentioned; for an edited comment, without the mentions that it already had. */
  words: string;
  /** Number of the issue or pull request, which gets a comment when the event starts a mission; null for others. */
  number: number | null;
  /** The issue or comment that gets a reaction when the event starts a mission, such as `issues/12`; null for others. */
  reactsTo: string | null;
  /** A remark of a person or a check about a pull request, which may belong to a mission; null for other events. */
  remark: Remark | null;
  /** The number of the pull request that the merged pull request of the event reverts; null for other events. */
  reverts: number | null;
  /** The run of the host's CI that has failed, whose logs are read in addition; null for others. */
  ciRun: CiRun | null;
  /** Branch of a failed check or of a pull request. */
  branch: string | null;
  /** The event as text for the agent, which quotes it. */
  text: string;
  /** Key of the event, equal for all its deliveries by different hooks. */
  key: string | null;
  payload: unknown;
  /** The session of the agent that the event is about; absent for other events. */
  session?: SessionEvent;
}

/** The reason why no trigger can use an event. */
export interface UnusedEvent {
  reason: string;
  title?: string;
  /** A branch with new commits: the pull requests into it may conflict now. */
  moved?: { repository: string; branch: string };
  /** As in `InboundEvent`. */
  server?: string | undefined;
  repositoryKey?: string | undefined;
  /** The earlier name of a repository that was renamed or transferred, or of its owner. */
  formerly?: { owner: string; repository?: string };
  /** Whether the access of the vendor's connectors may have changed. */
  changesAccess?: true;
  /** As in `InboundEvent`; the session shows the reason. */
  session?: SessionEvent | undefined;
}
export const isUsed = (event: InboundEvent | UnusedEvent): event is InboundEvent => 'kind' in event;

/** Events that a vendor sends to its hooks. */
export interface EventSource {
  /** The proof that the sender has the secret of the hook; null when a header is one. @throws 401 that names the header */
  signature(secret: string, headers: IncomingHttpHeaders): BodySignature | null;
  /** Headers that contain the secret and are not stored, in lower case. */
  secretHeaders: readonly string[];
  /** Header with the sender's id of the delivery, lower case. */
  idHeader: string;
  /** Name of the event, such as `issues.labeled`; `namesOfKind` lists the part before the dot. @throws 400 without a name */
  nameOf(headers: IncomingHttpHeaders, payload: EventPayload): string;
  /** Whether triggers can use events of this name; the payloads of other events are not stored. */
  isReadable(name: string): boolean;
  /** Address of a page of the event's repository; undefined where the event names none. */
  pageOf?(payload: EventPayload): unknown;
  /** The sender's id of the event's repository. */
  repositoryIdOf?(payload: EventPayload): unknown;
  /** The vendor's names of events, by kind; a kind that the vendor does not send is absent. */
  namesOfKind: Readonly<Partial<Record<VendorEventKind, readonly string[]>>>;
  read(name: string, payload: unknown): InboundEvent | UnusedEvent;
  /** The status that the vendor takes for success; absent means any of the 200s. */
  acceptedStatus?: 200;
}

/** Members of a payload before validation. */
export type EventPayload = Readonly<Record<string, unknown>>;
