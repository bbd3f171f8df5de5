// Types that several folders of the runner share. It imports generated types only; isolation, harness, protocol, workspace and the files on top
// import it.
import type { AgentRole, ClaimRunMutation, StepPartsFragment } from './generated/operations.ts';

export const vendors = ['anthropic', 'openai'] as const;
/** Vendor of models. */
export type Vendor = (typeof vendors)[number];

/** User of the machine. */
export interface Account {
  uid: number;
  gid: number;
}

/** Bounds of one mission. */
export interface Limits {
  memoryBytes: number;
  /** Threads are counted too. */
  processes: number;
  /** Bytes of the folder of the mission, and of one file. */
  diskBytes: number;
}

/** Intervals and timeouts in milliseconds. */
export interface Pace {
  heartbeat: number;
  sample: number;
  flush: number;
  /** From asking a harness to stop to ending it. */
  grace: number;
  timeout: number;
  /** Between two checkpoints of a running step. */
  checkpoint: number;
}

/** Goes with every report of a run. */
export interface RunLease {
  runId: string;
  leaseId: string;
}

export type Claimed = NonNullable<ClaimRunMutation['answer']>;
export type Step = StepPartsFragment;
/** Environment of a step, as its template says: where it runs, what is set up, and what it may reach. */
export type Environment = Step['environment'];
export type CheckpointOrder = NonNullable<Step['checkpoint']>;

/** Session of a step, as reports name it. */
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
  /** The output of a tool call, and whether it failed; of a command also its exit code. */
  result?: string;
  failed?: boolean;
  exitCode?: number;
  /** The same in the fragments of one tool call. */
  toolUseId?: string;
  items?: { content: string; status: string }[];
}
