// Starts a mission that a member requests in a chat. The run, its thread and the outcome of the event are written in one transaction.
import { randomUUID } from 'node:crypto';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { requestPrompt } from '../../execution/mission-steps/prompts.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { reportIn } from '../../work/chat-threads/threads.ts';
import { deliverRuns } from '../../work/runs/dispatch.ts';
import { writeMission } from '../../work/starts/operations.ts';
import type { ChatMember } from './people.ts';
import { chooseProject } from './projects.ts';
import { type ReceivedChatEvent, settleChatEvent, settleChatEventNow } from './settle.ts';

/** Maximum length of a request, in characters. A prompt can be longer, because the platform adds text to the request. */
const maxRequest = 18_000;

/** Starts the mission, or tells the author why it cannot start. @throws the problems of starting a mission */
export async function startInChat(received: ReceivedChatEvent, { caller, name }: ChatMember): Promise<void> {
  const { event, integrationId } = received;
  const orgId = caller.orgId!;
  const chosen = await chooseProject({ integrationId, channel: event.channel }, orgId, event.text);
  if ('refusal' in chosen) {
    await settleChatEventNow(received, { status: 'ignored', reason: chosen.refusal, reply: chosen.refusal });
    return;
  }
  const { project, text } = chosen;
  const request = text.slice(0, maxRequest).toWellFormed();
  if (!/\S/.test(request)) {
    const reply = 'Say what the agent should do, such as “fix the date test”.';
    await settleChatEventNow(received, { status: 'ignored', reason: 'The message has no text.', reply });
    return;
  }
  const prompt = requestPrompt(name, request, randomUUID());
  const written = await transaction(async (trx) => {
    const run = await writeMission(trx, caller, { projectId: project.id, prompt, title: request }, null);
    if (!(await settleChatEvent(trx, received, { status: 'started', reason: `Started ${run.id}.` })))
      throw new Settled();
    const thread = {
      id: newId('chatThread'),
      orgId,
      integrationId: integrationId as never,
      channelId: event.channel,
      threadId: event.kind === 'command' ? null : (event.thread ?? event.message),
      deliveryId: null,
      follows: true,
      createdAt: now(),
    };
    const isNew = await ChatThread.insertNew(trx, thread, ['integrationId', 'channelId', 'threadId']);
    // Another message has started a mission in the same thread: the next attempt steers that mission.
    if (!isNew) throw new Error('the thread already has a mission');
    await reportIn(trx, thread.id, run.id);
    await enqueue(trx, 'chat thread', { threadId: thread.id });
    return run;
  }).catch((error) => {
    if (error instanceof Settled) return null;
    throw error;
  });
  if (written) await deliverRuns([written], new Map());
}

/** Thrown to roll back the new run when another process has completed the event in the meantime. */
class Settled extends Error {}
