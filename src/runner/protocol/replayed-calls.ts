// Answers the calls of an agent from a recording, in place of models and tools. A call gets the answer of the first recorded call with the
// same route and body that was not used yet; the first call without such an answer ends the replay. The replay of a fork ends with a call
// that is kept open without an answer.
import type { IncomingMessage } from 'node:http';
import { describeDifference, digestOf, type Folders, normalized } from './call-difference.ts';
import type { ObservedResponse } from './observed-response.ts';
import type { Recorder, StepResult } from './recorder.ts';
import type { RecordedCall, RecordedPart, RecordedRun, RecordedStep } from './recording-lines.ts';
import { readBody } from './request-body.ts';
import { translated } from './translated.ts';

export interface ReplayedCalls extends Recorder {
  /**
   * Resolves when the replay of the present step ends before its harness ends. This happens when the harness makes a call that differs from the
   * recording. It also happens when the harness makes the call from which the fork continues, because that call is kept open instead of being
   * answered.
   */
  over(): Promise<void>;
  /** Whether the present step was cut off at the call that is kept open. */
  isCut(): boolean;
  result(): {
    /** Number of calls that were answered from the recording. */
    answered: number;
    /** Number of steps that ended as recorded. */
    ended: number;
    /** Description of the first difference, a sentence; null without one. */
    difference: string | null;
    /** Id of the git tree at the end of the last step. */
    tree: string | null;
  };
}

interface Expected {
  call: RecordedCall;
  body: string;
  /** Values of the request that differ in every run. */
  named: string[];
  route: string;
  digest: string;
}

const routeOf = (method: string | undefined, path: string | undefined): string => `${method} ${path?.split('?', 1)[0]}`;
const isOfModel = (route: string): boolean =>
  /^POST \/(anthropic|openai)\/.*(messages|responses|completions)$/.test(route);

function expectedCall(call: RecordedCall, folders: Folders): Expected {
  const { body, named } = normalized(call.request ?? '', folders);
  return { call, body, named, route: routeOf(call.method, call.path), digest: digestOf(body) };
}

/** The reason why no recorded call answers the request. */
function differenceOf(left: readonly Expected[], route: string, body: string, number: number): string {
  const name = `Call ${number} (${route})`;
  const next = left.find((one) => one.route === route);
  if (!next) return `${name} is not in the recording, which has no further call of this route.`;
  if (next.call.isOmitted)
    return `${name} cannot be compared: the recording leaves out the content of call ${next.call.number}.`;
  return `${name} differs from call ${next.call.number} of the recording: ${describeDifference(next.body, body)}.`;
}

/** Folders whose paths in the replay differ from those in the recording: each recorded path with the path that replaces it. */
const replacedFolders = (before: Folders, now: Folders): Map<string, string> =>
  new Map(
    Object.entries(before).flatMap(([name, text]): [string, string][] =>
      now[name] && now[name] !== text ? [[text, now[name]]] : [],
    ),
  );

/**
 * Opens the replay of one step. Each request of the harness takes the recorded call that answers the request, and no later request can use this call
 * again.
 */
function openCalls({ calls, endsWith = Number.POSITIVE_INFINITY }: RecordedPart, recorded: Folders, present: Folders) {
  const left = calls.map((call) => expectedCall(call, recorded));
  /** Maps recorded values to values of the replay. In a recorded response, the value of the replay replaces the recorded value. */
  const replaced = replacedFolders(recorded, present);
  const isAnswered = ({ call }: Expected) => call.number < endsWith;
  const hasLast = calls.some(({ number }) => number === endsWith);
  let isModelHeld = false;
  const isReached = () => isModelHeld && !left.some(isAnswered);
  return {
    /**
     * Returns the recorded call that answers the request; `held` if the request is the call from which the fork continues; otherwise the
     * reason why no recorded call answers the request.
     */
    take(request: IncomingMessage, text: string, number: number): RecordedCall | 'held' | { difference: string } {
      // A harness that is interrupted may repeat the call, or make other calls.
      if (isReached()) return 'held';
      const route = routeOf(request.method, request.url);
      const { body, named } = normalized(text, present);
      const digest = digestOf(body);
      const at = left.findIndex((one) => one.route === route && one.digest === digest);
      const [found] = at < 0 ? [] : left.splice(at, 1);
      // The recording of a fork does not contain the call that was kept open.
      const isLast = !found && !hasLast && endsWith < Number.POSITIVE_INFINITY && !left.some(isAnswered);
      if ((found && !isAnswered(found)) || (isLast && isOfModel(route))) {
        isModelHeld ||= isOfModel(route);
        return 'held';
      }
      if (!found) return { difference: differenceOf(left, route, body, number) };
      for (const [i, value] of found.named.entries()) if (value !== named[i]) replaced.set(value, named[i]!);
      if (!found.call.isOmitted) return found.call;
      return { difference: `Call ${number} (${route}) cannot be answered: the recording leaves out its content.` };
    },
    /** Whether the harness has made the call with which the step ends, and all earlier calls were answered. */
    isReached,
    left: () => left,
    replaced,
  };
}

