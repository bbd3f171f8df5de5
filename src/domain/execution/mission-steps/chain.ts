// Decides the next agent in a mission of several roles, from validated output: planner → builder → reviewer → builder … → qa → done, with
// at most `mission.rounds` rounds of building.
import type { AgentRole } from '../../projects/agents/model.ts';
import { mission } from '../../work/runs/bounds.ts';
import type { RunAgent } from '../../work/runs/model.ts';
import type { Handover } from './handovers.ts';
import * as prompts from './prompts.ts';

export interface Finished {
  role: AgentRole;
  round: number;
  /** The validated output of the step; null for a role without structured output. */
  handover: Handover | null;
}

export interface Next {
  agent: RunAgent;
  round: number;
  prompt: string;
  /** Whether the step continues the last session of its agent. */
  continues: boolean;
}
export type Decision = { next: Next } | { failure: string } | 'done';

const agentOf = (team: readonly RunAgent[], role: AgentRole): RunAgent | undefined =>
  team.find((agent) => agent.role === role);

/** Decides the first step of a mission. */
export function openingStep(team: readonly RunAgent[], task: prompts.Task): Next {
  const agent = team[0]!;
  const plans = team.length > 1 && agent.role === 'planner';
  return { agent, round: plans ? 0 : 1, prompt: plans ? prompts.planPrompt(task) : task.prompt, continues: false };
}

/** Whether an agent of the role must return structured output. An agent that works alone never does. */
export const isStructured = (team: readonly RunAgent[], role: AgentRole): boolean =>
  team.length > 1 && role !== 'builder';

export function decide(team: readonly RunAgent[], { role, round, handover }: Finished, task: prompts.Task): Decision {
  const builder = agentOf(team, 'builder') ?? team[0]!;
  const repeat = (prompt: string, failure: string): Decision =>
    round >= mission.rounds ? { failure } : { next: { agent: builder, round: round + 1, prompt, continues: true } };
  const begin = (agent: RunAgent | undefined, ask: (task: prompts.Task) => string): Decision | undefined =>
    agent && { next: { agent, round, prompt: ask(task), continues: false } };
  if (team.length === 1) return 'done';
  if (handover?.role === 'planner') {
    return { next: { agent: builder, round: 1, prompt: prompts.buildPrompt(task), continues: false } };
  }
  if (handover?.role === 'reviewer' && handover.review.verdict === 'request_changes') {
    return repeat(prompts.reviewedPrompt(handover.review), `The review requested changes ${round} times.`);
  }
  if (handover?.role === 'qa') {
    return handover.test.passed
      ? 'done'
      : repeat(prompts.testedPrompt(handover.test), `The change failed its test in ${round} rounds.`);
  }
  const review = role === 'builder' ? begin(agentOf(team, 'reviewer'), prompts.reviewPrompt) : undefined;
  return review ?? begin(agentOf(team, 'qa'), prompts.testPrompt) ?? 'done';
}
