// The recording that answers a step of a fork: downloaded from the platform, and reduced to the calls that the step needs.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Step } from '../contract.ts';
import type { Platform } from './platform.ts';
import { addLine, finishPart, type RecordedLine, type RecordedPart } from './recording-lines.ts';

/**
 * A mission is forked from one of the recorded calls. The recording answers only the calls before this one. This call and `laterCalls`
 * calls after it are kept without their responses, because a harness with concurrent calls may make one of them before it has made all
 * calls that the recording answers.
 */
const laterCalls = 20;

export interface ForkedStep {
  /** The recorded step, under the id of the step that replays it. */
  part: RecordedPart;
  /** Number of calls in earlier steps. */
  before: number;
  /** The commit that the recorded mission began from; null without a repository. */
  startSha: string | null;
}

/** Downloads the recorded step. @throws when the recording was deleted, or lacks the step */
export async function fetchForkedStep(
  platform: Pick<Platform, 'download'>,
  { stepId, replay }: Step & { replay: NonNullable<Step['replay']> },
  folder: string,
): Promise<ForkedStep> {
  const file = path.join(folder, `${randomUUID()}.jsonl`);
  try {
    if (!(await platform.download(replay.url, file)))
      throw new Error(`The recording of ${replay.runId} was deleted: the mission cannot be forked from it.`);
    return reduce(await readParts(file, replay), replay, stepId);
  } finally {
    await rm(file, { force: true });
  }
}

async function readParts(file: string, { stepId, call }: NonNullable<Step['replay']>): Promise<RecordedPart[]> {
  const last = call === null ? Number.POSITIVE_INFINITY : call + laterCalls;
  const parts = new Map<string, RecordedPart>();
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text === '') continue;
    const line = JSON.parse(text) as RecordedLine;
    if (line.type !== 'call') addLine(parts, line);
    // Calls of other steps are only counted, so their bodies are dropped.
    else if (line.stepId !== stepId) addLine(parts, { ...line, request: null, response: null });
    else if (line.number <= last)
      addLine(parts, call !== null && line.number >= call ? { ...line, response: null } : line);
  }
  return [...parts.values()].map(finishPart);
}

function reduce(
  parts: readonly RecordedPart[],
  { runId, stepId: source, call }: NonNullable<Step['replay']>,
  stepId: string,
): ForkedStep {
  const at = parts.findIndex(({ step }) => step.stepId === source);
  if (at < 0) throw new Error(`The recording of ${runId} lacks the step ${source}.`);
  const part = parts[at]!;
  return {
    part: { ...part, step: { ...part.step, stepId }, endsWith: call ?? part.endsWith },
    before: parts.slice(0, at).reduce((sum, { calls }) => sum + calls.length, 0),
    startSha: parts[0]!.step.start?.commitSha ?? null,
  };
}
