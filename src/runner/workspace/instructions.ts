// The instructions of an agent, and the origin of each part: the agent's settings, a file of the repository, the platform, and the
// mission.
import type { Step } from '../contract.ts';
import type { AgentHarness } from '../harness/port.ts';
import { git } from './git.ts';

/** Instructions for agents, at the top of a repository (agents.md). */
const fileName = 'AGENTS.md';
const maxCharacters = 32_000;

export interface PromptPart {
  /**
   * Where this part comes from: the agent's own instructions (`agent`), the file `AGENTS.md`, the list of skills with the purpose of each
   * (`skills`), the summary of the run so far (`history`), or the `mission`.
   */
  spanId: string;
  text: string;
  promptScope: 'mission' | 'repo-contributed';
}

/** The text of AGENTS.md at the beginning of the mission: an agent's changes to it apply to later missions. Null without the file. */
export const readInstructions = (repository: string, commit: string): Promise<string | null> =>
  git(repository, ['cat-file', 'blob', `${commit}:${fileName}`]).then(
    (text) => text.slice(0, maxCharacters).toWellFormed().trim() || null,
    () => null,
  );

/** The system prompt: the agent's own instructions, AGENTS.md for harnesses that do not read it themselves, and the skills. */
export function systemPrompt(
  harness: AgentHarness,
  agentInstructions: string | null,
  file: string | null,
  skills: string | null,
): string | null {
  const repositoryText =
    harness === 'claude-code' && file ? `Instructions of the repository (${fileName}):\n\n${file}` : null;
  return [agentInstructions, repositoryText, skills].filter(Boolean).join('\n\n') || null;
}

/** The parts of the user's turn. A resumed session already contains the history. */
export function turnParts({ prompt, resumePrompt, preamble }: Step, isResumed: boolean): PromptPart[] {
  const mission = {
    spanId: 'mission',
    text: isResumed ? (resumePrompt ?? prompt) : prompt,
    promptScope: 'mission',
  } as const;
  if (isResumed || !preamble) return [mission];
  return [{ spanId: 'history', text: preamble, promptScope: 'mission' }, mission];
}

/** The parts of the system prompt, for every harness. */
export const systemParts = (
  agentInstructions: string | null,
  file: string | null,
  skills: string | null,
): PromptPart[] => [
  ...(agentInstructions ? [{ spanId: 'agent', text: agentInstructions, promptScope: 'mission' } as const] : []),
  ...(file ? [{ spanId: fileName, text: file, promptScope: 'repo-contributed' } as const] : []),
  ...(skills ? [{ spanId: 'skills', text: skills, promptScope: 'repo-contributed' } as const] : []),
];
