// Defines the common form into which events of other systems are converted, so that triggers can read the events. Also defines the interface
// that is implemented for each vendor whose events are read.
import type { IncomingHttpHeaders } from 'node:http';
import type { Id } from '#foundation/ids.ts';
import type { SessionEvent } from './agent-session.ts';
import type { BodySignature } from './signature.ts';
import type { CiRun } from './source-host.ts';
import type { FoundIssue } from './tracker.ts';

/** The kinds of events of trackers and source hosts. */
export type VendorEventKind = 'issue' | 'comment' | 'pullRequest' | 'check' | 'session';

export interface EventAuthor {
  /** The host's id of the account; null when the event does not contain it. */
  id: string | null;
  /** Login or name of the account in the system that sent the event. */
  login: string;
  isBot: boolean;
  /** The verified email address, when the sender reports it. */
  email?: string | null;
  /** The member of the organization, when the sender knows the member. */
  userId?: Id<'person'> | null;
}

export interface Remark {
  /** Number of the pull request; null for a check, which names a branch. */
  number: number | null;
  /** The commit of a check; null for a comment. */
  sha: string | null;
  /** Permanent URL or name that identifies the remark. */
  key: string;
  /** The text with the file and lines that it is about; empty for a review without text. */
  text: string;
  /** The commit that a review approves; null for other remarks. */
  approves: string | null;
  /** Whether the remark belongs to a review; it then counts even if it does not mention the agent. */
  isReview: boolean;
}

export interface InboundEvent {
  kind: VendorEventKind | 'webhook';
  /** The word that triggers use for the action that the event reports, such as `labeled`. For a webhook of an unknown system, the event's name. */
  action: string;
  /** The repository, `owner/name` at the source host; null for an event without one. */
  repository: string | null;
  /** Host name of the repository's web pages, if the event contains it. */
  server?: string | undefined;
  /**
   * Identifies the repository even after a rename: the server, and the id that the server has given the repository. Set if the event contains both.
   */
  repositoryKey?: string | undefined;
  /** The project of the event, when the sender knows it. */
  projectId?: string;
  /** The team at the tracker, by which projects are found. */
  team?: { id: string; key: string };
  /** One-line description of the event, for lists. */
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
  /** Number of the issue or pull request that gets a comment when the event starts a mission; null when none does. */
  number: number | null;
  /** The issue or comment to which a reaction is added when the event starts a mission, such as `issues/12`; null when no reaction is added. */
  reactsTo: string | null;
  /** A remark about a pull request that a mission may have opened. A person has written it, or a check has reported it. Null for other events. */
  remark: Remark | null;
  /** For a merged pull request that reverts another one, the number of the reverted one; null for other events. */
  reverts: number | null;
  /** The failed run of the host's CI, whose logs are also read; null for other events. */
  ciRun: CiRun | null;
  /** Branch of a failed check or of a pull request. */
  branch: string | null;
  /** Text of the event for the agent, which gets the text as a quotation. */
  text: string;
  /** Key of the event, equal for all its deliveries by different hooks. */
  key: string | null;
  payload: unknown;
  /** The agent session that the event is about; absent if the event is not about an agent session. */
  session?: SessionEvent;
}

/** An event that no trigger can use, with the reason. */
export interface UnusedEvent {
  reason: string;
  title?: string;
  /** A branch that got new commits: open pull requests into it may now have conflicts. */
  moved?: { repository: string; branch: string };
  /** The server of the vendor, as in `InboundEvent.server`. */
  server?: string | undefined;
  repositoryKey?: string | undefined;
  /** The earlier name of a repository that was renamed or transferred, or of its owner. */
  formerly?: { owner: string; repository?: string };
  /** Whether the event may have changed what the connectors of the vendor are allowed to do. */
  changesAccess?: true;
  /** The agent session of the event, as in `InboundEvent.session`; the session shows `reason`. */
  session?: SessionEvent | undefined;
}
export const isUsed = (event: InboundEvent | UnusedEvent): event is InboundEvent => 'kind' in event;

/** Events that a vendor sends to its hooks. */
export interface EventSource {
  /**
   * Starts to verify that the sender knows the secret of the hook. Returns null when a header already proves that.
   * @throws 401 whose problem names the missing or wrong header
   */
  signature(secret: string, headers: IncomingHttpHeaders): BodySignature | null;
  /** Names, in lower case, of the headers that contain the secret. These headers are not stored. */
  secretHeaders: readonly string[];
  /** Name, in lower case, of the header with the id that the sender has given the delivery. */
  idHeader: string;
  /** Name of the event, such as `issues.labeled`; `namesOfKind` lists the part before the dot. @throws 400 without a name */
  nameOf(headers: IncomingHttpHeaders, payload: EventPayload): string;
  /** Whether triggers can use events of this name; the payloads of other events are not stored. */
  isReadable(name: string): boolean;
  /** URL of a page of the repository; undefined when the event names no repository. */
  pageOf?(payload: EventPayload): unknown;
  /** The id that the source host has given the repository of the event. */
  repositoryIdOf?(payload: EventPayload): unknown;
  /** The vendor's names of events, by kind; a kind that the vendor does not send is absent. */
  namesOfKind: Readonly<Partial<Record<VendorEventKind, readonly string[]>>>;
  read(name: string, payload: unknown): InboundEvent | UnusedEvent;
  /** The response status that the vendor counts as success; absent means any 2xx. */
  acceptedStatus?: 200;
}

/** Members of a payload before validation. */
export type EventPayload = Readonly<Record<string, unknown>>;
