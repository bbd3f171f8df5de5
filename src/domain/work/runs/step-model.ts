// A step of a run: the work of one agent in one role, from its prompt to its validated output. A run has one step at a time.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { AgentRole, HarnessId } from '../../projects/agents/model.ts';
import { Run, type RunAgent } from './model.ts';

export const stepStatuses = ['waiting', 'running', 'completed', 'failed', 'canceled'] as const;
export type StepStatus = (typeof stepStatuses)[number];
export const openStepStatuses: readonly StepStatus[] = ['waiting', 'running'];

/** Response to a runtime that has finished a step. */
export const stepOutcomes = ['next', 'waiting', 'handed_back', 'done'] as const;
export type StepOutcome = (typeof stepOutcomes)[number];

/** Tokens of model calls; cached tokens are not part of the input. */
export interface Tokens {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

export class RunStep extends table('run_steps', {
  id: column<Id<'runStep'>>(),
  runId: column<Run['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Position of the step in the run, counted from 0. */
  seq: column<number>(),
  role: column<AgentRole>(),
  /** Number of the round in which the agents build and check the change, counted from 1; 0 for the planner. */
  round: column<number>(),
  status: column<StepStatus>(),
  /** The agent as it was when the run was first claimed. */
  agent: column<RunAgent>(),
  harness: column<HarnessId>(),
  model: column<string>(),
  sessionId: column<string | null>(),
  sandboxId: column<Id<'sandbox'> | null>(),
  /** The structured output as JSON; null without one. */
  output: column<string | null>(),
  error: column<string | null>(),
  turns: column<number | null>(),
  costUsd: column<number>(),
  inputTokens: column<number>(),
  cachedInputTokens: column<number>(),
  cacheWriteTokens: column<number>(),
  outputTokens: column<number>(),
  createdAt: column<number>(),
  startedAt: column<number | null>(),
  finishedAt: column<number | null>(),
}) {
  static override noun = 'step';
  static override order = '"seq"';
  static override jsonAttributes = ['agent'];
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'steps');
  }

  declare prompt: string;
  /** Whether the output of the step is structured. */
  declare hasSchema: boolean;
  /** Whether the step repeats an earlier one after an invalid output. */
  declare isRepeated: boolean;
  /** The session of the harness that the step continues; null means a new one. */
  declare resumeSessionId: string | null;
  /** The outcome of the step; null until it is finished. */
  declare outcome: StepOutcome | null;
  /** The lease of the runtime that works on the step. */
  declare leaseId: Id<'lease'> | null;
}
