// The calls of a recording, grouped by step and without their bodies. To fork a mission, a person chooses one of these calls.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentRole } from '../../projects/agents/model.ts';
import { readingCapacity, readPart } from './content.ts';
import { partsOfRun } from './operations.ts';

export interface RecordedCall {
  /** Position of the call in its step, counted from 1 in the order in which the calls began. */
  number: number;
  at: number;
  /** The path at the gateway. */
  path: string;
  /** The model that the request names; null for a call of a tool, and for a request whose content was left out. */
  model: string | null;
  status: number;
  isOmitted: boolean;
}

export interface RecordedStep {
  stepId: string;
  role: AgentRole;
  /** Whether the step began from a checkpoint, which a replay does not restore. */
  hasCheckpoint: boolean;
  /** Whether the recording contains the end of the step. */
  isEnded: boolean;
  /** The calls in the order in which they began. */
  calls: RecordedCall[];
}

export const isModelCall = ({ path }: Pick<RecordedCall, 'path'>): boolean =>
  /^\/(anthropic\/v1\/messages|openai\/v1\/(responses|chat\/completions))(\?|$)/.test(path);

/** The recorded steps of a run, in order; empty when the run has no recording. @throws 404, 502, and 503 while too many recordings are read */
export async function readSteps(runId: string): Promise<RecordedStep[]> {
  const parts = await partsOfRun(runId);
  if (parts.length === 0) return [];
  const hold = await readingCapacity.take(parts[0]!.orgId);
  try {
    const steps = new Map<string, RecordedStep>();
    for (const [i, part] of parts.entries()) await addLines(steps, await readPart(part, i + 1));
    for (const { calls } of steps.values()) calls.sort((a, b) => a.number - b.number);
    return [...steps.values()];
  } finally {
    hold.release();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a runtime has written the lines
type Line = any;

/** Bytes of lines that are parsed before other requests are served: a few milliseconds of work. */
const bytesAtOnce = 512 * 1024;

async function addLines(steps: Map<string, RecordedStep>, part: Buffer): Promise<void> {
  let turn = 0;
  for (let from = 0; from < part.length; ) {
    const end = part.indexOf(10, from);
    const to = end < 0 ? part.length : end;
    if (to > from) addLine(steps, JSON.parse(part.toString('utf8', from, to)));
    from = to + 1;
    if (from - turn < bytesAtOnce) continue;
    turn = from;
    await nextTurn();
  }
}

function addLine(steps: Map<string, RecordedStep>, line: Line): void {
  const { type, stepId } = line;
  const step = steps.get(stepId);
  // Only the last attempt of a step counts, because another runtime may have repeated the step.
  if (type === 'step') {
    const { agent, checkpoint } = line.order;
    steps.set(stepId, { stepId, role: agent.role, hasCheckpoint: checkpoint !== null, isEnded: false, calls: [] });
  } else if (type === 'call') step?.calls.push(callOf(line));
  else if (step) step.isEnded = true;
}

function callOf({ number, at, path, request, status, isOmitted }: Line): RecordedCall {
  const model = isModelCall({ path }) ? (/"model"\s*:\s*"([^"\\]{1,200})"/.exec(request ?? '')?.[1] ?? null) : null;
  return { number, at, path, model, status, isOmitted };
}
