// A stand-in for Slack, which listens on loopback and responds like Slack. It checks the arguments of every method against Slack's published
// reference (docs.slack.dev/reference/methods), and the blocks of messages against the reference of Block Kit. It also creates the events,
// slash commands and button presses that Slack would send, and their signatures. A test can make all methods fail.
import { createHash, createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { now } from '#foundation/clock.ts';
import { openStandIn, type Reply, type Violate } from './fake-vendor.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads have many forms
type Json = any;

/** Arguments of the methods: the required ones, then the others, as the reference lists them. */
const methods: Record<string, [required: string[], optional: string[], scopes: string[]]> = {
  'auth.test': [[], [], []],
  'users.info': [['user'], ['include_locale'], ['users:read']],
  'conversations.info': [['channel'], ['include_locale', 'include_num_members'], ['channels:read']],
  'conversations.history': [
    ['channel'],
    ['cursor', 'include_all_metadata', 'inclusive', 'latest', 'limit', 'oldest'],
    ['channels:history'],
  ],
  'conversations.replies': [
    ['channel', 'ts'],
    ['cursor', 'include_all_metadata', 'inclusive', 'latest', 'limit', 'oldest'],
    ['channels:history'],
  ],
  'chat.postMessage': [
    ['channel'],
    [
      ...['attachments', 'blocks', 'text', 'as_user', 'icon_emoji', 'icon_url', 'link_names', 'markdown_text'],
      ...['metadata', 'mrkdwn', 'parse', 'reply_broadcast', 'thread_ts', 'unfurl_links', 'unfurl_media', 'username'],
    ],
    ['chat:write'],
  ],
  'chat.update': [
    ['channel', 'ts'],
    [
      ...['as_user', 'attachments', 'blocks', 'file_ids', 'link_names', 'markdown_text', 'metadata', 'parse'],
      ...['reply_broadcast', 'text'],
    ],
    ['chat:write'],
  ],
  'chat.postEphemeral': [
    ['channel', 'user'],
    [
      ...['as_user', 'attachments', 'blocks', 'icon_emoji', 'icon_url', 'link_names', 'markdown_text', 'parse'],
      ...['text', 'thread_ts', 'username'],
    ],
    ['chat:write'],
  ],
};

export interface SlackMessage {
  channel: string;
  ts: string;
  thread_ts: string | null;
  text: string;
  blocks: Json[];
  metadata: Json;
}
interface SlackUser {
  name: string;
  email?: string;
  more?: object;
}

export type Slack = Awaited<ReturnType<typeof openSlack>>;

/** Opens the server. @param token The only accepted token; null accepts every token and gives each its own workspace. */
export async function openSlack(token: string | null) {
  const messages: SlackMessage[] = [];
  const whispers: { channel: string; user: string; text: string; thread_ts: string | null }[] = [];
  const answers: string[] = [];
  const users = new Map<string, SlackUser>();
  const channels = new Map([
    ['C0DEV', 'dev'],
    ['D0ADA', ''],
  ]);
  /** `error`: the error that every method returns from now on. */
  const settings = { error: null as string | null, team: 'T0ACME', bot: 'U0BOT' };
  let count = 0;

  const standIn = await openStandIn(
    async ({ method, url, headers, body }, violate): Promise<Reply> => {
      if (url.startsWith('/answer/')) {
        const { response_type, text, replace_original, ...more } = body as Json;
        if (response_type !== 'ephemeral' || replace_original !== false || Object.keys(more).length > 0) violate(url);
        answers.push(text);
        return { status: 200, body: { ok: true } };
      }
      const name = url.replace('/api/', '');
      if (method !== 'POST' || !methods[name]) violate(`${method} ${url}`);
      if (headers['content-type'] !== 'application/x-www-form-urlencoded') violate(`${headers['content-type']}`);
      if (settings.error) return refuse(settings.error);
      if (token !== null && headers.authorization !== `Bearer ${token}`) return refuse('invalid_auth');
      if (token === null) settings.team = `T${workspaceOf(headers.authorization)}`;
      const args = Object.fromEntries(new URLSearchParams((body ?? '') as string));
      const [required, optional] = methods[name]!;
      for (const one of required) if (!(one in args)) violate(`${one} is missing`);
      for (const one of Object.keys(args)) if (![...required, ...optional].includes(one)) violate(`unknown: ${one}`);
      if (args.blocks) checkBlocks(args.blocks, violate);
      return play(name, args);
    },
    ({ url }) => url.replace('/api/', ''),
  );

  const refuse = (error: string): Reply => ({ status: 200, body: { ok: false, error } });
  const accept = (more: object = {}): Reply => ({ status: 200, body: { ok: true, ...more } });

  function play(method: string, args: Record<string, string>): Reply {
    const { channel = '', ts = '', thread_ts = null } = args;
    if (method === 'auth.test')
      return accept({
        url: 'https://acme.slack.com/',
        team: 'Acme',
        user: 'agent',
        team_id: settings.team,
        user_id: settings.bot,
        bot_id: 'B0BOT',
      });
    if (method === 'users.info') return showUser(args.user!);
    if (!channels.has(channel)) return refuse('channel_not_found');
    if (method === 'conversations.info') return accept({ channel: { id: channel, name: channels.get(channel) } });
    if (method.startsWith('conversations.')) {
      const within = messages.filter(
        (one) =>
          one.channel === channel &&
          Number(one.ts) >= Number(args.oldest ?? 0) &&
          (method === 'conversations.history' ? one.thread_ts === null : one.thread_ts === ts || one.ts === ts),
      );
      return accept({ messages: within.slice(0, Number(args.limit ?? 100)), has_more: false });
    }
    if (!args.text && !args.blocks) return refuse('no_text');
    if (thread_ts !== null && !/^\d+\.\d{6}$/.test(thread_ts)) return refuse('invalid_thread_ts');
    if (method === 'chat.postEphemeral') {
      whispers.push({ channel, user: args.user!, text: args.text!, thread_ts });
      return accept({ message_ts: nextTime() });
    }
    const shown = { text: args.text ?? '', blocks: JSON.parse(args.blocks ?? '[]') };
    if (method === 'chat.update') {
      const found = messages.find((one) => one.channel === channel && one.ts === ts);
      if (!found) return refuse('message_not_found');
      Object.assign(found, shown);
      return accept({ channel, ts, text: shown.text });
    }
    const posted = { channel, ts: nextTime(), thread_ts, ...shown, metadata: JSON.parse(args.metadata ?? '{}') };
    messages.push(posted);
    return accept({ channel, ts: posted.ts, message: shown });
  }

  function showUser(id: string): Reply {
    const user = users.get(id);
    if (!user) return refuse('user_not_found');
    const { name, email, more } = user;
    const profile = { real_name: name, ...(email && { email }) };
    const about = { id, team_id: settings.team, name, real_name: name, deleted: false, is_bot: false };
    return accept({ user: { ...about, is_email_confirmed: true, profile, ...more } });
  }

  const nextTime = (): string => `${Math.floor(now() / 1_000)}.${String(++count).padStart(6, '0')}`;
  const address = `http://127.0.0.1:${(standIn.server.address() as AddressInfo).port}`;
  const responseUrl = () => `${address}/answer/${++count}`;
  const envelope = () => ({ token: 'legacy-token', team_id: settings.team, api_app_id: 'A0APP' });

  return {
    ...standIn,
    address: `${address}/api`,
    settings,
    messages,
    /**
     * `whispers` are messages that only one person sees. `answers` are the texts that the service sends in response to commands and pressed
     * buttons.
     */
    whispers,
    answers,
    users,
    channels,
    nextTime,
    /** The body of an event. */
    event(event: object, more: object = {}): string {
      const id = `Ev${++count}`;
      return JSON.stringify({
        ...envelope(),
        event: { event_ts: nextTime(), channel_type: 'channel', ...event },
        type: 'event_callback',
        event_id: id,
        event_time: Math.floor(now() / 1_000),
        ...more,
      });
    },
    command(user: string, text: string, channel = 'C0DEV'): string {
      return new URLSearchParams({
        ...envelope(),
        team_domain: 'acme',
        channel_id: channel,
        channel_name: channels.get(channel) ?? 'elsewhere',
        user_id: user,
        user_name: 'ada',
        command: '/agent',
        text,
        response_url: responseUrl(),
        trigger_id: `tr.${++count}`,
      }).toString();
    },
    /** The payload that Slack sends when a user presses the button with this label on a message. */
    press(user: string, message: SlackMessage, label: string): string {
      const button = message.blocks
        .flatMap(({ elements = [] }) => elements)
        .find(({ text }: Json) => text.text === label);
      if (!button) throw new Error(`there is no button ${label}: ${JSON.stringify(message.blocks)}`);
      const { channel, ts, thread_ts } = message;
      const payload = {
        type: 'block_actions',
        ...envelope(),
        user: { id: user, team_id: settings.team },
        team: { id: settings.team, domain: 'acme' },
        channel: { id: channel, name: channels.get(channel) },
        container: { type: 'message', message_ts: ts, channel_id: channel, thread_ts },
        message: { type: 'message', bot_id: 'B0BOT', ts, ...(thread_ts && { thread_ts }), text: message.text },
        actions: [{ type: 'button', block_id: 'b1', action_ts: nextTime(), ...button }],
        response_url: responseUrl(),
        trigger_id: `tr.${++count}`,
      };
      return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    },
    clear(): void {
      for (const list of [messages, whispers, answers]) list.length = 0;
      settings.error = null;
      standIn.forget();
    },
  };
}

const workspaceOf = (authorization = ''): string =>
  createHash('sha256').update(authorization).digest('hex').slice(0, 10).toUpperCase();

/** The headers of a request from Slack (docs.slack.dev/authentication/verifying-requests-from-slack). */
export function signedBySlack(secret: string, body: string, at = now()): Record<string, string> {
  const time = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
  return {
    'content-type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${signature}`,
  };
}

/** The limits of Block Kit for the blocks that the service uses. */
function checkBlocks(json: string, violate: Violate): void {
  const blocks = JSON.parse(json) as Json[];
  if (blocks.length === 0 || blocks.length > 50) violate(`${blocks.length} blocks`);
  for (const { type, text, elements, ...more } of blocks) {
    if (Object.keys(more).length > 0) violate(`members of a block: ${Object.keys(more)}`);
    if (type === 'section') checkText(text, ['mrkdwn', 'plain_text'], 3_000, violate);
    else if (type !== 'actions' || elements.length > 25) violate(`block ${type}`);
    const ids = new Set<string>();
    for (const { type: kind, action_id, text: label, value, style, ...rest } of elements ?? []) {
      if (kind !== 'button' || Object.keys(rest).length > 0) violate(`element ${kind} ${Object.keys(rest)}`);
      if (ids.has(action_id) || action_id.length > 255) violate(`action_id ${action_id}`);
      if (value.length > 2_000 || ![undefined, 'primary', 'danger'].includes(style)) violate(`button ${style}`);
      ids.add(action_id);
      checkText(label, ['plain_text'], 75, violate);
    }
  }
}

function checkText({ type, text, emoji, ...more }: Json, types: string[], max: number, violate: Violate): void {
  if (!types.includes(type) || Object.keys(more).length > 0) violate(`text ${type}`);
  if (text.length === 0 || text.length > max) violate(`text of ${text.length} characters`);
  if (emoji !== undefined && type !== 'plain_text') violate('emoji belongs to plain_text');
}
