// Records of chats: workspaces from which people start and steer missions, channels of projects, and threads of
// missions (docs/slack.md).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';

export class ChatConnection extends table('chat_connections', {
  /** The integration that holds the token of the workspace. */
  integrationId: column<Id<'integration'>>(),
  orgId: column<Id<'organization'>>(),
  /** The vendor's id of the workspace. */
  workspaceId: column<string>(),
  /** The vendor's id of the account that writes the messages. */
  botUserId: column<string>(),
  /** Reason why the last message could not be written; null if it was written. */
  problem: column<string | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'chat connection';
  static override idColumn = 'integrationId';
  static override order = '"created_at", "integration_id"';
  static visibleTo = orgWide;

  static {
    this.belongsTo('integration', Integration, 'integrationId');
  }
}

export class ChatChannel extends table('chat_channels', {
  integrationId: column<Id<'integration'>>(),
  /** The vendor's id of the channel. */
  channelId: column<string>(),
  orgId: column<Id<'organization'>>(),
  /** The project for missions that start in the channel. */
  projectId: column<Id<'project'>>(),
  workspaceId: column<string>(),
  /** The name of the channel when it was bound. */
  name: column<string>(),
  createdAt: column<number>(),
}) {
  static override noun = 'chat channel';
  static override idColumn = ['integrationId', 'channelId'];
  static override order = '"created_at", "channel_id"';
  static visibleTo = orgWide;

  static {
    this.belongsTo('project', Project, 'projectId');
  }
}

export class ChatThread extends table('chat_threads', {
  id: column<Id<'chatThread'>>(),
  orgId: column<Id<'organization'>>(),
  integrationId: column<Id<'integration'>>(),
  /** The vendor's id of the channel. In the record of an agent session, this is the vendor's id of the agent's account. */
  channelId: column<string>(),
  /** The vendor's id of the thread's first message, or of the agent session; null until the first message about a command is posted. */
  threadId: column<string | null>(),
  /** The newest delivery about an agent session; null for a chat thread. */
  deliveryId: column<Id<'inboundDelivery'> | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'chat thread';

  /**
   * `state` is the state that the thread's newest run had when a report about this run was last queued. `follows` says whether later changes of that
   * run are reported.
   */
  declare state: string | null;
  declare follows: boolean;
  /** Until `claimedUntil`, only one process may report in the thread. At `retryAt`, a failed report is tried again. */
  declare claimedUntil: number | null;
  declare retryAt: number | null;
}

/** A message in a thread. `cause` identifies the fact that the message reports, so that each fact is reported once. */
export class ChatPost extends table('chat_posts', {
  threadId: column<ChatThread['id']>(),
  cause: column<string>(),
  /** The vendor's id of the message; null until it is posted. */
  messageId: column<string | null>(),
  /** The message as it is passed to the module of the vendor (../../projects/vendors/chat.ts). */
  message: column<object>(),
  createdAt: column<number>(),
}) {
  static override noun = 'chat message';
  static override idColumn = ['threadId', 'cause'];
  static override order = '"created_at", "cause"';
  static override jsonAttributes = ['message'];
}
