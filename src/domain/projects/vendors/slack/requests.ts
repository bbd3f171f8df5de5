// Requests from Slack: their signature (docs.slack.dev/authentication/verifying-requests-from-slack), name, id, and the answer that Slack
// expects within three seconds.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { now, seconds } from '#foundation/clock.ts';
import { invalid, unauthenticated } from '#foundation/problem.ts';
import type { ChatRequest } from '../chat.ts';
import type { EventPayload } from '../event.ts';
import { type BodySignature, headerOf, hmacSignature, matches, signatureRefused } from '../signature.ts';
import { byPeople } from './events.ts';

/** Maximum age of a request, as Slack recommends. */
const maxAgeMs = seconds(300);
const [signatureHeader, timeHeader] = ['X-Slack-Signature', 'X-Slack-Request-Timestamp'] as const;

/** Starts the verification of a request. @throws 401 that names the timestamp header, when the timestamp is invalid or more than 5 minutes off */
export function slackSignature(secret: string, headers: IncomingHttpHeaders): BodySignature {
  const time = headerOf(headers, timeHeader);
  if (!/^\d{1,15}$/.test(time) || Math.abs(now() - seconds(Number(time))) > maxAgeMs)
    throw unauthenticated.field(timeHeader, 'must be the current time in seconds, at most 5 minutes off');
  const sent = headerOf(headers, signatureHeader);
  return hmacSignature(secret, `v0:${time}:`, (expected) => {
    if (!sent.startsWith('v0=') || !matches(sent.slice(3), expected))
      throw signatureRefused(signatureHeader, sent === '');
  });
}

export const slackSecretHeaders = ['x-slack-signature'];

const Challenge = z.object({ type: z.literal('url_verification'), challenge: z.string().max(1_000) });
const Name = z.string().regex(/^[\w.]{1,100}$/);
const Event = z.object({
  type: z.literal('event_callback'),
  event_id: Name,
  event: z.looseObject({
    type: Name,
    subtype: z.string().optional(),
    bot_id: z.string().optional(),
    channel: z.string().optional(),
    channel_type: z.string().optional(),
    thread_ts: z.string().optional(),
  }),
});
const Interaction = z.object({ type: Name, trigger_id: Name });
const Command = z.object({ command: z.string(), trigger_id: Name, text: z.string().optional() });

const help =
  'Tell the agent what to do: `/agent fix the date test`, or `/agent in shop: fix the date test` in a channel without a project; or write it to me in a direct message. ' +
  '`/agent bind shop` makes shop the project of the channel. Answer in the thread of a mission to steer it.';

/** Removes the legacy verification token, which is a credential that nothing uses. */
const withoutToken = ({ token, ...payload }: EventPayload): EventPayload => payload;

/** Parses a request. @throws 400 for a payload whose structure Slack does not document */
export function receiveSlackRequest(payload: EventPayload): ChatRequest {
  const challenge = Challenge.safeParse(payload).data;
  if (challenge) return { event: null, onlyIn: null, answer: { challenge: challenge.challenge } };
  const kept = withoutToken(payload);
  const command = Command.safeParse(payload).data;
  if (command) {
    const text = (command.text ?? '').trim();
    const isHelp = text === '' || text === 'help';
    return {
      event: isHelp ? null : { name: 'command', id: command.trigger_id, payload: kept },
      onlyIn: null,
      answer: { response_type: 'ephemeral', text: isHelp ? help : 'Got it. An answer will follow here.' },
    };
  }
  const sent = Event.safeParse(payload).data;
  if (sent) {
    const { type: name, channel = '', channel_type, thread_ts: thread = null, bot_id, subtype } = sent.event;
    const isDirect = name === 'message' && channel_type === 'im';
    // Messages of the app itself are ignored; Slack sends events for them in direct messages.
    if (isDirect && (bot_id || !byPeople.includes(subtype))) return { event: null, onlyIn: null, answer: {} };
    const onlyIn = name === 'message' && !isDirect ? { channel, thread } : null;
    return { event: { name, id: sent.event_id, payload: kept }, onlyIn, answer: {} };
  }
  const interaction = Interaction.safeParse(payload).data;
  if (!interaction) throw invalid('The body is not an event, command or interaction of Slack.');
  const { type: name, trigger_id: id } = interaction;
  return { event: { name, id, payload: kept }, onlyIn: null, answer: {} };
}
