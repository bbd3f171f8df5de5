// Messages and decisions of people about a running run, stored in its history. The run is locked, so that a message is either accepted
// before the last step ends, and then delivered, or refused.
import type { Caller } from '#access/principal.ts';
import { ownPerson, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { Person } from '../../organization/people/model.ts';
import { findElicitation } from '../sandboxes/elicitations.ts';
import { mission } from './bounds.ts';
import { lockRun } from './lock.ts';
import type { MessageKind, RunMessage } from './message-model.ts';
import { appendMessage, countMessages, findAnswers, findByKey, hasApproval } from './messages.ts';
import { Run } from './model.ts';
import { isOpen, isWaiting } from './states.ts';
import { latestStepOf } from './steps.ts';

/** Locks a run that the caller can reach. @throws 404 */
export const lockRunInReach = async (trx: Transaction, caller: Caller, runId: string): Promise<Run> =>
  (await lockRun(trx, { id: runId, ...withinReach(caller) })) ?? Run.refuse();

/** Checks that the run is open. @throws 409 for a run that has ended */
export function refuseEnded(run: Run): void {
  if (!isOpen(run)) throw conflict(`The run has ended (${run.status}): it can no longer be steered.`);
}

/** Reason why an open run accepts no messages; null when its current agent or a later one accepts them. */
async function whyDeaf(trx: Transaction, run: Run): Promise<string | null> {
  const step = await latestStepOf(trx, run.id);
  if (step?.harness === 'shell') return 'The shell harness accepts no messages and cannot be interrupted.';
  return step?.outcome === 'done' ? 'The agents of the run have finished their work: the run is about to end.' : null;
}

/** Checks that the current or a later agent of the run accepts messages. @throws 409 */
async function refuseDeaf(trx: Transaction, run: Run): Promise<void> {
  refuseEnded(run);
  const why = await whyDeaf(trx, run);
  if (why) throw conflict(why);
}

export async function authorOf(caller: Caller): Promise<Pick<RunMessage, 'authorUserId' | 'author'>> {
  const authorUserId = ownPerson(caller);
  const { name } = await Person.get({ id: authorUserId });
  return { authorUserId, author: name };
}

const decided = async (trx: Transaction, caller: Caller, run: Run, kind: MessageKind): Promise<void> => {
  await appendMessage(trx, run, { kind, text: '', ...(await authorOf(caller)) });
};

/**
 * Writes a message to the agent of a run. The transaction must have locked the run.
 * @throws 409 when no agent of the run accepts messages, or when the run has the maximum number of messages
 */
export async function writeMessageToAgent(
  trx: Transaction,
  caller: Caller,
  run: Run,
  message: Pick<RunMessage, 'kind' | 'text'> & Partial<RunMessage>,
): Promise<RunMessage> {
  await refuseDeaf(trx, run);
  // Messages that answer a question are not limited here, because each answer ends a question and the number of questions is bounded.
  if (message.kind === 'message' && (await countMessages(trx, run.id)) >= mission.messages) {
    throw conflict(`The run has ${mission.messages} messages, which is the maximum.`);
  }
  const written = await appendMessage(trx, run, { ...message, ...(await authorOf(caller)) });
  await announce(trx, run.id);
  return written;
}

export interface NewRunMessage {
  runId: string;
  text: string;
  /** Id that the sender has chosen: a repeated message is stored once. */
  messageId?: string | null | undefined;
}

/** Writes a message to the agent of the run. The messages are delivered during a step, in order, and each once. @throws 404, 409 */
export const sendMessage = (caller: Caller, { runId, text, messageId: key }: NewRunMessage): Promise<RunMessage> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    const before = key ? await findByKey(trx, run.id, key) : undefined;
    return before ?? writeMessageToAgent(trx, caller, run, { kind: 'message', text, key: key ?? null });
  });

/** A message that a person has written in another system; `authorUserId` is set if the person is known. */
export type ForwardedMessage = Pick<RunMessage, 'text' | 'author'> &
  Partial<Pick<RunMessage, 'authorUserId'>> & { key: string };

/**
 * Writes messages from other systems to the run. A message whose key was already used is not written again. The messages are dropped when the run
 * accepts no messages, or has the maximum number of messages.
 */
export const forwardMessages = (runId: string, messages: readonly ForwardedMessage[]): Promise<void> =>
  transaction(async (trx) => {
    const run = await lockRun(trx, { id: runId });
    if (run) await forwardTo(trx, run, messages);
  });

