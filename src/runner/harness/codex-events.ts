// Reads the notifications from Codex's app server.
import type { Fragment } from '../contract.ts';
import { action, eventLine, type Json, logLine, parsed, plan, result, words } from './fragments.ts';
import type { HarnessEvent, Listener, Task, Usage } from './port.ts';

/** Ignored notifications: other notifications contain the same information. */
const known = new Set([
  'account/rateLimits/updated',
  'remoteControl/status/changed',
  'item/mcpToolCall/progress',
  'thread/goal/cleared',
  'thread/started',
  'thread/status/changed',
  'turn/diff/updated',
]);
const isKnown = (method: string): boolean =>
  known.has(method) || /Delta$|\/delta$|\/summaryPartAdded$|^mcpServer\/startupStatus\//.test(method);

export function codexEvents({ model, schema }: Pick<Task, 'model' | 'schema'>, on: Listener) {
  // The first turn begins when the process starts.
  let [turn, lastText, isWorking] = ['', '', true];

  async function all(events: Iterable<HarnessEvent>): Promise<void> {
    for (const event of events) await on(event);
  }

  async function finish(status: string, error: string | null): Promise<void> {
    const outcome = status === 'completed' || status === 'interrupted' ? status : 'failed';
    const structured = schema && outcome === 'completed' ? (parsed(lastText) ?? undefined) : undefined;
    const text = lastText;
    [turn, lastText, isWorking] = ['', '', false];
    const why = outcome === 'completed' ? null : (error ?? `The turn is ${status}.`);
    await on({ turn: { status: outcome, text, structured, error: why } });
  }

  async function take(method: string, params: Json): Promise<void> {
    switch (method) {
      case 'turn/started':
        turn = params.turn.id;
        break;
      case 'item/started':
        return all(eventsOfStart(params.item));
      case 'item/completed':
        if (params.item.type === 'agentMessage') lastText = params.item.text;
        return all(eventsOfItem(params.item));
      case 'turn/plan/updated': {
        const items = params.plan.map(({ step, status }: Json) => ({ content: step, status: planStatus(status) }));
        return all(asEvents(plan(items)));
      }
      case 'thread/tokenUsage/updated':
        // A resumed thread repeats its last call.
        if (params.turnId === turn) await on({ usage: usageOf(params, model) });
        break;
      case 'error': {
        const body = `${plainly(params.error.message)}${params.willRetry ? ' (retrying)' : ''}`;
        return all(asEvents(words('error', body)));
      }
      case 'turn/completed':
        return finish(params.turn.status, plainly(params.turn.error?.message));
      default:
        if (!isKnown(method)) await on({ log: eventLine(method, params) });
    }
  }

  return {
    take,
    turn: () => turn,
    begun(): void {
      isWorking = true;
    },
    /** Called when the program cannot work, or has ended. */
    async gone(why: string): Promise<void> {
      if (isWorking) await finish('failed', why);
    },
  };
}

const asEvents = (fragments: Fragment[]): HarnessEvent[] => fragments.map((fragment) => ({ fragment }));

function eventsOfStart(item: Json): HarnessEvent[] {
  if (item.type === 'commandExecution') return asEvents([action('shell', item.command, item.id)]);
  if (item.type === 'mcpToolCall') return asEvents([action(toolOf(item), item.arguments, item.id)]);
  return [];
}

function eventsOfItem(item: Json): HarnessEvent[] {
  switch (item.type) {
    case 'reasoning':
      return asEvents(words('thought', item.summary.join('\n')));
    case 'agentMessage':
      return asEvents(words('response', item.text));
    case 'fileChange':
      return asEvents(item.changes.map((change: Json) => fileChange(change, item.status)));
    case 'commandExecution': {
      const output: string = item.aggregatedOutput ?? '';
      const log = output ? [{ log: logLine(output) }] : [];
      return [...log, ...asEvents([result('shell', item.id, output, commandEnd(item))])];
    }
    case 'mcpToolCall':
      return asEvents([result(toolOf(item), item.id, toolOutput(item), { failed: item.status === 'failed' })]);
    case 'userMessage':
      return [];
    default:
      return [{ log: eventLine(item.type, item) }];
  }
}

/** Tokens of a call. OpenAI counts cached tokens as input; they are subtracted here. */
const usageOf = ({ threadId, tokenUsage: { last, total } }: Json, model: string): Usage => ({
  usageId: `${threadId}-${total.totalTokens}`,
  model,
  inputTokens: last.inputTokens - last.cachedInputTokens,
  cachedInputTokens: last.cachedInputTokens,
  cacheWriteTokens: last.cacheWriteInputTokens ?? 0,
  outputTokens: last.outputTokens,
});

const toolOf = ({ server, tool }: Json): string => `${server}.${tool}`;

const toolOutput = ({ result: answer, error }: Json): string =>
  error?.message ?? (answer?.content ?? []).map((part: Json) => part.text ?? `[${part.type}]`).join('\n');

/** The end of a command; the status `declined` means that it was not allowed. */
const commandEnd = ({ status, exitCode }: Json) => ({ failed: status === 'failed' || status === 'declined', exitCode });

/** The fragment for the change of a file. It has no result if the change was made; otherwise the result names the status of the change. */
function fileChange({ kind, path }: Json, status: string): Fragment {
  const change = action(kind.type ?? kind, path);
  return status === 'completed' ? change : { ...change, result: `The change was ${status}.`, failed: true };
}

/** The message of an error contains the unparsed body of the vendor's response. */
const plainly = (message: string | undefined): string | null =>
  message === undefined ? null : (parsed(message)?.error?.message ?? message);

const planStatus = (status: string): string => (status === 'inProgress' ? 'in_progress' : status);
