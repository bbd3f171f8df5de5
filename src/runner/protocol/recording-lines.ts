// The lines of a recording (docs/recordings.md).
import type { Step } from '../contract.ts';

/** Line at the beginning of a step. */
export interface RecordedStep {
  type: 'step';
  stepId: string;
  /** When the step began, epoch milliseconds. */
  at: number;
  run: { runId: string; orgId: string };
  /** The step as the platform has assigned it, without secrets. */
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
  /** Position of the call in its step, counted from 1 in the order in which calls began. Lines are in the order in which calls ended. */
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
  /** The pieces of the response: the time at which each arrived, in milliseconds after the call began, and its size in bytes. */
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
  /** The id of the git tree of all files; null for an agent that changes no files. */
  tree: string | null;
  /** Whether the step is the replayed part of a fork, and has ended with a call that was not answered. */
  isCut?: boolean;
}

export interface RecordedRun {
  /** The steps of the run, in their order. */
  steps: RecordedPart[];
}

export interface RecordedPart {
  step: RecordedStep;
  calls: RecordedCall[];
  end: RecordedEnd | null;
  /** Number of the call with which the step ends, and which is not answered; absent when the step is replayed as a whole. */
  endsWith?: number | undefined;
}

/** Parses the lines of a recording. @throws for a text that is not a recording */
export function readRecording(text: string): RecordedRun {
  const steps = new Map<string, RecordedPart>();
  for (const line of text.split('\n').filter(Boolean)) addLine(steps, JSON.parse(line));
  for (const part of steps.values()) finishPart(part);
  if (steps.size === 0) throw new Error('The file contains no steps of a recording.');
  return { steps: [...steps.values()] };
}

export type RecordedLine = RecordedStep | RecordedCall | RecordedEnd;

/** Adds a line. Only the last attempt of a step counts: another runtime may have repeated the step. */
export function addLine(steps: Map<string, RecordedPart>, line: RecordedLine): void {
  const known = steps.get(line.stepId);
  if (line.type === 'step') steps.set(line.stepId, { step: line, calls: [], end: null });
  else if (line.type === 'call') known?.calls.push(line);
  else if (known) known.end = line;
}

/** Sorts the calls of a step once all its lines are read. */
export function finishPart(part: RecordedPart): RecordedPart {
  part.calls.sort((a, b) => a.number - b.number);
  if (part.end?.isCut) part.endsWith = (part.calls.at(-1)?.number ?? 0) + 1;
  return part;
}
