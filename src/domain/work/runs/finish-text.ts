// The state of a run as text for people at the tracker and the source host, and in chat threads.
import { consolePage } from '../../organization/organizations/pages.ts';
import type { Run } from './model.ts';
import { openQuestions, parkedNeed } from './needs.ts';
import { isOpen } from './states.ts';

/** Text of the comment about a run at the tracker or the source host; without `isFull` it says only that the run has started. */
export async function commentOf(run: Run, title: string | null, isFull = true): Promise<string> {
  const lines = isFull ? await stateLines(run, title) : [startedLine(title)];
  return [...lines, await consolePage(run.orgId, `/runs/${run.id}`)].join('\n\n');
}

const startedLine = (title: string | null): string => `${title ?? 'Mission'}: started`;

/** The state of a run as text: its title with the status, then the question, or the outcome with its cost. */
export async function stateLines(run: Run, title: string | null): Promise<string[]> {
  const { status, missionCostUsd, missionCostIncomplete } = run;
  const name = title ?? 'Mission';
  if (isOpen(run)) return needOf(run, name);
  const why = status === 'failed' || status === 'canceled' ? (run.reason ?? run.lastError) : null;
  return [
    `${name}: ${status}${run.prState === 'merged' ? ', merged' : ''}`,
    ...(why ? [why] : []),
    ...(run.prUrl ? [run.prUrl] : []),
    `Cost: ${missionCostUsd.toFixed(2)} USD${missionCostIncomplete ? ' or more' : ''}`,
  ];
}

/** Maximum number of characters of a question in a comment. */
const maxQuestionCharacters = 1_000;

async function needOf(run: Run, name: string): Promise<string[]> {
  const { id, awaitsApproval, parkedReason } = run;
  if (awaitsApproval) return [`${name}: waits for approval of its plan`];
  if (parkedReason !== null)
    return [`${name}: ${parkedNeed(run) === 'limit' ? 'has reached a limit' : 'waits for money'}`, parkedReason];
  const [question] = await openQuestions([id]);
  if (!question) return [startedLine(name)];
  const quoted = question.text.slice(0, maxQuestionCharacters).toWellFormed().replaceAll(/^/gm, '> ');
  return [`${name}: waits for ${question.tool === null ? 'an answer' : 'a decision'}`, quoted];
}
