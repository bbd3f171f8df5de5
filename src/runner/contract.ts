// Types that several folders of the runner share. This module imports only generated types, so that every folder of the runner can import
// this module.
import type { AgentRole, ClaimRunMutation, StepPartsFragment } from './generated/operations.ts';

export const vendors = ['anthropic', 'openai'] as const;
/** Vendor of models. */
export type Vendor = (typeof vendors)[number];

/** User account of the machine. */
export interface Account {
  uid: number;
  gid: number;
}

/** Limits of one mission. */
export interface Limits {
  /** Number of CPUs, which may be a fraction; null means all of the machine. */
  cpus: number | null;
  memoryBytes: number;
  /** Maximum number of processes and threads. */
  processes: number;
  /** Maximum bytes of the folder of the mission, and of one file. */
  diskBytes: number;
}

/** Intervals and timeouts in milliseconds. */
export interface Pace {
  heartbeat: number;
  sample: number;
  flush: number;
  /** Time between asking a harness to end and killing it. */
  grace: number;
  timeout: number;
  /** Interval between checkpoints of a running step. */
  checkpoint: number;
}

/** The fields that every report of a run contains. */
export interface RunLease {
  runId: string;
  leaseId: string;
}

export type Claimed = NonNullable<ClaimRunMutation['answer']>;
export type Step = StepPartsFragment;
/** Environment of a step, from its sandbox template: where the step runs, what is set up before it, and what it may reach. */
export type Environment = Step['environment'];
export type CheckpointOrder = NonNullable<Step['checkpoint']>;

/** Identifies the session of a step in reports. */
export interface Session {
  sandboxId: string;
  leaseId: string;
  role: AgentRole;
  sessionId: string;
}

/** Live event of a session. */
export interface Fragment {
  kind: 'thought' | 'action' | 'elicitation' | 'response' | 'error' | 'prompt' | 'plan';
  body?: string;
  action?: string;
  parameter?: string;
  /** Output of a tool call, and whether it failed; for a command also its exit code. */
  result?: string;
  failed?: boolean;
  exitCode?: number;
  /** Answers that a question suggests. */
  choices?: string[];
  /** Id of a tool call or question, equal in all of its fragments. */
  toolUseId?: string;
  items?: { content: string; status: string }[];
}
