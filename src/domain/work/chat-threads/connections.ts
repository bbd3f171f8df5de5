// Connections to chat workspaces, and their channels.
import { now, nowAfter } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { ChatChannel, ChatConnection } from './model.ts';

const problemSql = `update chat_connections set problem = $2, updated_at = $3
  where integration_id = $1 and problem is distinct from $2`;

/** Records why the last message could not be written; null once a message was written. */
export const noteProblem = async (integrationId: string, problem: string | null): Promise<void> => {
  await sql(problemSql, [integrationId, problem, now()]);
};

/** Records the account to which new credentials belong, and clears the problem of the earlier credentials. @throws 404 */
export async function recordAccount(
  { integrationId, updatedAt }: ChatConnection,
  botUserId: string,
): Promise<ChatConnection> {
  const changes = { botUserId, problem: null, updatedAt: nowAfter(updatedAt) };
  const [after] = await ChatConnection.patchReturning(undefined, { integrationId }, changes);
  return after ?? ChatConnection.refuse();
}

const bindSql = `insert into chat_channels
    (integration_id, channel_id, org_id, project_id, workspace_id, name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (integration_id, channel_id) do update set project_id = $4, name = $6`;

/** Binds a channel to a project, or changes its project and name. */
export const writeChannel = async (trx: Transaction, channel: Omit<ChatChannel, 'createdAt'>): Promise<void> => {
  const { integrationId, channelId, orgId, projectId, workspaceId, name } = channel;
  await sql(bindSql, [integrationId, channelId, orgId, projectId, workspaceId, name, now()], trx);
};

/** Removes the binding of a channel. @throws 404 */
export async function deleteChannel(where: Pick<ChatChannel, 'integrationId' | 'channelId'>): Promise<void> {
  if ((await ChatChannel.query().delete().where(where)) === 0) ChatChannel.refuse();
}

export const connectorsOfChats = (integrationIds: readonly string[]): Promise<Integration[]> =>
  Integration.findByKeys('id', integrationIds);

/** The channels of connections. */
export const channelsOfChats = (integrationIds: readonly string[]): Promise<ChatChannel[]> =>
  ChatChannel.findByKeys('integrationId', integrationIds);
