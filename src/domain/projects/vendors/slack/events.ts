// Converts requests from Slack to events of a chat: events (docs.slack.dev/apis/events-api), slash commands and presses of buttons.
import { z } from 'zod';
import type { ChatAccount, ChatEvent } from '../chat.ts';
import type { UnusedEvent } from '../event.ts';
import { shortened } from './blocks.ts';

const Id = z.string().regex(/^[A-Z0-9]{2,30}$/);
const Time = z.string().regex(/^\d{1,12}\.\d{1,10}$/);
const words = z.string().max(40_000).catch('');

const Message = z.object({
  team_id: Id,
  event: z.object({
    user: Id.optional(),
    bot_id: z.string().optional(),
    subtype: z.string().optional(),
    channel: Id,
    channel_type: z.string().optional(),
    ts: Time,
    thread_ts: Time.optional(),
    text: words,
  }),
});
const Command = z.object({
  team_id: Id,
  channel_id: Id,
  user_id: Id,
  command: z.string().max(100),
  text: words,
  response_url: z.url(),
});
const Press = z.object({
  user: z.object({ id: Id, team_id: Id.optional() }),
  team: z.object({ id: Id }).nullish(),
  channel: z.object({ id: Id }),
  message: z.object({ ts: Time, thread_ts: Time.optional() }),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().max(2_000).optional() })).min(1),
  response_url: z.url(),
});

/** Subtypes of messages that people write. */
export const byPeople: readonly (string | undefined)[] = [undefined, 'file_share', 'thread_broadcast'];

const unreadable: UnusedEvent = { reason: 'The event does not have the form that Slack documents.' };

export function readSlackEvent(name: string, payload: unknown, account: ChatAccount): ChatEvent | UnusedEvent {
  if (name === 'app_mention' || name === 'message') return readMessage(name, payload, account);
  if (name === 'command') return readCommand(payload);
  if (name === 'block_actions') return readPress(payload);
  return { reason: `No mission uses the event ${name}.` };
}

function readMessage(name: 'app_mention' | 'message', payload: unknown, { botUserId }: ChatAccount) {
  const { data } = Message.safeParse(payload);
  if (!data) return unreadable;
  const { user, bot_id, subtype, channel, channel_type, ts, thread_ts = null, text } = data.event;
  const isAlone = name === 'message' && channel_type !== 'im';
  const title = `${name === 'message' ? 'Message' : 'Mention'}: ${shortened(markupToText(text, botUserId), 200)}`;
  if (bot_id || !user || user === botUserId) return { reason: 'The message was posted by a program.', title };
  if (!byPeople.includes(subtype)) return { reason: `Messages of the kind ${subtype} are not read.`, title };
  if (isAlone) {
    if (thread_ts === null) return { reason: 'The message is not in the thread of a mission.', title };
    // If a message mentions the bot, Slack reports it twice: as a message and as a mention.
    if (text.includes(`<@${botUserId}`)) return { reason: 'The message is handled as a mention.', title };
  }
  return {
    // A direct message is for the agent, even without a mention.
    kind: isAlone ? ('message' as const) : ('mention' as const),
    workspaceId: data.team_id,
    channel,
    thread: thread_ts,
    message: ts,
    user,
    text: markupToText(text, botUserId),
    responseUrl: null,
    title,
  };
}

function readCommand(payload: unknown): ChatEvent | UnusedEvent {
  const { data } = Command.safeParse(payload);
  if (!data) return unreadable;
  const { team_id: workspaceId, channel_id: channel, user_id: user, command, response_url: responseUrl } = data;
  const text = markupToText(data.text, '');
  const title = shortened(`${command} ${text}`, 200);
  return { kind: 'command', workspaceId, channel, thread: null, message: null, user, text, responseUrl, title };
}

function readPress(payload: unknown): ChatEvent | UnusedEvent {
  const { data } = Press.safeParse(payload);
  const workspaceId = data?.team?.id ?? data?.user.team_id;
  if (!data || !workspaceId) return unreadable;
  const { user, channel, message, actions, response_url: responseUrl } = data;
  return {
    kind: 'press',
    workspaceId,
    channel: channel.id,
    thread: message.thread_ts ?? message.ts,
    message: message.ts,
    user: user.id,
    text: actions[0]!.value ?? '',
    responseUrl,
    title: 'Press of a button',
  };
}

/** Converts Slack's markup to plain text: mentions and links are in angle brackets, and three characters are escaped. */
export const markupToText = (text: string, botUserId: string): string =>
  text
    .replaceAll(/<([^<>]*)>/g, (_, inner: string) => {
      const [target = '', label] = inner.split('|', 2);
      if (botUserId && target === `@${botUserId}`) return '';
      if (/^[@#]/.test(target)) return label ? `${target[0]}${label.replace(/^[@#]/, '')}` : target;
      if (target.startsWith('!')) return label || `@${target.slice(1)}`;
      return label && label !== target ? `${label} (${target})` : target;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll('\0', '')
    .toWellFormed()
    .trim();
