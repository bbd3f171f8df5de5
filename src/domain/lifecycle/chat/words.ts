// The messages about a mission in its thread.

import { readHandover } from '../../execution/mission-steps/handovers.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import type { ChatButton, ChatMessage } from '../../projects/vendors/chat.ts';
import { stateLines } from '../../work/runs/finish-text.ts';
import { RunMessage } from '../../work/runs/message-model.ts';
import type { Run } from '../../work/runs/model.ts';
import { openQuestions } from '../../work/runs/needs.ts';
import type { RunWait } from '../../work/runs/news.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { writeDecision } from './decisions.ts';

const linkTo = async ({ id, orgId }: Run): Promise<ChatMessage['link']> => ({
  label: 'Open the mission',
  url: await consolePage(orgId, `/runs/${id}`),
});

/** The first message of the thread, which shows the current state. */
export async function stateMessage(run: Run): Promise<ChatMessage> {
  const [title = '', ...more] = await stateLines(run, run.missionTitle);
  return { title, detail: more.join('\n') || null, link: await linkTo(run), buttons: [] };
}

const ends: Partial<Record<Run['status'], string>> = {
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
};

export async function endMessage(run: Run): Promise<ChatMessage> {
  const { detail, link } = await stateMessage(run);
  const isReview = run.status === 'completed' && run.prState === 'open';
  return { title: isReview ? 'Ready for review' : ends[run.status]!, detail, link, buttons: [] };
}

/** The message about the action that a mission waits for; null when the mission no longer waits. */
export async function waitMessage(run: Run, { cause, kind, detail }: RunWait): Promise<ChatMessage | null> {
  const link = await linkTo(run);
  if (kind === 'budget') return { title: 'The mission has reached a limit', detail, link, buttons: [] };
  if (cause.startsWith('approval:')) {
    const buttons = decisions('Approve plan', 'Reject', (approves) => ({
      kind: 'plan',
      runId: run.id,
      cause,
      approves,
    }));
    return { title: 'The plan waits for approval', detail: await planOf(run), link, buttons };
  }
  const [question] = (await openQuestions([run.id])).filter(
    ({ sandboxId, seq }) => cause === `question:${sandboxId}:${seq}`,
  );
  if (!question) return null;
  const { sandboxId, seq, text, tool, choices } = question;
  const about = { runId: run.id, sandboxId, seq };
  if (tool !== null) {
    const buttons = decisions('Allow', 'Deny', (approves) => ({ kind: 'tool', ...about, approves }));
    const call = [text, question.arguments].filter(Boolean).join('\n');
    return { title: `The agent asks whether it may call ${tool}`, detail: call || null, link, buttons };
  }
  const buttons = (choices ?? []).map((label, choice) => ({
    label,
    value: writeDecision({ kind: 'answer', ...about, choice }),
  }));
  const how = choices?.length ? 'Choose an answer, or write one in this thread' : 'Answer in this thread';
  return { title: `The agent asks a question. ${how}.`, detail: text, link, buttons };
}

const decisions = (
  yes: string,
  no: string,
  of: (approves: boolean) => Parameters<typeof writeDecision>[0],
): ChatButton[] => [
  { label: yes, value: writeDecision(of(true)), style: 'primary' },
  { label: no, value: writeDecision(of(false)), style: 'danger' },
];

/** The steps of the newest plan, numbered; null without one. */
const planOf = async (run: Run): Promise<string | null> =>
  (await stepsOfPlan(run))?.map((one, i) => `${i + 1}. ${one}`).join('\n') ?? null;

export async function stepsOfPlan({ id }: Run): Promise<string[] | null> {
  const steps = await RunStep.findAll({ runId: id });
  const step = steps.findLast(({ role, output }) => role === 'planner' && output !== null);
  if (!step) return null;
  try {
    const handover = readHandover('planner', step.output);
    return handover.role === 'planner' ? handover.plan.steps : null;
  } catch {
    return null;
  }
}

/** The message after the wait has ended: who decided, and how. */
export async function settledMessage(run: Run, cause: string, message: ChatMessage): Promise<ChatMessage> {
  return { ...message, title: `${message.title} — ${await decisionText(run, cause)}`, buttons: [] };
}

/** Text about the decision that has ended a wait. */
export async function decisionText({ id, status }: Run, cause: string): Promise<string> {
  const messages = await RunMessage.findAll({ runId: id });
  const [kind, sandboxId, seq] = cause.split(':');
  if (kind === 'approval') {
    const approval = messages.findLast((one) => one.kind === 'approval');
    if (approval) return `approved by ${approval.author}`;
    return status === 'canceled' ? 'rejected' : 'no longer waits';
  }
  const answer = messages.find(
    (one) => one.kind === 'answer' && one.sandboxId === sandboxId && one.fragmentSeq === Number(seq),
  );
  if (!answer) return 'no longer waits';
  const decision = answer.approved === null ? answer.text : answer.approved ? 'allowed' : 'denied';
  return answer.approved === null ? `${answer.author}: ${decision}` : `${decision} by ${answer.author}`;
}