/** Writes messages to the locked run. Returns false when the run accepts no messages, because it has ended or is about to end. */
export async function forwardTo(trx: Transaction, run: Run, messages: readonly ForwardedMessage[]): Promise<boolean> {
  if (!isOpen(run) || (await whyDeaf(trx, run))) return false;
  for (const message of messages) {
    if (await findByKey(trx, run.id, message.key)) continue;
    if ((await countMessages(trx, run.id)) >= mission.messages) break;
    await appendMessage(trx, run, { kind: 'message', authorUserId: null, ...message });
    await announce(trx, run.id);
  }
  return true;
}

export interface ElicitationAnswer {
  runId: string;
  /** Text of the answer, or the reason for the decision. */
  text: string;
  /** Whether the tool may be called; only for a question about a call. */
  approve?: boolean | null | undefined;
  /** Number of the fragment with the question; absent means the only waiting question of the run. */
  sandboxId?: string | null | undefined;
  seq?: number | null | undefined;
  /** Id that the sender chose for the answer. A repeated answer has the same id and changes nothing, even if another call waits by then. */
  messageId?: string | null | undefined;
}

/** Answers a question of the agent, or decides about a tool call, once. @throws 400, 404, 409 */
export const answerElicitation = (
  caller: Caller,
  { runId, text, approve, messageId: key, ...asked }: ElicitationAnswer,
): Promise<RunMessage> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    const repeated = key ? await findByKey(trx, run.id, key) : undefined;
    if (repeated) return repeated;
    refuseEnded(run);
    const answers = await findAnswers(trx, run.id);
    const question = await findElicitation(trx, run.id, asked, answers);
    if (!question) throw conflict('The agent has not asked this question.');
    const { sandboxId, seq: fragmentSeq, tool, isOver, openCount } = question;
    if (openCount > 1)
      throw conflict.field('seq', 'is required, because several questions wait: name one by sandboxId and seq');
    const approved = approve ?? null;
    if (tool === null && text === '') throw invalid.field('text', 'must not be empty for the answer to a question');
    if ((tool !== null) !== (approved !== null))
      throw invalid.field(
        'approve',
        tool === null ? 'is only for a question about a tool call' : 'is required for a question about a tool call',
      );
    const before = answers.find((one) => one.sandboxId === sandboxId && one.fragmentSeq === fragmentSeq);
    if (before && (before.text !== text || before.approved !== approved))
      throw conflict('The question has already been answered.');
    if (before) return before;
    if (isOver && tool !== null) throw conflict('The agent is no longer waiting for the decision.');
    return writeMessageToAgent(trx, caller, run, {
      kind: 'answer',
      text,
      approved,
      sandboxId,
      fragmentSeq,
      key: key ?? null,
    });
  });

/** Changes the run, records the decision in its history, and returns the changed run. */
const steer = (
  caller: Caller,
  runId: string,
  change: (trx: Transaction, run: Run) => Promise<Partial<Run> | null>,
  kind: MessageKind,
): Promise<Run> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    const changes = await change(trx, run);
    if (changes) {
      await Run.patch(trx, { id: run.id }, { ...changes, updatedAt: now() });
      await decided(trx, caller, run, kind);
      await announce(trx, run.id);
    }
    return (await Run.find({ id: run.id }, trx))!;
  });

/** Approves the plan, so that the agents follow it. Repeated approval changes nothing. @throws 404, 409 for a run without a waiting plan */
export const approvePlan = (caller: Caller, runId: string): Promise<Run> =>
  steer(
    caller,
    runId,
    async (trx, run) => {
      refuseEnded(run);
      if (run.awaitsApproval)
        return { awaitsApproval: false, waitingSince: now(), reason: null, missionActivity: null };
      if (await hasApproval(trx, run.id)) return null;
      throw conflict('The run has no plan that is awaiting approval.');
    },
    'approval',
  );

/** Interrupts the agent during its work; an agent that has not begun does not begin. @throws 404, 409 */
export const interruptRun = (caller: Caller, runId: string): Promise<Run> =>
  steer(
    caller,
    runId,
    async (trx, run) => {
      await refuseDeaf(trx, run);
      return run.interruptedAt === null ? { interruptedAt: now() } : null;
    },
    'interrupt',
  );

/** Lets an interrupted agent continue. @throws 404, 409 */
export const resumeRun = (caller: Caller, runId: string): Promise<Run> =>
  steer(
    caller,
    runId,
    async (_, run) => {
      refuseEnded(run);
      const waits = isWaiting(run) && { waitingSince: now() };
      return run.interruptedAt === null ? null : { interruptedAt: null, ...waits };
    },
    'resume',
  );
