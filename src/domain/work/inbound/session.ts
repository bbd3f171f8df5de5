// Records the outcome of an event about an agent session. The same transaction queues a message that shows this outcome in the session. The
// missions that the event has started send their own reports to the session later (../../lifecycle/agent-sessions).
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { SessionActivity, SessionEvent } from '../../projects/vendors/agent-session.ts';
import type { InboundEvent } from '../../projects/vendors/event.ts';
import { ChatThread } from '../chat-threads/model.ts';
import { countPosts, queuePost, reportIn } from '../chat-threads/threads.ts';
import { newestRunInThread } from '../runs/chat-runs.ts';
import type { Run } from '../runs/model.ts';
import { type DeliveryStatus, InboundDelivery } from './model.ts';

type Delivery = Pick<InboundDelivery, 'id' | 'orgId'>;

export interface SessionOutcome {
  status: DeliveryStatus;
  reason: string;
  /** The run that the event has started. */
  runId?: Run['id'] | undefined;
  /** Message to the session; absent means that the reason is sent as an error, null that nothing is sent. */
  activity?: SessionActivity | null;
}

export const findSession = (orgId: Delivery['orgId'], { id }: SessionEvent, trx?: Transaction) =>
  ChatThread.find({ orgId, threadId: id }, trx);

const approval = 'A member who may start missions can approve the start on the page of the event (Inbound hooks).';

/** Queues the outcome of the event as a message to its session. */
export async function queueSessionOutcome(
  trx: Transaction,
  { id: deliveryId, orgId }: Delivery,
  session: SessionEvent,
  { status, reason, runId, activity }: SessionOutcome,
): Promise<void> {
  const thread = await findSession(orgId, session, trx);
  if (!thread) return;
  await ChatThread.patch(trx, { id: thread.id }, { deliveryId });
  if (runId) await reportIn(trx, thread.id, runId);
  // A repeated event about the same mission adds no message.
  const isRepeated = activity === undefined && (runId || (await newestRunInThread(thread.id, trx)));
  const isPostponed = status === 'received';
  const body = isPostponed ? `Not started yet: ${reason}` : status === 'waiting' ? `${reason} ${approval}` : reason;
  const message = isRepeated ? null : activity === undefined ? { type: 'error' as const, body } : activity;
  const cause = `${deliveryId} ${isPostponed ? 'later' : reason}`.slice(0, 500);
  if (message) await queuePost(trx, { threadId: thread.id, cause, message });
  await enqueue(trx, 'chat thread', { threadId: thread.id });
}

const stopped = 'stopped ';

/** Records a stop, so that earlier requests in the session start no mission. */
export const recordStop = (
  trx: Transaction,
  threadId: ChatThread['id'],
  deliveryId: string,
  message: SessionActivity,
): Promise<void> => queuePost(trx, { threadId, cause: stopped + deliveryId, message });

/** Locks the session of the event, and returns whether a person stopped the session after the event had arrived. The event then starts nothing. */
export async function isStopped(
  trx: Transaction,
  { orgId, receivedAt }: InboundDelivery,
  { id }: SessionEvent,
): Promise<boolean> {
  const thread = await ChatThread.lock(trx, { orgId, threadId: id });
  return thread !== undefined && ((await countPosts(thread.id, stopped, trx)).last ?? 0) >= receivedAt;
}

/** Writes the outcome of an event that starts no mission. Returns false when another process has already written it. */
export async function writeOutcome(
  trx: Transaction,
  delivery: Delivery,
  { title, session }: { title?: string | undefined; session?: SessionEvent | undefined },
  outcome: SessionOutcome,
): Promise<boolean> {
  const { id } = delivery;
  const { status, reason } = outcome;
  if ((await InboundDelivery.lock(trx, { id }))?.status !== 'received') return false;
  await InboundDelivery.patch(trx, { id }, { status, reason, title: title ?? null, processedAt: now() });
  if (session) await queueSessionOutcome(trx, delivery, session, outcome);
  return true;
}

export const settleSessionEvent = (
  delivery: Delivery,
  event: Pick<InboundEvent, 'session'> & { title?: string | undefined },
  outcome: SessionOutcome,
): Promise<void> =>
  transaction(async (trx) => {
    await writeOutcome(trx, delivery, event, outcome);
  });

/** Queues a message that says why an event waits. The message goes to the agent session of the event, and is sent only once. */
export async function queuePostponement({ id, orgId }: Delivery, { session }: InboundEvent): Promise<void> {
  if (!session) return;
  const { status, reason } = await InboundDelivery.get({ id, orgId });
  await transaction((trx) => queueSessionOutcome(trx, { id, orgId }, session, { status, reason: reason ?? '' }));
}
