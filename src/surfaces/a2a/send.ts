// Messages that start tasks, messages to the agent of an unfinished task, and requests for a run's state.
import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task } from '@a2a-js/sdk';
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { listProjects } from '#domain/projects/projects/operations.ts';
import { type Order, receiveMessage, runsOfContext } from '#domain/work/a2a/messages.ts';
import { readTask, textMessage } from '#domain/work/a2a/tasks.ts';
import { stepText } from '#domain/work/runs/bounds.ts';
import { wasSent } from '#domain/work/runs/messages.ts';
import { findRun } from '#domain/work/runs/operations.ts';
import { isOpen } from '#domain/work/runs/states.ts';
import { answerElicitation, approvePlan, sendMessage } from '#domain/work/runs/steering.ts';
import { invalid, Problem } from '#foundation/problem.ts';
import { unsupported } from './errors.ts';
import { type A2aOrder, checkShape, readMessage } from './order.ts';

export type Answer = { runId: string } | { message: Message };

/**
 * Starts a task for a message, or delivers the message to the agent of the task that the message names; in both cases only once per message
 * id. If the message asks for the state of a run, returns the state. @throws problems and errors of the protocol
 */
export async function receive(caller: Caller, message: Message | undefined): Promise<Answer> {
  const asked = readMessage(message);
  if (asked.runId) return { message: await stateOf(caller, asked.runId, asked) };
  if (asked.taskId && (await steer(caller, asked.taskId, asked))) return { runId: asked.taskId };
  const before = await previousTask(caller, asked);
  const contextId = before?.contextId ?? asked.contextId ?? randomUUID();
  const order = await orderOf(caller, asked, before?.metadata?.projectId ?? (await projectOfContext(caller, asked)));
  const { messageId, text } = asked;
  return { runId: await receiveMessage(caller, { messageId, contextId, text, order }) };
}

/** Delivers the message to the agent of the task. Returns false for a finished task. */
async function steer(caller: Caller, runId: string, asked: A2aOrder): Promise<boolean> {
  const run = await findRun(caller, runId);
  const { messageId, text: words, approvePlan: approves, approveToolCall: approve, sandboxId, seq } = asked;
  const text = words.trim() === '' ? null : checkShape(messageText, words, 'message.parts');
  if (!isOpen(run) && !(await wasSent(run.id, messageId))) return false;
  await refuseContext(caller, runId, asked);
  if (text === null && !approves && approve === undefined && seq === undefined)
    throw invalid.field('message.parts', 'must have a text for the agent');
  try {
    if (approve !== undefined || seq !== undefined)
      await answerElicitation(caller, { runId, text: text ?? '', approve, sandboxId, seq, messageId });
    else if (text !== null) await sendMessage(caller, { runId, text, messageId });
    if (approves) await approvePlan(caller, runId);
  } catch (error) {
    throw error instanceof Problem && error.status === 409 ? unsupported(error.body.description) : error;
  }
  return true;
}

const messageText = z.string().max(stepText.message.max);

async function refuseContext(caller: Caller, runId: string, { contextId }: A2aOrder): Promise<Task> {
  const task = await readTask(caller, runId, { artifacts: false });
  if (contextId && contextId !== task.contextId)
    throw invalid.field('message.contextId', 'is not the context of the task');
  return task;
}

/** The finished task that the message names, with its context checked; undefined when the message names none. */
const previousTask = async (caller: Caller, asked: A2aOrder): Promise<Task | undefined> =>
  asked.taskId ? refuseContext(caller, asked.taskId, asked) : undefined;

async function projectOfContext(caller: Caller, { contextId }: A2aOrder): Promise<string | undefined> {
  if (!contextId) return undefined;
  const { data } = await runsOfContext(caller, contextId, { limit: 1 });
  // A run that the caller cannot reach is treated like an unknown one.
  if (!data[0]) return undefined;
  return findRun(caller, data[0]).then(
    ({ projectId }) => projectId,
    () => undefined,
  );
}

async function orderOf(caller: Caller, asked: A2aOrder, earlier: string | undefined): Promise<Order> {
  const { scheduledTaskId, agentId, issue, text: prompt } = asked;
  if (scheduledTaskId) return { scheduledTaskId };
  if (prompt.trim() === '') throw invalid.field('message.parts', 'must have a text, which is the task of the mission');
  const projectId = asked.projectId ?? earlier ?? caller.projectId ?? (await onlyProject(caller));
  return { projectId, prompt, ...(agentId && { agentId }), ...(issue && { issue }) };
}

async function onlyProject(caller: Caller): Promise<string> {
  ownOrganization(caller);
  const { data } = await listProjects(caller, { limit: 2 });
  if (data.length === 1) return data[0]!.id;
  throw invalid.field(
    'message.metadata.projectId',
    'is required, because the credential reaches several projects or none',
  );
}

async function stateOf(caller: Caller, runId: string, { contextId }: A2aOrder): Promise<Message> {
  const run = await findRun(caller, runId);
  const task = await readTask(caller, runId, { artifacts: false });
  const { status, missionProgress, reason, missionActivity } = run;
  const words = [status, missionProgress === null ? null : `${missionProgress} %`, reason ?? missionActivity];
  const of = { messageId: randomUUID(), contextId: contextId ?? task.contextId, taskId: '', role: Role.ROLE_AGENT };
  const answer = textMessage(of, words.filter((word) => word !== null).join(', '));
  return { ...answer, referenceTaskIds: [runId], metadata: { ...task.metadata, status, runId } };
}
