// The notifications of Codex' app server.
import type { Fragment } from '../contract.ts';
import { action, eventLine, type Json, logLine, parsed, plan, result, words } from './fragments.ts';
import type { Listener, Task } from './port.ts';

/** Notifications that say nothing which others do not say. */
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
  // The first turn begins with the process.
  let [turn, lastText, isWorking] = ['', '', true];

  async function started({ item }: Json): Promise<void> {
    if (item.type === 'commandExecution') await on({ fragment: action('shell', item.command, item.id) });
    if (item.type === 'mcpToolCall') await on({ fragment: action(toolOf(item), item.arguments, item.id) });
  }

  async function completed({ item }: Json): Promise<void> {
    switch (item.type) {
      case 'reasoning':
        for (const fragment of words('thought', item.summary.join('\n'))) await on({ fragment });
        break;
      case 'agentMessage':
        lastText = item.text;
        for (const fragment of words('response', lastText)) await on({ fragment });
        break;
      case 'fileChange':
        for (const change of item.changes) await on({ fragment: fileChange(change, item.status) });
        break;
      case 'commandExecution':
        if (item.aggregatedOutput) await on({ log: logLine(item.aggregatedOutput) });
        await on({ fragment: result('shell', item.id, item.aggregatedOutput ?? '', commandEnd(item)) });
        break;
      case 'mcpToolCall':
        await on({ fragment: result(toolOf(item), item.id, toolOutput(item), { failed: item.status === 'failed' }) });
        break;
      case 'userMessage':
        break;
      default:
        await on({ log: eventLine(item.type, item) });
    }
  }

  async function count({ threadId, turnId, tokenUsage }: Json): Promise<void> {
    // A resumed thread tells of its last call once more. OpenAI counts cached tokens among the input.
    if (turnId !== turn) return;
    const { last, total } = tokenUsage;
    const tokens = {
      inputTokens: last.inputTokens - last.cachedInputTokens,
      cachedInputTokens: last.cachedInputTokens,
      cacheWriteTokens: last.cacheWriteInputTokens ?? 0,
      outputTokens: last.outputTokens,
    };
    await on({ usage: { usageId: `${threadId}-${total.totalTokens}`, model, ...tokens } });
  }

  async function finish(status: string, error: string | null): Promise<void> {
    const outcome = status === 'completed' || status === 'interrupted' ? status : 'failed';
    const structured = schema && outcome === 'completed' ? (parsed(lastText) ?? undefined) : undefined;
    const text = lastText;
    [turn, lastText, isWorking] = ['', '', false];
    await on({
      turn: {
        status: outcome,
        text,
        structured,
        error: outcome === 'completed' ? null : (error ?? `The turn is ${status}.`),
      },
    });
  }

  async function take(method: string, params: Json): Promise<void> {
    switch (method) {
      case 'turn/started':
        turn = params.turn.id;
        break;
      case 'item/started':
        return started(params);
      case 'item/completed':
        return completed(params);
      case 'turn/plan/updated': {
        const items = params.plan.map(({ step, status }: Json) => ({ content: step, status: planStatus(status) }));
        for (const fragment of plan(items)) await on({ fragment });
        break;
      }
      case 'thread/tokenUsage/updated':
        return count(params);
      case 'error': {
        const body = `${plainly(params.error.message)}${params.willRetry ? ' (it tries again)' : ''}`;
        for (const fragment of words('error', body)) await on({ fragment });
        break;
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
    /** It cannot work, or has ended. */
    async gone(why: string): Promise<void> {
      if (isWorking) await finish('failed', why);
    },
  };
}

const toolOf = ({ server, tool }: Json): string => `${server}.${tool}`;

const toolOutput = ({ result: answer, error }: Json): string =>
  error?.message ?? (answer?.content ?? []).map((part: Json) => part.text ?? `[${part.type}]`).join('\n');

/** `declined`: it was not allowed. */
const commandEnd = ({ status, exitCode }: Json) => ({ failed: status === 'failed' || status === 'declined', exitCode });

/** It has no output; that it was not done is one. */
function fileChange({ kind, path }: Json, status: string): Fragment {
  const change = action(kind.type ?? kind, path);
  return status === 'completed' ? change : { ...change, result: `The change was ${status}.`, failed: true };
}

/** A refusal is the body of the answer, as it came. */
const plainly = (message: string | undefined): string | null =>
  message === undefined ? null : (parsed(message)?.error?.message ?? message);

const planStatus = (status: string): string => (status === 'inProgress' ? 'in_progress' : status);
