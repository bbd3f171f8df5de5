// A step of a run: the work of one agent in one role, from its prompt to its validated output. A run has one step at a time.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { AgentRole, HarnessId } from '../../projects/agents/model.ts';
import { Run, type RunAgent } from './model.ts';

export const stepStatuses = ['waiting', 'running', 'completed', 'failed', 'canceled'] as const;
export type StepStatus = (typeof stepStatuses)[number];
export const openStepStatuses: readonly StepStatus[] = ['waiting', 'running'];

/** Answer to a runtime that has finished a step. */
export const stepOutcomes = ['next', 'waiting', 'handed_back', 'done'] as const;
export type StepOutcome = (typeof stepOutcomes)[number];

export class RunStep extends BaseModel {
  static override tableName = 'run_steps';
  static override noun = 'step';
  static override order = '"seq"';
  static override jsonAttributes = ['agent'];
  static override columns = [
    'id',
    'runId',
    'orgId',
    'projectId',
    'seq',
    'role',
    'round',
    'status',
    'agent',
    'harness',
    'model',
    'sessionId',
    'sandboxId',
    'output',
    'error',
    'turns',
    'costUsd',
    'inputTokens',
    'cachedInputTokens',
    'cacheWriteTokens',
    'outputTokens',
    'createdAt',
    'startedAt',
    'finishedAt',
  ];
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId', 'steps');
  }

  declare id: Id<'runStep'>;
  declare runId: Run['id'];
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** From 0. */
  declare seq: number;
  declare role: AgentRole;
  /** The attempt of the builder, from 1; 0 for the planner. */
  declare round: number;
  declare status: StepStatus;
  /** The agent as it was when the run was first claimed. */
  declare agent: RunAgent;
  declare harness: HarnessId;
  declare model: string;
  declare prompt: string;
  /** Whether its output is structured. */
  declare hasSchema: boolean;
  /** Whether the step repeats an earlier one after an invalid output. */
  declare isRepeated: boolean;
  /** The session of the harness that the step continues; null: a new one. */
  declare resumeSessionId: string | null;
  declare sessionId: string | null;
  declare sandboxId: Id<'sandbox'> | null;
  /** JSON; null without a structured output. */
  declare output: string | null;
  declare error: string | null;
  /** Null until it is finished. */
  declare outcome: StepOutcome | null;
  /** The lease under which the step is worked on. */
  declare leaseId: Id<'lease'> | null;
  declare turns: number | null;
  declare costUsd: number;
  declare inputTokens: number;
  declare cachedInputTokens: number;
  declare cacheWriteTokens: number;
  declare outputTokens: number;
  declare createdAt: number;
  declare startedAt: number | null;
  declare finishedAt: number | null;
}
