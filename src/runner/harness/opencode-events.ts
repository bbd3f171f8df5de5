// Reads the events from OpenCode's server.
import type { Fragment } from '../contract.ts';
import { action, eventLine, type Json, logLine, plan, result, words } from './fragments.ts';
import type { Listener, Turn } from './port.ts';

/** Ignored events: other events contain the same information. */
const known = new Set(['server.connected', 'server.heartbeat', 'session.created', 'session.updated', 'session.diff']);
const isKnown = (type: string): boolean =>
  known.has(type) ||
  /^(plugin|catalog|lsp|file|project|installation|integration|reference|models-dev)\./.test(type) ||
  /\.delta$/.test(type);

export function opencodeEvents(model: string, on: Listener) {
  let session = '';
  const parts = opencodeParts(model, on);
  const turn = opencodeTurn(on, parts.takeText);

  async function showAll(fragments: Fragment[]): Promise<void> {
    for (const fragment of fragments) await on({ fragment });
  }

  async function take(type: string, properties: Json): Promise<void> {
    const of = properties.sessionID ?? properties.part?.sessionID ?? properties.info?.sessionID;
    // Sessions that OpenCode's own tools open are not shown.
    if (of && of !== session) return;
    switch (type) {
      case 'message.part.updated':
        turn.step(properties.part);
        return parts.show(properties.part);
      case 'todo.updated':
        return showAll(plan(properties.todos));
      case 'message.updated':
        return turn.structure(properties.info.structured);
      case 'session.status':
        if (properties.status.type === 'busy') turn.begin();
        return showAll(retryOf(properties.status));
      case 'session.error':
        turn.fail(properties.error);
        return showAll(errorOf(properties.error));
      case 'session.idle':
        return turn.end();
      default:
        if (!isKnown(type)) await on({ log: eventLine(type, properties) });
    }
  }

  return {
    take,
    session: () => session,
    turns: turn.count,
    async begin(id: string): Promise<void> {
      session = id;
      await on({ session });
    },
    sent: turn.ask,
    interrupted: turn.interrupt,
    gone: turn.abandon,
  };
}

/** Tracks the current turn of a session by the events of the session, and reports the turn when it has ended. */
function opencodeTurn(on: Listener, takeText: () => string) {
  let turns = 0;
  let structured: unknown;
  let failure: Json | null = null;
  /** `asked` is true from the time when a message is sent to the end of the turn that the message causes. `isBusy` is true during this turn. */
  let [asked, isBusy] = [true, false];
  /** Whether the turn was interrupted, and whether the tools of its last step are still unanswered. */
  let [isInterrupted, isBetweenSteps] = [false, false];

  async function finish(): Promise<void> {
    // OpenCode reports no error for an abort between two steps.
    const isCut = isInterrupted && isBetweenSteps && structured === undefined;
    const turn = { ...endOf(failure ?? (isCut ? aborted : null)), text: takeText(), structured };
    [asked, isBusy, failure, structured, isInterrupted, isBetweenSteps] = [false, false, null, undefined, false, false];
    turns++;
    await on({ turn });
  }

  return {
    count: () => turns,
    begin(): void {
      isBusy = asked;
    },
    structure(value: unknown): void {
      if (value !== undefined) structured = value;
    },
    step({ type, reason }: Json): void {
      if (type === 'step-start') isBetweenSteps = false;
      else if (type === 'step-finish') isBetweenSteps = reason === 'tool-calls';
    },
    interrupt(): void {
      isInterrupted = asked;
    },
    fail(error: Json): void {
      failure = error;
    },
    /** OpenCode sends two end events for a turn that is aborted. The second one is ignored, because no turn is running then. */
    async end(): Promise<void> {
      if (isBusy) await finish();
    },
    /** Records a message, and returns whether a turn was running. */
    ask(): boolean {
      const before = asked && isBusy;
      asked = true;
      return before;
    },
    /** Called when the program cannot work, or has ended. */
    async abandon(why: string): Promise<void> {
      if (!asked) return;
      failure = { name: 'Error', data: { message: why } };
      await finish();
    },
  };
}

const aborted = { name: 'MessageAbortedError' };

const retryOf = ({ type, message, attempt }: Json): Fragment[] =>
  type === 'retry' ? words('error', `${message} (attempt ${attempt})`) : [];

const errorOf = ({ name, data }: Json): Fragment[] =>
  name === aborted.name ? [] : words('error', data?.message ?? name);

function endOf(failure: Json | null): Pick<Turn, 'status' | 'error'> {
  if (!failure) return { status: 'completed', error: null };
  if (failure.name === aborted.name) return { status: 'interrupted', error: 'The turn is interrupted.' };
  return { status: 'failed', error: failure.data?.message ?? failure.name };
}

/**
 * Reports the parts of messages: texts and tool calls as fragments, and the tokens of model calls as usage. Each event contains the whole
 * part, so a part that was already reported is skipped.
 */
function opencodeParts(model: string, on: Listener) {
  let lastText = '';
  const reported = new Set<string>();
  const isNew = (id: string): boolean => !reported.has(id) && Boolean(reported.add(id));

  async function text({ id, type, text, time }: Json): Promise<void> {
    // A part without an end time is incomplete, or is the user's text.
    if (!time?.end || !isNew(id)) return;
    if (type === 'text') lastText = text;
    for (const fragment of words(type === 'text' ? 'response' : 'thought', text)) await on({ fragment });
  }

  async function tool({ id, tool: name, state }: Json): Promise<void> {
    if (name === 'todowrite' || name === 'StructuredOutput') return;
    const isOver = state.status === 'completed' || state.status === 'error';
    // The start of a tool call that was too quick to be seen running is reported together with its end.
    if ((state.status === 'running' || isOver) && isNew(id)) await on({ fragment: action(name, state.input, id) });
    if (!isOver || !isNew(`${id} output`)) return;
    const output: string = state.output ?? state.error ?? '';
    if (output) await on({ log: logLine(output) });
    const end = { failed: state.status === 'error', exitCode: state.metadata?.exit };
    await on({ fragment: result(name, id, output, end) });
  }

  async function count({ id, tokens }: Json): Promise<void> {
    if (!isNew(id)) return;
    const { input, output, reasoning, cache } = tokens;
    const some = { inputTokens: input, cachedInputTokens: cache.read, cacheWriteTokens: cache.write };
    await on({ usage: { usageId: id, model, ...some, outputTokens: output + reasoning } });
  }

  return {
    async show(part: Json): Promise<void> {
      if (part.type === 'reasoning' || part.type === 'text') await text(part);
      else if (part.type === 'tool') await tool(part);
      else if (part.type === 'step-finish') await count(part);
      else if (!['step-start', 'snapshot', 'patch', 'file'].includes(part.type))
        await on({ log: eventLine(part.type, part) });
    },
    /** The last response of the turn. */
    takeText(): string {
      const text = lastText;
      lastText = '';
      return text;
    },
  };
}
