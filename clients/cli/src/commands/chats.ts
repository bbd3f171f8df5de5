// Chats of the organization: list, connect, rotate, show the settings of the app, bind channels to projects.
import type { Client } from '../../../typescript/src/exports.ts';
import { readHidden, readPiped } from '../hidden-input.ts';
import { paint, printJson, printLine, printTable } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';

interface Chat {
  integrationId: string;
  workspaceId: string;
  eventsAddress: string;
  manifest: string;
  problem: string | null;
  integration: { displayName: string } | null;
  channels: { channelId: string; name: string; project: { slug: string } | null }[];
}

const fields = `integrationId workspaceId eventsAddress manifest problem integration { displayName }
  channels { channelId name project { slug } }`;

const readChats = async (client: Client): Promise<Chat[]> =>
  (await client.graphql<{ chatConnections: { data: Chat[] } }>(`{ chatConnections { data { ${fields} } } }`))
    .chatConnections.data;

const nameOf = ({ integration, integrationId }: Chat): string => integration?.displayName ?? integrationId;

/** Finds a chat by id or name; without either, the only one. */
async function findChat(client: Client, wanted: string | undefined): Promise<Chat> {
  const found = (await readChats(client)).filter(
    (chat) => wanted === undefined || chat.integrationId === wanted || nameOf(chat) === wanted,
  );
  if (found.length === 1) return found[0]!;
  const reason = found.length === 0 ? 'There is no such chat' : 'There are several chats: add --chat';
  throw new UserError(`${reason}. "aep chats list" shows ids.`);
}

export async function list(options: CommonOptions): Promise<void> {
  const chats = await readChats(await openClient(options.url));
  if (options.json) return printJson(chats);
  printTable(chats, {
    id: ({ integrationId }) => integrationId,
    name: nameOf,
    workspace: ({ workspaceId }) => workspaceId,
    channels: ({ channels }) => channels.map(({ name, project }) => `#${name}=${project?.slug ?? '?'}`).join(' '),
    problem: ({ problem }) => problem ?? 'none',
  });
}

export async function manifest(options: ChatOptions): Promise<void> {
  const chat = await findChat(await openClient(options.url), options.chat);
  if (options.json) printJson(chat);
  else printLine(chat.manifest.trimEnd());
}

/** Reads the token and the signing secret from two lines of standard input, or prompts for each. */
async function readCredentials(): Promise<{ botToken: string; signingSecret: string }> {
  const piped = await readPiped();
  const [botToken, signingSecret] =
    piped === null ? [await readHidden('Bot token'), await readHidden('Signing secret')] : piped.split(/\r?\n/);
  if (!botToken || !signingSecret) throw new UserError('Enter the bot token, then the signing secret: one line each.');
  return { botToken, signingSecret };
}

export async function connect(options: CommonOptions & { vendor: string }, displayName: string): Promise<void> {
  const client = await openClient(options.url);
  const input = { vendor: options.vendor, displayName, ...(await readCredentials()) };
  const query = `mutation ($input: ConnectChatRequest!) { connectChat(input: $input) { ${fields} } }`;
  const { connectChat: chat } = await client.graphql<{ connectChat: Chat }>(query, { input });
  if (options.json) return printJson(chat);
  printLine(`Connected ${paint('bold', displayName)}. Its app sends requests to ${chat.eventsAddress}`);
  process.stderr.write('"aep chats manifest" prints the settings of the app with this address.\n');
}

interface ChatOptions extends CommonOptions {
  chat?: string;
}

export async function rotate(options: ChatOptions): Promise<void> {
  const client = await openClient(options.url);
  const { integrationId } = await findChat(client, options.chat);
  const query =
    'mutation ($chatId: String!, $input: RotateChatRequest!) { rotateChat(chatId: $chatId, input: $input) { integrationId } }';
  const answer = await client.graphql(query, { chatId: integrationId, input: await readCredentials() });
  if (options.json) printJson(answer);
  else printLine('Replaced the credentials.');
}

export async function bind(options: ChatOptions, channelId: string, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { integrationId } = await findChat(client, options.chat);
  const { id: projectId, slug } = await findProject(client, wanted);
  const query = `mutation ($chatId: String!, $channelId: String!, $projectId: String!) {
    bindChatChannel(chatId: $chatId, channelId: $channelId, projectId: $projectId) { channelId name projectId } }`;
  const { bindChatChannel: bound } = await client.graphql<{ bindChatChannel: { name: string } }>(query, {
    chatId: integrationId,
    channelId,
    projectId,
  });
  if (options.json) printJson(bound);
  else printLine(`Missions of #${bound.name} work in ${paint('bold', slug)}.`);
}

export async function unbind(options: ChatOptions, channelId: string): Promise<void> {
  const client = await openClient(options.url);
  const { integrationId } = await findChat(client, options.chat);
  const query =
    'mutation ($chatId: String!, $channelId: String!) { unbindChatChannel(chatId: $chatId, channelId: $channelId) { id } }';
  const answer = await client.graphql(query, { chatId: integrationId, channelId });
  if (options.json) printJson(answer);
  else printLine(`${channelId} is no longer bound to a project.`);
}
