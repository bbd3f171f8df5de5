// The lines of a recording (docs/recordings.md).
import type { Step } from '../contract.ts';

/** Line at the beginning of a step. */
export interface RecordedStep {
  type: 'step';
  stepId: string;
  /** When the step began, epoch milliseconds. */
  at: number;
  run: { runId: string; orgId: string };
  /** The step as the platform has ordered it, without secrets. */
  order: Step;
  harness: { harness: string; version: string };
  /** The repository and the commit that the mission began from; null without a repository. */
  start: { url: string; branch: string; defaultBranch: string; commitSha: string } | null;
  /** Folders of the mission by their names. */
  folders: Record<string, string>;
  /** Names of the MCP servers. */
  mcp: string[];
}

export interface RecordedCall {
  type: 'call';
  stepId: string;
  /** Position among the calls of the step by their beginning, from 1. Lines are in the order in which calls ended. */
  number: number;
  /** When the call began, epoch milliseconds. */
  at: number;
  method: string;
  /** The path at the gateway, such as `/anthropic/v1/messages` or `/mcp/<server>`. */
  path: string;
  requestHeaders: Record<string, string>;
  /** The body as the agent sent it; null when it is left out. */
  request: string | null;
  status: number;
  responseHeaders: Record<string, string>;
  /** The body as the agent received it; null when it is left out. */
  response: string | null;
  /** The pieces of the response: milliseconds since the beginning, and bytes. */
  pieces: [ms: number, bytes: number][];
  /** Whether the agent received the whole response. */
  isWhole: boolean;
  /** Whether the bodies are left out, because they exceed the bounds or are not text. */
  isOmitted: boolean;
}

/** Line at the end of a step. */
export interface RecordedEnd {
  type: 'end';
  stepId: string;
  at: number;
  /** The reason for a failure; empty on success. */
  failure: string;
  /** The id of the git tree of all files; null for an agent that changes none. */
  tree: string | null;
}

export interface RecordedRun {
  /** The steps of the run, in their order. */
  steps: { step: RecordedStep; calls: RecordedCall[]; end: RecordedEnd | null }[];
}

/** Parses the lines of a recording. @throws for a text that is not a recording */
export function readRecording(text: string): RecordedRun {
  const steps = new Map<string, RecordedRun['steps'][number]>();
  for (const line of text.split('\n').filter(Boolean)) {
    const read = JSON.parse(line) as RecordedStep | RecordedCall | RecordedEnd;
    const known = steps.get(read.stepId);
    // A step that another runtime has repeated counts as it was the last time.
    if (read.type === 'step') steps.set(read.stepId, { step: read, calls: [], end: null });
    else if (read.type === 'call') known?.calls.push(read);
    else if (known) known.end = read;
  }
  for (const { calls } of steps.values()) calls.sort((a, b) => a.number - b.number);
  if (steps.size === 0) throw new Error('The file has no step of a recording.');
  return { steps: [...steps.values()] };
}
