// Records the outcome of a chat event, and replies to its author privately.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { ChatEvent, ChatReply } from '../../projects/vendors/chat.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { withChat } from './connection.ts';

export interface ReceivedChatEvent {
  delivery: InboundDelivery;
  integrationId: string;
  event: ChatEvent;
}

export interface EventOutcome {
  status: 'started' | 'ignored';
  reason: string;
  /** Text of the private reply to the author; null means no reply. */
  reply?: string | null;
}

/**
 * Stores the outcome of the delivery in the transaction that stores what the event has changed. Returns false when the delivery already has
 * an outcome.
 */
export async function settleChatEvent(
  trx: Transaction,
  { delivery, integrationId, event }: ReceivedChatEvent,
  { status, reason, reply = null }: EventOutcome,
): Promise<boolean> {
  const { id } = delivery;
  if ((await InboundDelivery.lock(trx, { id }))?.status !== 'received') return false;
  await InboundDelivery.patch(trx, { id }, { status, reason, title: event.title, processedAt: now() });
  if (reply !== null) {
    const { channel, thread, user, responseUrl } = event;
    const to: ChatReply = { channel, thread, user, responseUrl };
    await enqueue(trx, 'chat reply', { integrationId, to, text: reply } satisfies ReplyJob);
  }
  return true;
}

export const settleChatEventNow = (received: ReceivedChatEvent, settlement: EventOutcome): Promise<boolean> =>
  transaction((trx) => settleChatEvent(trx, received, settlement));

export interface ReplyJob {
  integrationId: string;
  to: ChatReply;
  text: string;
}

/** Sends the private reply to the author of an event. @throws an error if another attempt may succeed */
export async function replyInChat({ integrationId, to, text }: ReplyJob): Promise<void> {
  try {
    await withChat(integrationId, ({ chat, connection }) => chat.reply(connection, to, text));
  } catch (error) {
    if (!isFinal(error)) throw error;
  }
}
