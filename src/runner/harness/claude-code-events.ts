// Reads the events from Claude Code.
import { action, eventLine, type Json, logLine, plan, result, words } from './fragments.ts';
import type { Listener, Tokens, Turn } from './port.ts';

/** Ignored events: other events contain the same information. */
const known = new Set(['system/status', 'system/thinking_tokens', 'control_response']);

const tokensOf = (usage: Json = {}): Tokens => ({
  inputTokens: usage.input_tokens ?? 0,
  cachedInputTokens: usage.cache_read_input_tokens ?? 0,
  cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  outputTokens: usage.output_tokens ?? 0,
});
const none: Tokens = tokensOf();
const fields = Object.keys(none) as (keyof Tokens)[];

export function claudeEvents(taskModel: string, on: Listener) {
  let [session, turns] = ['', 0];
  /** Number of sent messages, and number of those that the agent has read. */
  let [sent, takenUp, isWorking] = [0, 0, false];
  const usage = claudeUsage(taskModel, on);
  const transcript = claudeTranscript(on);

  async function take(event: Json): Promise<void> {
    const name = event.subtype && event.type === 'system' ? `system/${event.subtype}` : event.type;
    if (name === 'system/init') return begin(event);
    if (name === 'stream_event') return usage.count(event.event);
    if (name === 'assistant') return transcript.show(event.message);
    if (name === 'user') {
      if (event.isReplay) takenUp++;
      else await transcript.showResults(event.message);
    } else if (name === 'result') return finish(event);
    else if (name === 'system/api_retry') {
      const body = `${event.error_status} ${event.error}: attempt ${event.attempt} of ${event.max_retries}`;
      for (const fragment of words('error', body)) await on({ fragment });
    } else if (!known.has(name)) await on({ log: eventLine(name, event) });
  }

  async function begin({ session_id }: Json): Promise<void> {
    if (session === session_id) return;
    session = session_id;
    await on({ session });
  }

  async function finish(event: Json): Promise<void> {
    await usage.countRest(event.uuid ?? `${session}-${turns}`, tokensOf(event.usage));
    turns++;
    const denied = (event.permission_denials ?? []).map(({ tool_name }: Json) => tool_name);
    if (denied.length > 0)
      for (const fragment of words('error', `Not allowed: ${denied.join(', ')}`)) await on({ fragment });
    // A message that arrived after the last call begins another turn automatically.
    const turn = turnOf(event);
    if (turn.status === 'completed' && takenUp < sent) return;
    isWorking = false;
    if (turn.status === 'failed') for (const fragment of words('error', turn.error!)) await on({ fragment });
    await on({ turn });
  }

  return {
    take,
    sent(): 'steered' | 'begun' {
      sent++;
      const how = isWorking ? 'steered' : 'begun';
      isWorking = true;
      return how;
    },
    /** Called when the process has ended. */
    async gone(why: string): Promise<void> {
      await usage.close();
      if (!isWorking) return;
      isWorking = false;
      const error = why || 'The harness ended before its turn was over.';
      await on({ turn: { status: 'failed', text: '', structured: undefined, error } });
    },
  };
}

/** Tokens of each model call. They are known only at its end; an interrupted call has used tokens, too. */
function claudeUsage(taskModel: string, on: Listener) {
  let call: { id: string; model: string; usage: Json } | null = null;
  /** Tokens of the turn that have been reported already. */
  let counted = { ...none };

  async function report(usageId: string, model: string, tokens: Tokens): Promise<void> {
    for (const field of fields) counted[field] += tokens[field];
    await on({ usage: { usageId, model, ...tokens } });
  }

  async function close(): Promise<void> {
    if (!call) return;
    const { id, model, usage } = call;
    call = null;
    await report(id, model, tokensOf(usage));
  }

  return {
    close,
    /** An event of the Messages API. */
    async count({ type, message, usage }: Json): Promise<void> {
      if (type === 'message_start') {
        await close();
        call = { id: message.id, model: message.model ?? taskModel, usage: { ...message.usage } };
      } else if (type === 'message_delta') Object.assign(call?.usage ?? {}, usage);
      else if (type === 'message_stop') await close();
    },
    /**
     * Called at the end of a turn with the tokens of the whole turn. Reports the tokens that were not reported yet: those of calls that
     * were not streamed.
     */
    async countRest(usageId: string, sum: Tokens): Promise<void> {
      await close();
      const rest = { ...none };
      for (const field of fields) rest[field] = Math.max(0, sum[field] - counted[field]);
      if (fields.some((field) => rest[field] > 0)) await report(usageId, taskModel, rest);
      counted = { ...none };
    },
  };
}

/** Messages as fragments: thoughts, responses, tool calls and their results. */
function claudeTranscript(on: Listener) {
  /** Names of the tools in use, by the id of the call. */
  const used = new Map<string, string>();
  return {
    async show({ model, content }: Json): Promise<void> {
      // Claude Code's own text, such as an error of the API, is only logged, because it is also in `result`.
      if (model === '<synthetic>') return on({ log: logLine(textOf(content)) });
      for (const part of content) {
        if (part.type === 'thinking') for (const fragment of words('thought', part.thinking)) await on({ fragment });
        else if (part.type === 'text') for (const fragment of words('response', part.text)) await on({ fragment });
        else if (part.type !== 'tool_use') await on({ log: eventLine(part.type, part) });
        else if (part.name === 'TodoWrite') for (const fragment of plan(part.input.todos ?? [])) await on({ fragment });
        else if (part.name !== 'StructuredOutput') {
          used.set(part.id, part.name);
          await on({ fragment: action(part.name, part.input, part.id) });
        }
      }
    },
    async showResults({ content }: Json): Promise<void> {
      if (typeof content === 'string') return;
      for (const part of content) {
        if (part.type !== 'tool_result') continue;
        const output = textOf(part.content);
        await on({ log: logLine(output) });
        const name = used.get(part.tool_use_id);
        if (!name) continue;
        used.delete(part.tool_use_id);
        await on({ fragment: result(name, part.tool_use_id, output, endOf(part, output)) });
      }
    },
  };
}

/** The output of a failed command begins with its exit code. */
const endOf = ({ is_error = false }: Json, output: string): { failed: boolean; exitCode?: number } => {
  const exitCode = is_error ? /^Exit code (\d+)/.exec(output)?.[1] : undefined;
  return { failed: is_error, ...(exitCode && { exitCode: Number(exitCode) }) };
};

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : ((content ?? []) as Json[]).map((part) => part.text ?? '').join('\n');

/** A refusal by the vendor has the subtype `success` with `is_error`, so only `is_error` counts. */
function turnOf(event: Json): Turn {
  const { is_error, subtype, terminal_reason, result, errors, structured_output } = event;
  const status = /^aborted/.test(terminal_reason ?? '') ? 'interrupted' : is_error ? 'failed' : 'completed';
  const why = status === 'interrupted' ? 'The turn is interrupted.' : result || errors?.join('\n') || subtype;
  const error = status === 'completed' ? null : why;
  return { status, text: result ?? '', structured: structured_output, error };
}
