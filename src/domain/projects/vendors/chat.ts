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
  /** The address that the vendor has verified; null for programs, guests of other workspaces and deactivated people. */
  email: string | null;
}

/** A channel, and the first message of a thread in it; without a thread, a message starts a new one. */
export interface ChatPlace {
  channel: string;
  thread: string | null;
}

export interface ChatButton {
  label: string;
  /** The value that is sent when the button is pressed. */
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

/** The person who may get an answer that nobody else sees. */
export interface ChatReply extends ChatPlace {
  user: string;
  /** The address that a command or a press offers for answers; null for messages. */
  responseUrl: string | null;
}

export interface ChatEvent extends ChatReply {
  /** An event of a chat: a message that mentions the agent, another message in a thread, a command, or the press of a button. */
  kind: 'mention' | 'message' | 'command' | 'press';
  workspaceId: string;
  /** Id of the message; null for a command. */
  message: string | null;
  /** The text without the mention, or the value of a pressed button. */
  text: string;
  /** The event in one line, for lists. */
  title: string;
}

/** A request of the vendor, whose signature was verified. */
export interface ChatRequest {
  /** The vendor’s name and id of the event, and what is stored of it; null for a request without an event. */
  event: { name: string; id: string; payload: unknown } | null;
  /** The thread of a message that mentions nobody; the message is dropped unless the thread belongs to a mission. */
  onlyIn: ChatPlace | null;
  /** The body that the vendor expects at once. */
  answer: object;
}

export interface Chat {
  /** @throws 401 that names the header */
  signature(secret: string, headers: IncomingHttpHeaders): BodySignature;
  /** Headers that are not stored: with them, somebody else could send the request again. Lower case. */
  secretHeaders: readonly string[];
  /** @throws 400 */
  receive(payload: EventPayload): ChatRequest;
  /** @throws a Problem, like all calls */
  account(connection: VendorConnection): Promise<ChatAccount>;
  /** The person among the workspace’s own members. */
  findPerson(connection: VendorConnection, workspaceId: string, user: string): Promise<ChatPerson>;
  /** @throws 404 for a channel that the account cannot see */
  findChannel(connection: VendorConnection, channel: string): Promise<{ name: string }>;
  /** Posts a message and returns its id. @param key Identifies the message for `findPosted`. */
  post(connection: VendorConnection, place: ChatPlace, message: ChatMessage, key: string): Promise<string>;
  /** The id of the message that was posted with the key at or after the time, epoch milliseconds; null for none. */
  findPosted(connection: VendorConnection, place: ChatPlace, key: string, since: number): Promise<string | null>;
  update(connection: VendorConnection, channel: string, id: string, message: ChatMessage): Promise<void>;
  reply(connection: VendorConnection, to: ChatReply, text: string): Promise<void>;
  /** A stored event of the vendor. @param account The account of the connection, whose own messages are not events. */
  read(name: string, payload: unknown, account: ChatAccount): ChatEvent | UnusedEvent;
  /** The settings of an app at the vendor whose events come to the address, to paste there. */
  manifest(address: string): string;
}

export const isUsedInChat = (event: ChatEvent | UnusedEvent): event is ChatEvent => 'kind' in event;
