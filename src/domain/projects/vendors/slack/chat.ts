// Slack as a chat: messages, people and channels, through its Web API.
import { z } from 'zod';
import { seconds } from '#foundation/clock.ts';
import { sendRequest } from '#foundation/http/outbound.ts';
import { badGateway, conflict, notFound } from '#foundation/problem.ts';
import type { Chat, ChatPlace } from '../chat.ts';
import type { VendorConnection } from '../connection.ts';
import { callSlack } from './api.ts';
import { asArguments, escaped } from './blocks.ts';
import { readSlackEvent } from './events.ts';
import { manifest } from './manifest.ts';
import { receiveSlackRequest, slackSecretHeaders, slackSignature } from './requests.ts';

const Id = z.string().regex(/^[A-Z0-9]{2,30}$/);
const Account = z.object({ team_id: Id, user_id: Id });
const Anything = z.object({});
const User = z.object({
  user: z.object({
    team_id: z.string().optional(),
    real_name: z.string().optional(),
    name: z.string().catch('somebody'),
    deleted: z.boolean().optional(),
    is_bot: z.boolean().optional(),
    is_stranger: z.boolean().optional(),
    is_email_confirmed: z.boolean().optional(),
    profile: z.object({ email: z.string().optional() }).optional(),
  }),
});
const Channel = z.object({ channel: z.object({ name: z.string() }).optional() });
const Posted = z.object({ ts: z.string() });
const History = z.object({
  messages: z.array(
    z.looseObject({
      ts: z.string(),
      metadata: z.looseObject({ event_payload: z.looseObject({ key: z.unknown() }).optional() }).optional(),
    }),
  ),
});

/** The event type of the metadata that this service adds to each of its messages, so that it can find a message again. */
const eventType = 'mission_message';
/** Maximum length of an answer, in characters. */
const maxReply = 2_000;
const replyTimeoutMs = seconds(10);

const placeArguments = ({ channel, thread }: ChatPlace) => ({ channel, thread_ts: thread });
const slackTime = (milliseconds: number): string => (milliseconds / 1_000).toFixed(6);

/** Whether the conversation is a direct message; the first letter of the id shows the kind of conversation. */
const isDirectMessage = (channel: string): boolean => channel.startsWith('D');

/** Reads messages of a thread or, without one, of the channel. */
const history = (connection: VendorConnection, { channel, thread }: ChatPlace, oldest: string) => {
  const args = { channel, oldest, inclusive: 'true', include_all_metadata: 'true', limit: '100' };
  return thread === null
    ? callSlack(connection, 'conversations.history', args, History)
    : callSlack(connection, 'conversations.replies', { ...args, ts: thread }, History);
};

/** Whether the URL belongs to Slack, or has the same origin as the configured API. */
const isOfSlack = ({ address }: VendorConnection, url: string): boolean =>
  new URL(url).origin === 'https://hooks.slack.com' || new URL(url).origin === new URL(address).origin;

export const slackChat: Chat = {
  signature: slackSignature,
  secretHeaders: slackSecretHeaders,
  receive: receiveSlackRequest,
  async account(connection) {
    const { team_id: workspaceId, user_id: botUserId } = await callSlack(connection, 'auth.test', {}, Account);
    return { workspaceId, botUserId };
  },
  async findPerson(connection, workspaceId, id) {
    const { user } = await callSlack(connection, 'users.info', { user: id }, User);
    // The email addresses of people of other workspaces are not trusted.
    const isOwn = user.team_id === workspaceId && !user.is_stranger;
    const isVerified = isOwn && !user.deleted && !user.is_bot && user.is_email_confirmed !== false;
    return { name: user.real_name || user.name, email: (isVerified && user.profile?.email) || null };
  },
  async findChannel(connection, channel) {
    if (isDirectMessage(channel))
      throw conflict(
        'A direct message does not name a project: begin it with “in shop: …” to choose the project shop.',
      );
    const found = await callSlack(connection, 'conversations.info', { channel }, Channel, ['channel_not_found']);
    if (!found.channel) throw notFound('channel');
    return { name: found.channel.name };
  },
  async post(connection, place, message, key) {
    const metadata = JSON.stringify({ event_type: eventType, event_payload: { key } });
    const unfurl = { unfurl_links: 'false', unfurl_media: 'false' };
    const args = { ...placeArguments(place), ...asArguments(message), metadata, ...unfurl };
    return (await callSlack(connection, 'chat.postMessage', args, Posted)).ts;
  },
  async findPosted(connection, place, key, since) {
    // The clocks of Slack and of this service may differ by a minute.
    const { messages } = await history(connection, place, slackTime(since - seconds(60)));
    return messages.find(({ metadata }) => metadata?.event_payload?.key === key)?.ts ?? null;
  },
  async update(connection, channel, ts, message) {
    const args = { channel, ts, ...asArguments(message) };
    // Errors for a message that was deleted are ignored.
    await callSlack(connection, 'chat.update', args, Anything, ['message_not_found', 'cant_update_message']);
  },
  async reply(connection, { responseUrl, user, ...place }, words) {
    const text = escaped(words.slice(0, maxReply).toWellFormed());
    if (responseUrl === null) {
      await callSlack(connection, 'chat.postEphemeral', { ...placeArguments(place), user, text }, Anything);
      return;
    }
    if (!isOfSlack(connection, responseUrl)) throw conflict('The URL for the answer does not belong to Slack.');
    const signal = AbortSignal.timeout(replyTimeoutMs);
    const json = { response_type: 'ephemeral', replace_original: false, text };
    const { status } = await sendRequest(responseUrl, { method: 'POST', json, signal, maxBytes: 65_536 }).catch(() => {
      throw badGateway('Slack is unreachable.');
    });
    // With any other status, the URL has expired, which happens after 30 minutes or five answers. Another attempt to send the answer would fail, too.
    if (status >= 500 || status === 429) throw badGateway(`Slack failed (status ${status}).`);
  },
  read: readSlackEvent,
  manifest,
};
