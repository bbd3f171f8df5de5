// Texts of the activities that an agent session shows about its mission.

import { consolePage } from '../../organization/organizations/pages.ts';
import type { SessionActivity } from '../../projects/vendors/agent-session.ts';
import type { ChatMessage } from '../../projects/vendors/chat.ts';
import { stateLines } from '../../work/runs/finish-text.ts';
import type { Run } from '../../work/runs/model.ts';
import type { RunWait } from '../../work/runs/news.ts';
import type { RunStep } from '../../work/runs/step-model.ts';
import { decisionText } from '../chat/words.ts';
import { lastWords } from './progress.ts';

export const addressOfRun = ({ id, orgId }: Run): Promise<string> => consolePage(orgId, `/runs/${id}`);

const paragraphs = (...parts: (string | null)[]): string => parts.filter(Boolean).join('\n\n');

export async function activityOfStart(run: Run): Promise<SessionActivity> {
  return {
    type: 'thought',
    body: paragraphs(`Mission started: ${run.missionTitle ?? 'Mission'}`, await addressOfRun(run)),
  };
}

const roleWords: Readonly<Partial<Record<RunStep['role'], string>>> = {
  planner: 'Planned',
  builder: 'Built',
  reviewer: 'Reviewed',
  qa: 'Tested',
};

export const activityOfStep = ({ role, agent, status, error }: RunStep): SessionActivity => ({
  type: 'action',
  action: roleWords[role] ?? 'Worked',
  parameter: agent.name,
  result: status === 'completed' ? 'Done.' : `Failed: ${error ?? 'no reason was given'}`,
});

/** A question with its choices, or the reason why the mission waits for money. */
export function activityOfWait({ kind }: RunWait, { title, detail, link, buttons }: ChatMessage): SessionActivity {
  if (kind === 'budget') return { type: 'error', body: paragraphs(`${title}.`, detail, link?.url ?? null) };
  const choices = buttons.map(({ label }) => label);
  const how = choices.length > 0 ? `Answer with ${choices.map((one) => `“${one}”`).join(' or ')}.` : 'Answer here.';
  const asked = kind === 'answer' ? detail : paragraphs(`${title}.`, detail);
  return { type: 'elicitation', body: paragraphs(asked, kind === 'answer' ? null : how), choices };
}

const waitWords: Readonly<Record<string, string>> = {
  approval: 'The plan',
  question: 'The question',
  budget: 'The limit',
};

/** The activity that ends a wait; without it, the vendor would still show the question. */
export async function activityAfterWait(run: Run, cause: string): Promise<SessionActivity> {
  return { type: 'thought', body: `${waitWords[cause.split(':')[0]!]}: ${await decisionText(run, cause)}.` };
}

export async function activityOfEnd(run: Run): Promise<SessionActivity> {
  const [title = '', ...lines] = await stateLines(run, run.missionTitle);
  const said = run.status === 'completed' ? await lastWords(run) : null;
  const body = paragraphs(title, said, ...lines, await addressOfRun(run));
  return { type: run.status === 'failed' ? 'error' : 'response', body };
}
