// Connections to chats, in GraphQL only. As with connectors, the contract has no REST routes that create them, and an MCP tool would show
// their credentials to language models.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { chatWords } from '../../projects/integrations/vendor-words.ts';
import { ChatChannelType, ChatConnectionType } from '../../work/chat-threads/schema.ts';
import { chatText, maxChannels } from './bounds.ts';
import * as channels from './channels.ts';
import * as connections from './connect.ts';

const ChatVendor = wordSet('ChatVendor', chatWords.names, 'Vendor of a chat.', chatWords.texts);

const ConnectionList = builder.objectRef<{ data: object[] }>('ChatConnectionList').implement({
  description: 'The chats of the organization.',
  fields: (t) => ({
    data: t.field({
      type: [ChatConnectionType],
      description: 'The connections, oldest first.',
      resolve: ({ data }) => data as never,
    }),
  }),
});
const UnbindResponse = okIdAnswer('UnbindChatChannelResponse');

const secretText = (bounds: { min: number; max: number }) =>
  boundedText(bounds).regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces');
const botToken = secretText(chatText.botToken);
const signingSecret = secretText(chatText.signingSecret);
const kept = 'stored encrypted and never returned';

const ConnectRequest = request(
  'ConnectChatRequest',
  z
    .object({
      vendor: ChatVendor.zod.describe('The vendor of the chat.'),
      displayName: nameText(text.integrationName).describe(
        `The display name, ${range(text.integrationName)} characters.`,
      ),
      botToken: botToken.describe(`The token of the app in the workspace, such as \`xoxb-…\`; ${kept}.`),
      signingSecret: signingSecret.describe(`The secret with which the vendor signs requests; ${kept}.`),
    })
    .meta({
      description: 'An app in a chat workspace.',
      examples: [{ vendor: chatWords.names[0], displayName: 'Acme', botToken: 'xoxb-…', signingSecret: '…' }],
    }),
);
const RotateRequest = request(
  'RotateChatRequest',
  z
    .object({
      botToken: botToken.optional().describe(`The new token, for the same workspace; ${kept}.`),
      signingSecret: signingSecret.optional().describe(`The new signing secret; ${kept}.`),
    })
    .meta({ description: 'The credentials to replace: at least one.', examples: [{ signingSecret: '…' }] }),
);

const scope = 'integrations:write';
const chatId = { ...pathId, description: 'The id of the chat’s connector.' } as const;
const channelId = { ...pathId, description: 'The vendor’s id of the channel, such as `C0123456789`.' } as const;

builder.queryField('chatConnections', (t) =>
  t.field({
    description: 'The chats that the organization has connected, with their channels.',
    scope: 'integrations:read',
    tool: 'list_chat_connections',
    type: ConnectionList,
    resolve: async (_, _args, { caller }) => ({ data: await connections.listChats(caller) }),
  }),
);

builder.mutationFields((t) => ({
  connectChat: t.field({
    description:
      'Connects a workspace of a chat, once per organization, and creates the hook for its events. Credentials that the vendor rejects are refused.',
    scope,
    type: ChatConnectionType,
    args: { input: t.arg({ type: ConnectRequest, required: true, description: 'The app.' }) },
    resolve: (_, { input }, { caller }) => connections.connectChat(caller, input),
  }),
  rotateChat: t.field({
    description: 'Replaces the token, the signing secret or both. Requests signed with the earlier secret are refused.',
    scope,
    type: ChatConnectionType,
    args: {
      chatId: t.arg.string(chatId),
      input: t.arg({ type: RotateRequest, required: true, description: 'The new credentials.' }),
    },
    resolve: (_, args, { caller }) => connections.rotateChat(caller, args.chatId, args.input),
  }),
  bindChatChannel: t.field({
    description:
      `Binds a channel to a project, or rebinds it to another: missions that start in the channel work in it. At most ${maxChannels} per ` +
      'organization; a channel belongs to one organization. If the channel is private, the app has to be a member of it.',
    scope,
    tool: { name: 'bind_chat_channel', idempotent: true, openWorld: true },
    type: ChatChannelType,
    args: {
      chatId: t.arg.string(chatId),
      channelId: t.arg.string(channelId),
      projectId: t.arg.string({ ...pathId, description: 'The project.' }),
    },
    resolve: (_, args, { caller }) => channels.bindChannel(caller, { ...args, integrationId: args.chatId }),
  }),
  unbindChatChannel: t.field({
    description: 'Ends the binding of a channel: requests in the channel must then name a project.',
    scope,
    tool: { name: 'unbind_chat_channel', destructive: true, idempotent: false },
    type: UnbindResponse,
    args: { chatId: t.arg.string(chatId), channelId: t.arg.string(channelId) },
    resolve: (_, args, { caller }) => channels.unbindChannel(caller, args.chatId, args.channelId),
  }),
}));
