// Shows the state of a mission in the agent session at the tracker from which it was started; if several missions belong to the session,
// the newest one. Each event of the mission, such as a finished step, becomes one activity. Activities are stored first and then sent in
// order; if an activity is sent again after a crash, the vendor refuses it. The plan and the links are replaced when they have changed.
import { waitsFor } from '../../projects/effects/policy.ts';
import { Integration } from '../../projects/integrations/model.ts';
import type { SessionActivity, SessionState } from '../../projects/vendors/agent-session.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { ChatPost, ChatThread } from '../../work/chat-threads/model.ts';
import { pendingPosts, queuePost, recordPost, reportLater, writePost } from '../../work/chat-threads/threads.ts';
import { noteAnswer } from '../../work/inbound/answer.ts';
import { newestRunInThread } from '../../work/runs/chat-runs.ts';
import { policyOfRun } from '../../work/runs/effect-policy.ts';
import { finishIssue } from '../../work/runs/finish-issue.ts';
import type { Run } from '../../work/runs/model.ts';
import { findWait } from '../../work/runs/news.ts';
import { isOpen } from '../../work/runs/states.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { reportAlone, reportInChat } from '../chat/report.ts';
import { waitMessage } from '../chat/words.ts';
import { showsStateAtOrigin } from '../mission-notices/origin.ts';
import { type OpenSessions, withSessions } from './connection.ts';
import { nextCall, planOfSession } from './progress.ts';
import {
  activityAfterWait,
  activityOfEnd,
  activityOfStart,
  activityOfStep,
  activityOfWait,
  addressOfRun,
} from './words.ts';

type Thread = ChatThread;

/** Reports the newest mission of a thread, in a chat or an agent session. @throws an error if another attempt may succeed */
export const reportThread = ({ threadId }: { threadId: string }): Promise<void> =>
  reportAlone(threadId as ChatThread['id'], async (thread) => {
    const connector = await Integration.find({ id: thread.integrationId });
    if (!connector) return;
    if (moduleOf(connector.vendor).chat) await reportInChat(thread);
    else await reportInSession(thread, connector);
  });

/** Reports a run in its issue tracker, without a comment if an agent session already shows the same facts. */
export const finishTrackerIssue = (job: { runId: string }): Promise<void> =>
  finishIssue(job, isShownInSession, showsStateAtOrigin);

async function isShownInSession({ chatThreadId: id }: Run): Promise<boolean> {
  const thread = id === null ? undefined : await ChatThread.find({ id });
  return thread !== undefined && (await Integration.find({ id: thread.integrationId }))?.vendorKind === 'tracker';
}

/**
 * Shows the newest mission in its agent session. If the vendor refuses, the reason is recorded on the newest delivery of the session, until
 * a later report succeeds.
 */
async function reportInSession(thread: Thread, connector: Integration): Promise<void> {
  const { deliveryId } = thread;
  try {
    await withSessions(connector, (open) => report(open, thread));
    if (deliveryId) await noteAnswer(deliveryId, 'activity', null);
  } catch (error) {
    if (deliveryId) await noteAnswer(deliveryId, 'activity', error);
    throw error;
  }
}

async function report(open: OpenSessions, thread: Thread): Promise<void> {
  // Stored activities are sent before the mission is read, so that the person gets a first reaction quickly.
  await sendPending(open, thread);
  const run = await newestRunInThread(thread.id);
  if (!run) return;
  const links = [{ label: 'Mission', url: await addressOfRun(run) }];
  if (run.prUrl) links.push({ label: 'Pull request', url: run.prUrl });
  await show(open, thread, 'links', { links });
  if (isOpen(run) && !(await ChatPost.find({ threadId: thread.id, cause: `${run.id} start` })))
    await begin(open, thread, run);
  const nextAt = await noteNews(thread, run);
  const plan = await planOfSession(run);
  if (plan) await show(open, thread, 'plan', { plan });
  await sendPending(open, thread);
  if (nextAt !== null) await reportLater(thread.id, nextAt);
}

/** Shows on the issue that the agent is working on it. If the vendor refuses, the session explains why, and the mission continues. */
async function begin({ sessions, connection }: OpenSessions, { id: threadId, channelId }: Thread, run: Run) {
  if (run.issueId === null) return;
  try {
    // If a policy requires an approval before the issue's state changes, the state is left as it is. No approval is requested, because the
    // session already shows that the agent is working.
    if (waitsFor(await policyOfRun(run), 'tracker')) return;
    await sessions.begin(connection, channelId, run.issueId);
  } catch (error) {
    if (!isFinal(error)) throw error;
    const body = `The issue does not show that the agent is working on it: ${error.body.description}`;
    await queuePost(undefined, { threadId, cause: `${run.id} begin`, message: { type: 'thought', body } });
  }
}

/** Stores the activities that the session does not have yet. Returns the time when the next tool call may be displayed; null means never. */
async function noteNews({ id: threadId }: Thread, run: Run): Promise<number | null> {
  const note = (cause: string, message: SessionActivity) =>
    queuePost(undefined, { threadId, cause: `${run.id} ${cause}`, message });
  await note('start', await activityOfStart(run));
  for (const step of await RunStep.findAll({ runId: run.id })) {
    if (step.status === 'completed' || step.status === 'failed') await note(`step ${step.seq}`, activityOfStep(step));
  }
  if (!isOpen(run)) {
    await note('end', await activityOfEnd(run));
    return null;
  }
  const wait = await findWait(run.id);
  await noteEndedWaits(threadId, run, wait?.cause ?? null);
  const asked = wait && (await waitMessage(run, wait));
  if (asked) await note(wait.cause, activityOfWait(wait, asked));
  if (wait || run.status !== 'running') return null;
  const { call, nextAt } = await nextCall(run, threadId);
  if (call) await queuePost(undefined, { threadId, cause: call.cause, message: call.activity });
  return nextAt;
}

const waits = /^(?:approval|question|budget):\S+$/;

async function noteEndedWaits(threadId: Thread['id'], run: Run, present: string | null): Promise<void> {
  for (const { cause } of await ChatPost.findAll({ threadId })) {
    const wait = cause.startsWith(run.id) ? cause.slice(run.id.length + 1) : '';
    if (wait === present || !waits.test(wait)) continue;
    await queuePost(undefined, { threadId, cause: `${cause} over`, message: await activityAfterWait(run, wait) });
  }
}

async function sendPending({ sessions, connection }: OpenSessions, { id, threadId }: Thread): Promise<void> {
  for (const { cause, message } of await pendingPosts(id)) {
    if (!('type' in message)) continue;
    await sessions.send(connection, threadId!, `${id} ${cause}`, message as SessionActivity);
    await recordPost({ threadId: id, cause, message }, 'sent');
  }
}

/** Replaces the plan or the links of the session, if they have changed since the last report. */
async function show(
  { sessions, connection }: OpenSessions,
  { id, threadId }: Thread,
  cause: 'plan' | 'links',
  state: SessionState,
): Promise<void> {
  const message = { shown: JSON.stringify(state) };
  const before = await ChatPost.find({ threadId: id, cause });
  if (before?.messageId && (before.message as typeof message).shown === message.shown) return;
  await sessions.update(connection, threadId!, state);
  if (!before) await writePost({ threadId: id, cause, message });
  await recordPost({ threadId: id, cause, message }, 'sent');
}
