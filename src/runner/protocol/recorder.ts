// Records the calls of an agent to models and tools as its gateway answers them (docs/recordings.md). Secrets are masked, and headers with
// credentials are left out. A failed upload does not fail the mission.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunLease } from '../contract.ts';
import type { Mask } from '../text.ts';
import { chosenHeaders, type ObservedResponse } from './observed-response.ts';
import type { Platform } from './platform.ts';
import type { RecordedCall, RecordedEnd } from './recording-lines.ts';
import { uploadPart } from './recording-part.ts';
import { hasSplitSecret } from './split-secrets.ts';

/** Maximum bytes of a body, of the lines that are kept in memory until they are uploaded, and of all lines of a run. */
export const recordingBounds = { body: 8 * 1024 * 1024, held: 8 * 1024 * 1024, run: 240 * 1024 * 1024 };

/**
 * Milliseconds that calls may continue after their harness has ended. A call that ends later is recorded in the next part of the recording.
 */
const closingMs = 1_000;

/** Collects a body up to its bound, with the time of each piece. */
function collect(since: number) {
  const bytes: Buffer[] = [];
  const pieces: RecordedCall['pieces'] = [];
  let size = 0;
  return {
    add(piece: Buffer): void {
      size += piece.length;
      if (size > recordingBounds.body) return void bytes.splice(0);
      bytes.push(piece);
      pieces.push([Math.round(performance.now() - since), piece.length]);
    },
    pieces,
    /** The body as text. Null for a body above the bound, and for one that is not text, because secrets cannot be found in it. */
    text(): string | null {
      if (size > recordingBounds.body) return null;
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(bytes));
      } catch {
        return null;
      }
    },
  };
}

/**
 * Returns the masked text of a body, and the pieces in which it arrived; only one piece if masking has changed the text. The text is null
 * if the body is too long or not text, or contains a secret that cannot be masked because it is split over several deltas.
 */
function masked(
  body: ReturnType<typeof collect>,
  mask: (text: string) => string,
): [string | null, RecordedCall['pieces']] {
  const text = body.text();
  if (text === null) return [null, []];
  const shown = mask(text);
  if (hasSplitSecret(shown, mask)) return [null, []];
  return [shown, shown === text ? body.pieces : [[body.pieces.at(-1)![0], Buffer.byteLength(shown)]]];
}

/** Resolves with the whole call when it has ended. */
async function recordCall(
  request: IncomingMessage,
  response: ObservedResponse,
  call: Pick<RecordedCall, 'stepId' | 'number' | 'at'>,
  mask: Mask,
): Promise<RecordedCall> {
  const { method, url, headers } = request;
  const since = performance.now();
  const [asked, answered] = [collect(since), collect(since)];
  request.on('data', asked.add);
  response.observe = answered.add;
  await new Promise((resolve) => response.once('close', resolve));
  const [body, pieces] = masked(answered, mask);
  return {
    ...{ type: 'call', ...call, method: method!, path: url! },
    ...{ requestHeaders: chosenHeaders(headers), request: masked(asked, mask)[0] },
    ...{ status: response.statusCode, responseHeaders: response.sentHeaders, response: body, pieces },
    ...{ isWhole: response.writableFinished, isOmitted: false },
  };
}

/** Collects lines of the recording until they are uploaded. Limits the total size of the lines of a run. */
function openLines() {
  const none = () => ({ lines: [] as string[], bytes: 0, calls: 0, omitted: 0 });
  let [held, total] = [none(), 0];
  return {
    add(line: object): boolean {
      const text = `${JSON.stringify(line)}\n`;
      const bytes = Buffer.byteLength(text);
      if (bytes > 2 * recordingBounds.body || total + bytes > recordingBounds.run) return false;
      total += bytes;
      held.lines.push(text);
      held.bytes += bytes;
      return true;
    },
    /** Adds a call, without its content when that exceeds the bounds. */
    addCall(call: RecordedCall): void {
      const isWhole = call.request !== null && call.response !== null;
      const isAdded = isWhole && this.add(call);
      if (!isAdded && !this.add({ ...call, request: null, response: null, pieces: [], isOmitted: true })) return;
      held.calls++;
      if (!isAdded) held.omitted++;
    },
    isFull: () => held.bytes > recordingBounds.held,
    take() {
      const taken = held;
      held = none();
      return taken;
    },
  };
}

export type StepResult = Pick<RecordedEnd, 'failure' | 'tree' | 'isCut'>;

export interface Recorder {
  /**
   * Observes a call until it ends. Must be called before the body of the request is read. @returns whether the observer answers the call
   * itself
   */
  observe(request: IncomingMessage, response: ObservedResponse): boolean;
  /** Stores the calls that have ended since the last `save`. */
  save(): Promise<void>;
  /** Begins a step. @param order The input with which a replay begins the same step. */
  begin(stepId: string, order: object): void;
  /** Ends the step once its harness has ended. @returns the reason why its recording is incomplete; empty on success */
  end(result: StepResult): Promise<string>;
}

/** Opens the recorder of a mission. @param folder Folder of the runner that holds a part of the recording while it is uploaded. */
export function openRecorder(platform: Platform, lease: RunLease, folder: string): Recorder {
  const lines = openLines();
  const { mask } = platform;
  let stepId: string | null = null;
  let number = 0;
  let uploads: Promise<void> = Promise.resolve();
  let failure = '';
  /** Calls that have not ended yet. */
  const open = new Set<Promise<void>>();

  function save(): Promise<void> {
    const part = lines.take();
    if (part.lines.length > 0 && !failure)
      uploads = uploads
        .then(() => uploadPart(platform, lease, folder, part))
        .catch((error: Error) => {
          failure = error.message;
        });
    return uploads;
  }

  return {
    save,
    observe(request, response) {
      if (stepId === null) return false;
      const call = { stepId, number: ++number, at: Date.now() };
      const ended = recordCall(request, response, call, mask).then((observed) => {
        if (!response.isWithheld) lines.addCall(observed);
        if (lines.isFull()) void save();
        open.delete(ended);
      });
      open.add(ended);
      return false;
    },
    begin(next, order) {
      [stepId, number, failure] = [next, 0, ''];
      const described = JSON.parse(mask(JSON.stringify(order)));
      lines.add({ type: 'step', stepId, attempt: randomUUID(), at: Date.now(), ...described });
    },
    async end(result) {
      if (stepId === null) return '';
      await Promise.race([Promise.all(open), wait(closingMs, undefined, { ref: false })]);
      lines.add({ type: 'end', stepId, at: Date.now(), ...result, failure: mask(result.failure) });
      stepId = null;
      await save();
      return failure;
    },
  };
}
