// Answers the calls of an agent from a recording, in the place of the recorder. A call is answered by the first recorded one with the same
// route and body that has not been used; the first call without such an answer ends the replay.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeDifference, digestOf, type Folders, normalized } from './call-difference.ts';
import type { Recorder } from './recorder.ts';
import type { RecordedCall, RecordedRun, RecordedStep } from './recording-lines.ts';
import { readBody } from './request-body.ts';

export interface ReplayedCalls extends Recorder {
  result(): {
    /** Number of calls that were answered from the recording. */
    answered: number;
    /** Number of steps that ended as recorded. */
    ended: number;
    /** Description of the first difference; null without one. */
    difference: string | null;
    /** Id of the git tree at the end of the last step. */
    tree: string | null;
  };
}

interface Expected {
  call: RecordedCall;
  body: string;
  route: string;
  digest: string;
}

const routeOf = (method: string | undefined, path: string | undefined): string => `${method} ${path?.split('?', 1)[0]}`;

function expectedCall(call: RecordedCall, folders: Folders): Expected {
  const body = normalized(call.request ?? '', folders);
  return { call, body, route: routeOf(call.method, call.path), digest: digestOf(body) };
}

/** The recorded call that answers the request, which then counts as used; otherwise the reason why no call does. */
function take(left: Expected[], request: IncomingMessage, body: string, number: number): RecordedCall | string {
  const route = routeOf(request.method, request.url);
  const digest = digestOf(body);
  const at = left.findIndex((one) => one.route === route && one.digest === digest);
  const [found] = at < 0 ? [] : left.splice(at, 1);
  if (found && !found.call.isOmitted) return found.call;
  const name = `Call ${number} (${route})`;
  if (found) return `${name} cannot be answered: the recording leaves out its content.`;
  const next = left.find((one) => one.route === route);
  if (!next) return `${name} is not in the recording, which has no further call of this route.`;
  if (next.call.isOmitted)
    return `${name} cannot be compared: the recording leaves out the content of call ${next.call.number}.`;
  return `${name} differs from call ${next.call.number} of the recording: ${describeDifference(next.body, body)}.`;
}

/** The difference between the end of a step and its recording; null without one. */
function endDifference(
  { step, end }: RecordedRun['steps'][number],
  left: readonly Expected[],
  { failure, tree }: { failure: string; tree: string | null },
): string | null {
  const name = `The step of the ${step.order.agent.role}`;
  const [next] = left;
  if (!end) return `${name} has no end in the recording: its runner was lost.`;
  if (failure !== end.failure)
    return `${name} ends with ${JSON.stringify(failure)}; the recording has ${JSON.stringify(end.failure)}.`;
  if (next) return `${name} made ${left.length} fewer calls: the first is call ${next.call.number} (${next.route}).`;
  return tree === end.tree ? null : `${name} ends in the tree ${tree}; the recording has ${end.tree}.`;
}

/** Opens the replay of a recording. @param stop Ends the replay at the first difference. */
export function openReplayedCalls({ steps }: RecordedRun, stop: () => void): ReplayedCalls {
  let left: Expected[] = [];
  let folders: Folders = {};
  let current: RecordedRun['steps'][number] | undefined;
  let [answered, ended] = [0, 0];
  let difference: string | null = null;
  let tree: string | null = null;

  function differ(what: string): string {
    difference ??= what;
    stop();
    return what;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = normalized((await readBody(request)).toString(), folders);
    const found = take(left, request, body, answered + 1);
    if (typeof found === 'string') {
      const error = { type: 'invalid_request_error', message: differ(found) };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
      return;
    }
    answered++;
    const { status, responseHeaders, response: text, isWhole } = found;
    response.writeHead(status, responseHeaders);
    if (isWhole) response.end(text);
    else response.write(text ?? '', () => response.destroy());
  }

  return {
    observe(request: IncomingMessage, response: ServerResponse): boolean {
      answer(request, response).catch(() => response.destroy());
      return true;
    },
    save: async () => {},
    begin(stepId: string, order: object): void {
      current = steps.find(({ step }) => step.stepId === stepId);
      folders = (order as Pick<RecordedStep, 'folders'>).folders;
      left = (current?.calls ?? []).map((call) => expectedCall(call, current!.step.folders));
    },
    async end(result: { failure: string; tree: string | null }): Promise<string> {
      const found = difference ?? endDifference(current!, left, result);
      if (found) differ(found);
      else {
        ended++;
        tree = result.tree ?? tree;
      }
      return '';
    },
    result: () => ({ answered, ended, difference, tree }),
  };
}
