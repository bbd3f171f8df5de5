// The progress of a mission as its agent session shows it: the plan, and a selection of the tool calls.
import { minutes, now, seconds } from '#foundation/clock.ts';
import type { PlanStep, SessionActivity } from '../../projects/vendors/agent-session.ts';
import { countPosts } from '../../work/chat-threads/threads.ts';
import type { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import type { SandboxFragment } from '../../work/sandboxes/model.ts';
import { fragmentsUntil } from '../../work/sandboxes/until.ts';
import { stepsOfPlan } from '../chat/words.ts';

/**
 * Minimum time between displayed tool calls: `fastMs` for the first `fast` calls, `slowMs` for later ones. For each mission, at most
 * `limits` tool calls are displayed.
 */
const calls = { fast: 10, fastMs: seconds(30), slowMs: minutes(5), limits: 100 } as const;
const most = { steps: 30, content: 300, words: 2_000 } as const;

/** The newest fragment of this kind from the run's agents. */
const newestFragment = async (run: Run, kind: SandboxFragment['kind']): Promise<SandboxFragment | undefined> =>
  (await fragmentsUntil(run, Number.MAX_SAFE_INTEGER, 1, [kind]))[0];

/** Text of the agent's last message; null when there is none. */
export async function lastWords(run: Run): Promise<string | null> {
  const body = (await newestFragment(run, 'response'))?.body ?? '';
  return body.slice(0, most.words).toWellFormed() || null;
}

const statuses: Readonly<Record<string, PlanStep['status']>> = {
  pending: 'pending',
  in_progress: 'inProgress',
  completed: 'completed',
};

/** The agent's own to-do list, with the status of each entry. Without a list, the steps of the plan that the agent follows; null without either. */
export async function planOfSession(run: Run): Promise<PlanStep[] | null> {
  const kept = (await newestFragment(run, 'plan'))?.items;
  const items = kept ?? (await stepsOfPlan(run))?.map((content) => ({ content, status: 'pending' }));
  if (!items) return null;
  const end = isOpen(run) ? null : run.status === 'completed' ? 'completed' : 'canceled';
  return items.slice(0, most.steps).map(({ content, status }) => {
    const known = statuses[status] ?? 'canceled';
    const isUndone = known === 'pending' || known === 'inProgress';
    return { content: content.slice(0, most.content).toWellFormed(), status: (isUndone && end) || known };
  });
}

export interface ShownCall {
  cause: string;
  activity: SessionActivity;
}

/**
 * Finds the tool call to display now: the newest one. `call` is null while the pause since the last displayed call lasts, and if there is no
 * call. `nextAt` is the time at which the next call may be displayed; null if the run has displayed as many calls as allowed.
 */
export async function nextCall(run: Run, threadId: string): Promise<{ call: ShownCall | null; nextAt: number | null }> {
  const prefix = `${run.id} call `;
  const { count, last } = await countPosts(threadId, prefix);
  if (count >= calls.limits) return { call: null, nextAt: null };
  const pauseMs = count < calls.fast ? calls.fastMs : calls.slowMs;
  const dueAt = (last ?? 0) + pauseMs;
  if (now() < dueAt) return { call: null, nextAt: dueAt };
  const found = await newestFragment(run, 'action');
  const nextAt = now() + pauseMs;
  if (!found?.action) return { call: null, nextAt };
  const activity = { type: 'action' as const, action: found.action, parameter: found.parameter ?? '' };
  return { call: { cause: `${prefix}${found.sandboxId} ${found.seq}`, activity }, nextAt };
}
