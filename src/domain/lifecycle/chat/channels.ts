// The channels of projects: a mission that starts in a channel works in the channel's project.
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, wholeOrganization } from '#access/reach.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, forbidden, notFound } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { deleteChannel, writeChannel } from '../../work/chat-threads/connections.ts';
import { ChatChannel, ChatConnection } from '../../work/chat-threads/model.ts';
import { maxChannels } from './bounds.ts';
import { withChat } from './connection.ts';
import type { ChatMember } from './people.ts';
import { findProjectNamed } from './projects.ts';
import { type ReceivedChatEvent, settleChatEventNow } from './settle.ts';

/** The chat connection, if it belongs to the caller's organization. @throws 404 */
export async function ownConnection(caller: Caller, integrationId: string): Promise<ChatConnection> {
  return ChatConnection.get({ integrationId: integrationId as never, orgId: wholeOrganization(caller) });
}

export interface Binding {
  integrationId: string;
  channelId: string;
  projectId: string;
}

/**
 * Binds a channel to a project, or rebinds it to another.
 * @throws 404, including for a channel that the chat account cannot see; 409 for a channel of another organization, or when the
 * organization already has the maximum number of channels
 */
export async function bindChannel(
  caller: Caller,
  { integrationId, channelId, projectId }: Binding,
): Promise<ChatChannel> {
  const { orgId, workspaceId } = await ownConnection(caller, integrationId);
  await releaseTransaction();
  const found = await withChat(integrationId, ({ chat, connection }) => chat.findChannel(connection, channelId));
  if (!found) throw notFound('chat connection');
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const project = await Project.query(trx).findOne({ id: projectId, orgId }).forKeyShare();
    if (!project) return Project.refuse();
    const taken = await ChatChannel.find({ workspaceId, channelId }, trx);
    if (taken && taken.integrationId !== integrationId)
      throw conflict(`The channel ${found.name} is already bound through another connection.`);
    if (!taken && (await ChatChannel.query(trx).where({ orgId }).resultSize()) >= maxChannels)
      throw conflict(`An organization can have at most ${maxChannels} bound channels.`);
    const id = integrationId as ChatChannel['integrationId'];
    const bound = { integrationId: id, channelId, orgId, projectId: project.id, workspaceId, name: found.name };
    await writeChannel(trx, bound);
    return (await ChatChannel.find({ integrationId: id, channelId }, trx))!;
  });
}

/** Removes the binding of a channel to its project. @throws 404 */
export async function unbindChannel(caller: Caller, integrationId: string, channelId: string) {
  const connection = await ownConnection(caller, integrationId);
  await deleteChannel({ integrationId: connection.integrationId, channelId });
  return { ok: true as const, id: channelId };
}

/** The project name in a message such as `bind web-shop`; null for any other text. */
export const wantedBinding = (text: string): string | null => /^bind\s+(\S.*)$/i.exec(text)?.[1]?.trim() ?? null;

/**
 * Binds the channel in which the command was written. @throws 403 for members who are not allowed to change integrations; otherwise as
 * `bindChannel`
 */
export async function bindFromChat(received: ReceivedChatEvent, { caller }: ChatMember, name: string): Promise<void> {
  if (!admits(caller, 'integrations:write')) throw forbidden('Only owners and admins can bind channels to projects.');
  const { integrationId, event } = received;
  const project = await findProjectNamed(ownOrganization(caller), name);
  if (!project) throw notFound('project');
  const bound = await bindChannel(caller, { integrationId, channelId: event.channel, projectId: project.id });
  const reason = `The channel ${bound.name} is bound to the project ${project.name}.`;
  await settleChatEventNow(received, { status: 'started', reason, reply: reason });
}
