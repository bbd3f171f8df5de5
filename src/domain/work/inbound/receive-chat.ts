// Receives a request of a chat vendor. Its events are stored like those of other vendors, except messages in threads that belong to no
// mission.
import type { IncomingHttpHeaders } from 'node:http';
import type { Chat, ChatPlace } from '../../projects/vendors/chat.ts';
import type { EventPayload } from '../../projects/vendors/event.ts';
import { ChatThread } from '../chat-threads/model.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import { type ReceivedAnswer, storeDelivery } from './store.ts';

/** Stores the event of a request. @throws 400 for a form that the vendor does not document */
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

/** Whether the message is in the thread of a mission; other messages are not stored. */
const isOfMission = async ({ integrationId }: InboundHook, { channel, thread }: ChatPlace): Promise<boolean> =>
  integrationId !== null &&
  thread !== null &&
  (await ChatThread.find({ integrationId, channelId: channel, threadId: thread })) !== undefined;
