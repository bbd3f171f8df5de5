// Receives a request of a chat. Events are stored like those of other vendors, except messages outside of the threads of missions.
import type { IncomingHttpHeaders } from 'node:http';
import type { Chat, ChatPlace } from '../../projects/vendors/chat.ts';
import type { EventPayload } from '../../projects/vendors/event.ts';
import { ChatThread } from '../chat-threads/model.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import { type ReceivedAnswer, storeDelivery } from './store.ts';

/** @throws 400 for a form that the vendor does not document */
export async function receiveInChat(
  chat: Chat,
  hook: InboundHook,
  headers: IncomingHttpHeaders,
  payload: EventPayload,
): Promise<ReceivedAnswer> {
  const { event, onlyIn, answer } = chat.receive(payload);
  if (event && (onlyIn === null || (await isOfMission(hook, onlyIn)))) {
    const sent = { event: event.name, externalId: event.id, payload: JSON.stringify(event.payload) };
    await storeDelivery(hook, sent, headers);
  }
  return { status: 200, body: answer };
}

/** Messages in other threads and channels are not stored. */
const isOfMission = async ({ integrationId }: InboundHook, { channel, thread }: ChatPlace): Promise<boolean> =>
  integrationId !== null &&
  thread !== null &&
  (await ChatThread.find({ integrationId, channelId: channel, threadId: thread })) !== undefined;
