// The port of harnesses: a driver starts one program, and reports its events in a common form. Drivers are independent of the isolation:
// `wrap` runs the program in a cell.
import type { Fragment } from '../contract.ts';
import type { HarnessLaunch } from '../isolation/process.ts';

export const harnessNames = ['shell', 'claude-code', 'codex', 'opencode', 'acp'] as const;
export type HarnessName = (typeof harnessNames)[number];
/** A harness with a model. */
export type AgentHarness = Exclude<HarnessName, 'shell'>;
/** A harness that has its own driver; the driver was tested with certain releases of the harness. */
export type TestedHarness = Exclude<AgentHarness, 'acp'>;

/**
 * A command that the operator has configured. Arguments and variables may contain `{NAME}`, which stands for the value of a variable of the
 * harness.
 */
export interface HarnessCommand {
  args: string[];
  env: Record<string, string>;
  /** Method of authentication, for a harness that needs one even with a key in its environment. */
  authMethod?: string;
}

export interface Task extends HarnessLaunch {
  program: string;
  /** Arguments and variables of a program that the operator has configured. */
  command?: HarnessCommand | undefined;
  /** Folder of sessions, settings and temporary files of the harness. A session can be resumed only from the home that it began in. */
  home: string;
  prompt: string;
  /** Text added to the system prompt. */
  instructions: string | null;
  model: string;
  effort: string | null;
  /** JSON Schema of the answer. */
  schema: Record<string, unknown> | null;
  /** The session to continue; null means a new one. */
  resume: string | null;
  /** Whether the agent changes no file: it gets no tool to edit with, and a cell or container mounts its checkout read-only. */
  readOnly: boolean;
  /** Maximum number of calls of the model, after which the turn is interrupted; null means no limit. */
  maxCalls: number | null;
  /** Maximum number of tokens, read and written, after which the turn is interrupted; null means no limit. */
  maxTokens: number | null;
  /** URL and key for model calls. They belong to the gateway, never to a vendor. */
  gateway: { url: string; key: string };
  /** MCP servers by name, reached through the gateway with the gateway's key. */
  mcp: Record<string, string>;
  /**
   * Calls the listener with the number of tokens of each model call, which the gateway counts. Set for a harness that does not report these
   * numbers itself.
   */
  metered?: ((listener: (usage: Usage) => void) => void) | undefined;
}

/**
 * Time limit that a harness applies to one call of a tool or language model, in milliseconds. The limit is long, because a call may wait for a
 * person's answer. A call that takes too long is ended by the runner, whose time limits for the whole step are shorter.
 */
export const callTimeoutMs = 7 * 24 * 60 * 60_000;

/** Whether the agent may run commands: a read-only agent only if its checkout is mounted read-only. */
export const hasShell = ({ readOnly, isIsolated }: Task): boolean => !readOnly || isIsolated;

export interface Tokens {
  /** Input tokens that were not cached. */
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

/** Tokens of one call of a model, never a running total. */
export interface Usage extends Tokens {
  /** Id of the call, unique in its session and equal when the harness reports the call again. */
  usageId: string;
  model: string;
}

export interface Turn {
  status: 'completed' | 'failed' | 'interrupted';
  /** The last text of the agent. */
  text: string;
  /** The answer in the shape of `schema`; undefined without one. */
  structured: unknown;
  error: string | null;
}

export type HarnessEvent =
  | { session: string }
  | { fragment: Fragment }
  | { log: string }
  | { usage: Usage }
  | { turn: Turn }
  /** Progress that scripts report. */
  | { progress: number; activity: string | undefined }
  | { cost: number }
  | { preview: string };

/** The harness blocks in its next `write` until the promise resolves. */
export type Listener = (event: HarnessEvent) => void | Promise<void>;

export interface Harness {
  pid: number;
  /** Resolves when the harness has accepted the first prompt; rejects with the reason why not. */
  ready: Promise<void>;
  /** Adds a message to the running turn, or begins another turn with it. */
  send(text: string): Promise<'steered' | 'begun'>;
  /** Ends the turn, which is reported as interrupted. The session continues with the next message. */
  interrupt(): Promise<void>;
  isRunning(): boolean;
  /** Reason for the process's end: empty for success, else `exit code 3` or `killed by SIGSEGV`. */
  ended: Promise<string>;
  /** Ends the harness and all its processes, gracefully first. Resolves once its output has been processed. */
  end(): Promise<void>;
}

export type Driver = (task: Task, on: Listener) => Harness;