/** Describes how the end of a replayed step differs from the end in its recording; null if it does not differ. */
function endDifference(
  { step, end, endsWith }: RecordedPart,
  left: readonly Expected[],
  { failure, tree }: StepResult,
): string | null {
  const name = `The step of the ${step.order.agent.role}`;
  const [next] = left;
  if (!end && endsWith === undefined) return `${name} has no end in the recording: its runner was lost.`;
  const recorded = end?.failure ?? '';
  if (failure !== recorded && (failure || endsWith === undefined))
    return `${name} ends with ${JSON.stringify(failure)}; the recording has ${JSON.stringify(recorded)}.`;
  if (next) return `${name} made ${left.length} fewer calls: the first is call ${next.call.number} (${next.route}).`;
  if (endsWith !== undefined) return `${name} ends before call ${endsWith} of the recording.`;
  return tree === end!.tree ? null : `${name} ends in the tree ${tree}; the recording has ${end!.tree}.`;
}

/**
 * Returns the folders of a step, and the id of its run. Each folder is also listed with `-` for every character that is not a letter or
 * digit, because Claude Code names folders of its own by paths in this form.
 */
const foldersOf = ({ folders, run }: Pick<RecordedStep, 'folders' | 'run'>): Folders => ({
  ...folders,
  ...Object.fromEntries(
    Object.entries(folders).map(([name, folder]) => [`${name} as a name`, folder.replace(/[^A-Za-z0-9]/g, '-')]),
  ),
  run: run.runId,
});

function refuse(response: ObservedResponse, message: string): void {
  const error = { type: 'invalid_request_error', message };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
}

function send(
  response: ObservedResponse,
  { status, responseHeaders, response: recorded, isWhole }: RecordedCall,
  replaced: ReadonlyMap<string, string>,
): void {
  const longerFirst = [...replaced].sort(([a], [b]) => b.length - a.length);
  const text = translated(recorded ?? '', longerFirst);
  response.writeHead(status, responseHeaders);
  if (isWhole) response.end(text);
  else response.write(text, () => response.destroy());
}

/** Opens the replay of a recording. @param before Number of calls that earlier replays of the mission have answered. */
export function openReplayedCalls({ steps }: RecordedRun, before = 0): ReplayedCalls {
  let current: RecordedPart | undefined;
  let calls: ReturnType<typeof openCalls> | undefined;
  let [answered, ended, isCut] = [before, 0, false];
  let difference: string | null = null;
  let tree: string | null = null;
  let finish = () => {};
  let over: Promise<void> = Promise.resolve();

  function differ(what: string): void {
    difference ??= `The replay of ${steps[0]!.step.run.runId} differs after ${answered} calls. ${what}`;
    finish();
  }

  async function answer(request: IncomingMessage, response: ObservedResponse): Promise<void> {
    const found = calls!.take(request, (await readBody(request)).toString(), answered + 1);
    if (found === 'held') {
      response.isWithheld = true;
      return endIfReached();
    }
    if ('difference' in found) {
      differ(found.difference);
      return refuse(response, found.difference);
    }
    answered++;
    send(response, found, calls!.replaced);
    endIfReached();
  }

  function endIfReached(): void {
    if (!calls!.isReached()) return;
    isCut = true;
    finish();
  }

  return {
    observe(request, response): boolean {
      answer(request, response).catch(() => response.destroy());
      return true;
    },
    save: async () => {},
    begin(stepId: string, order: object): void {
      current = steps.find(({ step }) => step.stepId === stepId)!;
      calls = openCalls(current, foldersOf(current.step), foldersOf(order as RecordedStep));
      isCut = false;
      over = new Promise((resolve) => {
        finish = resolve;
      });
    },
    async end(result): Promise<string> {
      const found = difference || isCut ? null : endDifference(current!, calls!.left(), result);
      if (found) differ(found);
      if (difference === null) [ended, tree] = [ended + 1, result.tree ?? tree];
      return '';
    },
    over: () => over,
    isCut: () => isCut && difference === null,
    result: () => ({ answered, ended, difference, tree }),
  };
}
