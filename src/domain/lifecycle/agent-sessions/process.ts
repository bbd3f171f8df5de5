// Processes each event of an agent session once. A new session starts a mission by the rules of automations and scheduled tasks; a message
// answers, steers or continues the mission, and a request to stop cancels it.
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { transaction } from '#foundation/postgres/database.ts';
import type { SessionEvent } from '../../projects/vendors/agent-session.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { isUsed } from '../../projects/vendors/event.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { queuePost } from '../../work/chat-threads/threads.ts';
import { concludeDelivery } from '../../work/inbound/conclude.ts';
import { readEvent } from '../../work/inbound/events/read.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { processDelivery } from '../../work/inbound/process.ts';
import type { DeliveryJob } from '../../work/inbound/retry.ts';
import { findSession, settleSessionEvent } from '../../work/inbound/session.ts';
import { InboundHook } from '../../work/inbound-hooks/model.ts';
import { newestRunInThread } from '../../work/runs/chat-runs.ts';
import { findConnector } from './connection.ts';
import { processSessionMessage, stopSessionMission } from './steer.ts';

/** Processes one delivery. @throws an error if another attempt may succeed */
export async function processSessionEvent(job: DeliveryJob): Promise<void> {
  const delivery = await InboundDelivery.find({ id: job.deliveryId });
  if (delivery?.status !== 'received') return;
  const hook = await InboundHook.find({ id: delivery.hookId });
  if (!hook) return;
  const event = readEvent(hook, delivery);
  const { session } = event;
  if (!session) return concludeDelivery(delivery.id, 'ignored', isUsed(event) ? '' : event.reason, event.title);
  try {
    const thread = (await findSession(delivery.orgId, session)) ?? (await openThread(delivery, hook, session));
    if (!isUsed(event)) return await settleSessionEvent(delivery, event, { status: 'ignored', reason: event.reason });
    if (session.action === 'stop') return await stopSessionMission(delivery, event, thread);
    const run = await newestRunInThread(thread.id);
    if (session.action === 'created' || !run) await processDelivery(job);
    else await processSessionMessage({ delivery, event, thread, run, approvedBy: job.approvedBy ?? null });
  } catch (error) {
    if (!isFinal(error) || error.status >= 500) throw error;
    await settleSessionEvent(delivery, event, { status: 'ignored', reason: error.body.description });
  }
}

const begun = 'Reading the issue, and checking who may start a mission on it.';

/** The first activity is sent before any other request, because people wait for it. */
async function openThread(
  { id: deliveryId, orgId }: InboundDelivery,
  hook: InboundHook,
  session: SessionEvent,
): Promise<ChatThread> {
  const { id: integrationId } = await findConnector(hook, session);
  const id = newId('chatThread');
  const place = { orgId, integrationId, channelId: session.agentId, threadId: session.id };
  await transaction(async (trx) => {
    const thread = { id, ...place, deliveryId, follows: false, createdAt: now() };
    if (!(await ChatThread.insertNew(trx, thread, ['integrationId', 'channelId', 'threadId']))) return;
    if (session.action === 'stop') return;
    await queuePost(trx, { threadId: id, cause: 'begin', message: { type: 'thought', body: begun, isBrief: true } });
    await enqueue(trx, 'chat thread', { threadId: id });
  });
  return (await findSession(orgId, session))!;
}
