// GraphQL types of chat connections and channels.
import { builder } from '#graph/builder.ts';
import { toMany, toOne } from '#graph/context.ts';
import { weightOf } from '#graph/weight.ts';
import { channelsOfChats, connectorsOfChats } from './connections.ts';
import { findHooks } from './hooks.ts';
import { ChatChannel, ChatConnection } from './model.ts';

const hookOf = toOne(findHooks, ({ integrationId }) => integrationId);
const connectorOf = toOne(connectorsOfChats, ({ id }) => id);
const channelsOf = toMany(channelsOfChats, ({ integrationId }) => integrationId);

export const ChatChannelType = builder.modelType(ChatChannel, 'ChatChannel').implement({
  description: 'A chat channel that is bound to a project.',
  fields: (t) => ({
    integrationId: t.exposeString('integrationId', { description: 'The connector of the chat.' }),
    channelId: t.exposeString('channelId', { description: 'The vendor’s id of the channel.' }),
    name: t.exposeString('name', { description: 'The name of the channel when it was bound.' }),
    projectId: t.exposeString('projectId', { description: 'The project for missions that start in the channel.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the channel was bound.' }),
    project: t.belongsTo('project', { link: 'projects:read', description: 'The project.' }),
  }),
});

export const ChatConnectionType = builder.modelType(ChatConnection, 'ChatConnection').implement({
  description: 'A chat workspace, in which members start and steer missions.',
  fields: (t) => ({
    integrationId: t.exposeString('integrationId', { description: 'The connector of the workspace.' }),
    orgId: t.exposeString('orgId', { description: 'The organization of the connection.' }),
    workspaceId: t.exposeString('workspaceId', { description: 'The vendor’s id of the workspace.' }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Reason why the last message could not be written; null if it was written.',
    }),
    pausedUntil: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the latest rate limit of the vendor ends or ended; null if there was none.',
      resolve: async ({ integrationId }, _, context) => (await connectorOf(context).load(integrationId))?.pausedUntil,
    }),
    hookId: t.string({
      description: 'The hook that receives the events; its deliveries show the outcome of each event.',
      resolve: async ({ integrationId }, _, context) => (await hookOf(context).load(integrationId))!.hookId,
    }),
    eventsAddress: t.string({
      description: 'The URL to enter for events, commands and buttons in the settings of the app.',
      resolve: async ({ integrationId }, _, context) => (await hookOf(context).load(integrationId))!.address,
    }),
    manifest: t.string({
      graphOnly: true,
      complexity: weightOf(4_096),
      description: 'The settings of the app at the vendor with this URL; for Slack a manifest in YAML.',
      resolve: async ({ integrationId }, _, context) => (await hookOf(context).load(integrationId))!.manifest,
    }),
    channels: t.field({
      type: [ChatChannelType],
      description: 'The channels that are bound to projects, oldest first.',
      resolve: ({ integrationId }, _, context) => channelsOf(context).load(integrationId),
    }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the workspace was connected.' }),
    updatedAt: t.expose('updatedAt', { type: 'EpochMs', description: 'When the connection last changed.' }),
    integration: t.belongsTo('integration', { link: 'integrations:read', description: 'The connector.' }),
  }),
});
