// The port of harnesses: a driver starts one program, and reports what the program does in the same form for all of them. Its
// isolation is not the driver's business: `wrap` puts the program into a cell.
import type { Fragment } from '../contract.ts';
import type { HarnessLaunch } from '../isolation/process.ts';

export const harnessNames = ['shell', 'claude-code', 'codex', 'opencode'] as const;
export type HarnessName = (typeof harnessNames)[number];
/** A harness that asks a model. */
export type AgentHarness = Exclude<HarnessName, 'shell'>;

export interface Task extends HarnessLaunch {
  program: string;
  /** Sessions, settings and temporary files of the harness. A session is resumed from the home that it was begun in. */
  home: string;
  prompt: string;
  /** Added to the system prompt. */
  instructions: string | null;
  model: string;
  effort: string | null;
  /** JSON Schema of the answer. */
  schema: Record<string, unknown> | null;
  /** A session to continue. */
  resume: string | null;
  /** Whether the agent changes no file: it gets no tool to edit with, and a cell or container mounts its checkout read-only. */
  readOnly: boolean;
  /** Calls of the model after which the turn is interrupted; null: no limit. */
  maxCalls: number | null;
  /** Where its model calls go, and the key that it shows there: of the gateway, never a vendor's. */
  gateway: { url: string; key: string };
  /** MCP servers by name, reached through the gateway with the gateway's key. */
  mcp: Record<string, string>;
}

/** Commands of a read-only agent are harmless only where its checkout is mounted read-only. */
export const hasShell = ({ readOnly, isConfined }: Task): boolean => !readOnly || isConfined;

export interface Tokens {
  /** Without those from a cache. */
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

/** Tokens of one call of a model, never a running total. */
export interface Usage extends Tokens {
  /** Unique in its session, and the same when the harness tells of the call again. */
  usageId: string;
  model: string;
}

export interface Turn {
  status: 'completed' | 'failed' | 'interrupted';
  /** The last words. */
  text: string;
  /** The answer in the shape of `schema`; undefined: there is none. */
  structured: unknown;
  error: string | null;
}

export type HarnessEvent =
  | { session: string }
  | { fragment: Fragment }
  | { log: string }
  | { usage: Usage }
  | { turn: Turn }
  /** Reports of scripts about themselves. */
  | { progress: number; activity: string | undefined }
  | { cost: number }
  | { preview: string };

/** The harness waits in its next `write` for as long as a promise takes. */
export type Listener = (event: HarnessEvent) => void | Promise<void>;

export interface Harness {
  pid: number;
  /** Resolves when the first prompt has been taken; rejects with the reason why not. */
  ready: Promise<void>;
  /** Adds a message to the turn that runs, or begins another with it. */
  send(text: string): Promise<'steered' | 'begun'>;
  /** Ends the turn, which is reported as interrupted. The session continues with the next message. */
  interrupt(): Promise<void>;
  isRunning(): boolean;
  /** How its process ended: empty when all went well, else `exit code 3` or `killed by SIGSEGV`. */
  ended: Promise<string>;
  /** Ends it and all that it has started, first politely. What was printed has been taken then. */
  end(): Promise<void>;
}

export type Driver = (task: Task, on: Listener) => Harness;
