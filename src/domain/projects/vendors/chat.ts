// Chats such as Slack: the interface that each vendor of the kind `chat` implements.
import type { IncomingHttpHeaders } from 'node:http';
import type { VendorConnection } from './connection.ts';
import type { EventPayload, UnusedEvent } from './event.ts';
import type { BodySignature } from './signature.ts';

/** The workspace of a connection, and the account that the platform has in it. */
export interface ChatAccount {
  workspaceId: string;
  botUserId: string;
}

export interface ChatPerson {
  name: string;
  /** The email address that the vendor has verified; null for programs, guests of other workspaces and deactivated people. */
  email: string | null;
}

/** Place of a message: a channel, and the first message of a thread in it; null means that the message starts a new thread. */
export interface ChatPlace {
  channel: string;
  thread: string | null;
}

export interface ChatButton {
  label: string;
  /** The value that the vendor sends when a person presses the button. */
  value: string;
  style?: 'primary' | 'danger';
}

export interface ChatMessage {
  title: string;
  /** Text of agents, people and other systems, shown literally, so that it cannot mention anybody. */
  detail: string | null;
  link: { label: string; url: string } | null;
  buttons: ChatButton[];
}

/** Where an answer is posted, and the person who gets the answer; nobody else can see it. */
export interface ChatReply extends ChatPlace {
  user: string;
  /** The URL to which the answer to a command or a button press is sent; null for messages. */
  responseUrl: string | null;
}

export interface ChatEvent extends ChatReply {
  /** Type of the event: a message that mentions the agent, another message in a thread, a command, or the press of a button. */
  kind: 'mention' | 'message' | 'command' | 'press';
  workspaceId: string;
  /** Id of the message; null for a command. */
  message: string | null;
  /** The text without the mention, or the value of a pressed button. */
  text: string;
  /** One-line description of the event, for lists. */
  title: string;
}

/** A request from the vendor whose signature was verified. */
export interface ChatRequest {
  /**
   * The event in the request: the name and the id that the vendor has given it, and the payload that is stored. Null for a request without an event.
   */
  event: { name: string; id: string; payload: unknown } | null;
  /**
   * The thread of a message that does not mention the agent: the message is dropped unless a mission has this thread. Null for other
   * events.
   */
  onlyIn: ChatPlace | null;
  /** The response body that the vendor requires. */
  answer: object;
}

export interface Chat {
  /** Starts the verification of a request's signature. @throws 401 that names the header */
  signature(secret: string, headers: IncomingHttpHeaders): BodySignature;
  /** Names, in lower case, of the headers that are not stored, because anyone who knows their values could send the request again. */
  secretHeaders: readonly string[];
  /** Parses a request. @throws 400 */
  receive(payload: EventPayload): ChatRequest;
  /** The account to which the credentials belong. @throws a Problem, like all calls */
  account(connection: VendorConnection): Promise<ChatAccount>;
  /** The person with this id; people outside the workspace have no trusted email address. */
  findPerson(connection: VendorConnection, workspaceId: string, user: string): Promise<ChatPerson>;
  /** The channel with this id. @throws 404 for a channel that the account cannot see */
  findChannel(connection: VendorConnection, channel: string): Promise<{ name: string }>;
  /** Posts a message and returns its id. @param key Identifies the message for `findPosted`. */
  post(connection: VendorConnection, place: ChatPlace, message: ChatMessage, key: string): Promise<string>;
  /** The id of the message that was posted with this key at or after a time in epoch milliseconds; null for none. */
  findPosted(connection: VendorConnection, place: ChatPlace, key: string, since: number): Promise<string | null>;
  update(connection: VendorConnection, channel: string, id: string, message: ChatMessage): Promise<void>;
  reply(connection: VendorConnection, to: ChatReply, text: string): Promise<void>;
  /** Converts a stored request to an event. @param account The account of the connection, whose own messages are ignored */
  read(name: string, payload: unknown, account: ChatAccount): ChatEvent | UnusedEvent;
  /** The configuration of an app at the vendor, which a person pastes into the vendor's page; its events are sent to `address`. */
  manifest(address: string): string;
}

export const isUsedInChat = (event: ChatEvent | UnusedEvent): event is ChatEvent => 'kind' in event;
