// Processes each chat event once: a mention or a command starts a mission, a message in a mission's thread steers that mission, and a
// pressed button makes a decision.
import type { Id } from '#foundation/ids.ts';
import { Problem } from '#foundation/problem.ts';
import { type ChatEvent, isUsedInChat } from '../../projects/vendors/chat.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { writePost } from '../../work/chat-threads/threads.ts';
import { concludeDelivery } from '../../work/inbound/conclude.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { InboundHook } from '../../work/inbound-hooks/model.ts';
import { bindFromChat, wantedBinding } from './channels.ts';
import { type OpenChat, withChat } from './connection.ts';
import { type ChatMember, findMember } from './people.ts';
import { type ReceivedChatEvent, settleChatEventNow } from './settle.ts';
import { startInChat } from './start.ts';
import { applyButtonPress, processThreadMessage } from './steer.ts';

interface Read {
  event: ChatEvent;
  thread: ChatThread | undefined;
  member: ChatMember | { refusal: string };
}

/** Processes one delivery. @throws an error if another attempt may succeed */
export async function processChatEvent({ deliveryId }: { deliveryId: string }): Promise<void> {
  const delivery = await InboundDelivery.find({ id: deliveryId });
  if (delivery?.status !== 'received') return;
  const hook = await InboundHook.find({ id: delivery.hookId });
  if (!hook?.integrationId) return;
  const { integrationId } = hook;
  try {
    const read = hook.enabled
      ? await withChat(integrationId, (open) => readChatEvent(open, delivery))
      : { refusal: 'The hook is disabled.', title: null };
    if (!read) return;
    if ('refusal' in read) await concludeDelivery(delivery.id, 'ignored', read.refusal, read.title);
    else await dispatchEvent({ delivery, integrationId, event: read.event }, read);
  } catch (error) {
    if (!isFinal(error)) throw error;
    await concludeDelivery(delivery.id, 'ignored', error.body.description);
  }
}

async function readChatEvent(
  open: OpenChat,
  { event: name, payload }: InboundDelivery,
): Promise<Read | { refusal: string; title: string | null }> {
  const { account, chat } = open;
  const event = chat.read(name, JSON.parse(payload ?? 'null'), account);
  if (!isUsedInChat(event)) return { refusal: event.reason, title: event.title ?? null };
  const { kind, title, channel: channelId, thread: threadId, message } = event;
  if (event.workspaceId !== account.workspaceId) return { refusal: 'The event belongs to another workspace.', title };
  const { integrationId } = account;
  const thread = threadId === null ? undefined : await ChatThread.find({ integrationId, channelId, threadId });
  if (kind === 'message' && !thread) return { refusal: 'The message is not in the thread of a mission.', title };
  // The vendor reports a mention again when it is edited.
  if (kind === 'mention' && thread && message === threadId)
    return { refusal: 'The message has already started the mission of the thread.', title };
  return { event, thread, member: await findMember(open, event.user) };
}

async function dispatchEvent(received: ReceivedChatEvent, { event, thread, member }: Read): Promise<void> {
  if ('refusal' in member) {
    const { refusal } = member;
    // A person who is not allowed to steer the mission is told so once per thread.
    const isTold = event.kind !== 'message' || (await isFirst(thread!.id, event.user, refusal));
    await settleChatEventNow(received, { status: 'ignored', reason: refusal, reply: isTold ? refusal : null });
    return;
  }
  try {
    const project = event.kind === 'command' ? wantedBinding(event.text) : null;
    if (event.kind === 'press') await applyButtonPress(received, member);
    else if (project !== null) await bindFromChat(received, member, project);
    else if (thread) await processThreadMessage(received, thread.id, member);
    else await startInChat(received, member);
  } catch (error) {
    if (!(error instanceof Problem) || !isFinal(error) || error.status >= 500) throw error;
    const { description } = error.body;
    await settleChatEventNow(received, { status: 'ignored', reason: description, reply: description });
  }
}

const isFirst = (threadId: Id<'chatThread'>, user: string, title: string): Promise<boolean> =>
  writePost({ threadId, cause: `refusal ${user}`, message: { title, detail: null, link: null, buttons: [] } });
