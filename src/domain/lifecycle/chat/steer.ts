// Members' messages in the thread of a mission, and presses of its buttons.

import { withinReach } from '#access/reach.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, Problem } from '#foundation/problem.ts';
import { Checkpoint } from '../../execution/checkpoints/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { stepText } from '../../work/runs/bounds.ts';
import { chatThreadOf, newestRunInThread } from '../../work/runs/chat-runs.ts';
import { cancelRuns } from '../../work/runs/finish.ts';
import { Run } from '../../work/runs/model.ts';
import { openQuestions } from '../../work/runs/needs.ts';
import { findWait } from '../../work/runs/news.ts';
import { boundReached, historyOf, noteRemark } from '../../work/runs/remarks.ts';
import { isOpen } from '../../work/runs/states.ts';
import { answerElicitation, approvePlan, type NewRunMessage, sendMessage } from '../../work/runs/steering.ts';
import { readDecision } from './decisions.ts';
import type { ChatMember } from './people.ts';
import { type EventOutcome, type ReceivedChatEvent, settleChatEvent } from './settle.ts';

/** A message to the newest mission of the thread: it steers an open mission, and continues an ended one. */
export async function processThreadMessage(
  received: ReceivedChatEvent,
  threadId: ChatThread['id'],
  member: ChatMember,
): Promise<void> {
  const { event, integrationId } = received;
  const key = `${integrationId} ${event.channel} ${event.message}`;
  const said = await applyMessage(threadId, member, { key, text: event.text });
  await transaction(async (trx) => {
    if (await settleChatEvent(trx, received, said)) await said.remark?.(trx);
  });
}

export interface MessageOutcome extends EventOutcome {
  /** Stores the message as a remark, in the transaction that stores the outcome. The function is absent if no remark is to be stored. */
  remark?: (trx: Transaction) => Promise<void>;
}

const ignored = (reason: string): MessageOutcome => ({ status: 'ignored', reason, reply: reason });

/** Sends the message to the newest mission of the thread. @param key Identifies the message. */
export async function applyMessage(
  threadId: ChatThread['id'],
  member: ChatMember,
  { key, text: words }: { key: string; text: string },
): Promise<MessageOutcome> {
  const run = await newestRunInThread(threadId);
  if (!run) return ignored('The mission of this thread was deleted.');
  const text = words.slice(0, stepText.message.max).toWellFormed();
  if (!/\S/.test(text)) return ignored('The message has no text.');
  if (await isSent(member, { runId: run.id, text, messageId: key }))
    return { status: 'started', reason: `Sent to ${run.id}, the mission of the thread.` };
  const project = await Project.find({ id: run.projectId });
  const bound = project && boundReached(project, await historyOf(run), ' of this thread');
  if (bound) return ignored(`${bound} Mention the agent outside of this thread to start another mission.`);
  if (!(await Checkpoint.find({ runId: run.id })))
    return ignored('The mission has no checkpoint to continue from: start another one.');
  const remark = { key, author: member.name, text, actorUserId: member.caller.userId, deliveryId: null };
  return {
    status: 'started',
    reason: `Continues ${run.id}, the mission of the thread.`,
    reply: 'The mission continues with this message within a minute.',
    remark: (trx) => noteRemark(trx, run.id, remark),
  };
}

/** Sends the message to the run. Returns false when the run has ended. @throws the error of `sendMessage` when the run is still open */
async function isSent({ caller }: ChatMember, message: NewRunMessage): Promise<boolean> {
  try {
    await sendMessage(caller, message);
    return true;
  } catch (error) {
    const run = await Run.find({ id: message.runId as Run['id'] });
    if (error instanceof Problem && error.status === 409 && run && !isOpen(run)) return false;
    throw error;
  }
}

/** Applies the decision of a pressed button. @throws 409 for a button of another channel, or a decision that is no longer needed */
export async function applyButtonPress(received: ReceivedChatEvent, { caller }: ChatMember): Promise<void> {
  const { event, integrationId } = received;
  const decision = readDecision(event.text);
  const chatThreadId = decision && (await chatThreadOf(caller, decision.runId));
  const thread =
    chatThreadId &&
    (await ChatThread.find({ id: chatThreadId, integrationId: integrationId as never, channelId: event.channel }));
  if (!decision || !thread) throw conflict('The button does not belong to a mission of this channel.');
  const reason = await decideByButton(caller, decision.runId as Run['id'], decision);
  await transaction(async (trx) => {
    await settleChatEvent(trx, received, { status: 'started', reason });
    await enqueue(trx, 'chat thread', { threadId: thread.id });
  });
}

type Decision = NonNullable<ReturnType<typeof readDecision>>;

/** Applies the decision of a button, and returns its effect as text. @throws 409 when the decision is no longer needed */
export async function decideByButton(
  caller: ChatMember['caller'],
  runId: Run['id'],
  decision: Decision,
): Promise<string> {
  if (decision.kind === 'plan') {
    const wait = await findWait(runId);
    if (wait !== null && wait.cause !== decision.cause) throw conflict('The mission has a newer plan.');
    if (decision.approves) {
      await approvePlan(caller, runId);
      return `Approved the plan of ${runId}.`;
    }
    const where = { id: runId, ...withinReach(caller), awaitsApproval: true };
    const canceled = await transaction((trx) => cancelRuns(trx, where, 'The plan was rejected in the chat.'));
    if (canceled === 0) throw conflict('The plan is no longer awaiting approval.');
    return `Rejected the plan of ${runId} and canceled the mission.`;
  }
  const { sandboxId, seq } = decision;
  if (decision.kind === 'tool') {
    await answerElicitation(caller, { runId, sandboxId, seq, text: '', approve: decision.approves });
    return `Decided about a tool call in ${runId}.`;
  }
  const question = (await openQuestions([runId])).find((one) => one.sandboxId === sandboxId && one.seq === seq);
  const text = question?.choices?.[decision.choice];
  if (text === undefined) throw conflict('The question has already been answered.');
  await answerElicitation(caller, { runId, sandboxId, seq, text });
  return `Answered a question of ${runId}.`;
}
