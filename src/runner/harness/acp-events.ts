// The updates of a session in the Agent Client Protocol.
import type { Fragment } from '../contract.ts';
import { action, eventLine, type Json, logLine, plan, result, words } from './fragments.ts';
import type { Listener } from './port.ts';

/** Updates that are ignored: the prompt, settings of the session, and the usage of tokens, which the gateway counts. */
const known = new Set([
  'user_message_chunk',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
]);

/** A tool call, as described by the updates so far. */
interface Call {
  id: string;
  action: string;
  isShown: boolean;
  title?: string;
  status?: string;
  rawInput?: unknown;
  content?: Json[];
  rawOutput?: unknown;
}

interface Text {
  kind: 'response' | 'thought';
  messageId: string | null;
  body: string;
}

export function acpEvents(on: Listener) {
  const calls = openCalls(on);
  /** The text that the agent is writing; null while there is none. The next update may add to this text. */
  let text: Text | null = null;
  let lastText = '';
  /** A session that is loaded repeats its history. */
  let isReplaying = false;

  async function showAll(fragments: Fragment[]): Promise<void> {
    for (const fragment of fragments) await on({ fragment });
  }

  async function endText(): Promise<void> {
    if (!text) return;
    const { kind, body } = text;
    text = null;
    if (kind === 'response') lastText = body;
    await showAll(words(kind, body));
  }

  async function addText(kind: Text['kind'], piece: string, messageId: string | null = null): Promise<void> {
    if (text && (text.kind !== kind || text.messageId !== messageId)) await endText();
    text = { kind, messageId, body: (text?.body ?? '') + piece };
  }

  return {
    async take(update: Json): Promise<void> {
      if (isReplaying) return;
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return addText('response', textOf(update.content), update.messageId);
        case 'agent_thought_chunk':
          return addText('thought', textOf(update.content), update.messageId);
        case 'tool_call':
        case 'tool_call_update':
          await endText();
          return calls.take(update);
        case 'plan':
          await endText();
          return showAll(plan(update.entries));
        default:
          if (!known.has(update.sessionUpdate)) await on({ log: eventLine(update.sessionUpdate, update) });
      }
    },
    replaying(value: boolean): void {
      isReplaying = value;
    },
    /** The last response of the turn. */
    async takeText(): Promise<string> {
      await endText();
      const last = lastText;
      lastText = '';
      return last;
    },
  };
}

/** Tool calls as fragments: one when the call starts, and one when it has ended. */
function openCalls(on: Listener) {
  const open = new Map<string, Call>();

  async function begin({ id, action: name, rawInput, title }: Call): Promise<void> {
    const input = hasMembers(rawInput) ? rawInput : title === name ? '' : (title ?? '');
    for (const fragment of planOf(rawInput) ?? [action(name, input, id)]) await on({ fragment });
  }

  async function end(call: Call): Promise<void> {
    if (planOf(call.rawInput)) return;
    const output = outputOf(call);
    if (output) await on({ log: logLine(output) });
    await on({ fragment: result(call.action, call.id, output, { failed: call.status === 'failed' }) });
  }

  return {
    async take({ toolCallId: id, ...update }: Json): Promise<void> {
      const changes = Object.fromEntries(Object.entries(update).filter(([, value]) => value != null));
      const call: Call = { id, action: nameOf(update), isShown: false, ...open.get(id), ...changes };
      open.set(id, call);
      const { status = 'pending' } = call;
      if (status !== 'pending' && !call.isShown) {
        call.isShown = true;
        await begin(call);
      }
      if (status !== 'completed' && status !== 'failed') return;
      open.delete(id);
      await end(call);
    },
  };
}

/** Some harnesses show their plan as a call with a list of todos. */
function planOf(input: unknown): Fragment[] | null {
  const { todos } = (input ?? {}) as { todos?: unknown };
  return Array.isArray(todos) && todos.every((one) => one?.content && one.status) ? plan(todos) : null;
}

/** The name of the tool: its title, unless the title is a sentence about the call. */
function nameOf({ name, title, kind }: Json): string {
  const isSentence = !title || /\s/.test(title);
  return name ?? (isSentence && kind && kind !== 'other' ? kind : title) ?? 'tool';
}

const hasMembers = (input: unknown): boolean =>
  typeof input === 'object' && input !== null ? Object.keys(input).length > 0 : Boolean(input);

function outputOf({ content, rawOutput }: Call): string {
  const texts = (content ?? []).map((part) =>
    part.type === 'content' ? textOf(part.content) : part.type === 'diff' ? part.path : '',
  );
  const said = texts.filter(Boolean).join('\n');
  if (said || rawOutput == null) return said;
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput);
}

const textOf = (content: Json): string => (content.type === 'text' ? content.text : `[${content.type}]`);
