// Drives harnesses that speak the Agent Client Protocol, version 1: JSON-RPC on their standard input and output. The isolation limits what
// these harnesses can do, so requests for permission are granted automatically. Calls of MCP tools that need approval wait at the gateway.
import { maxEventBytes, startProcess } from '../isolation/process.ts';
import { environmentOf, filled } from './acp-command.ts';
import { acpEvents } from './acp-events.ts';
import { type AcpSession, openAcpSession } from './acp-session.ts';
import { type Json, logLine, parsed } from './fragments.ts';
import { jsonRpc } from './json-rpc.ts';
import type { Harness, Listener, Task, Turn } from './port.ts';

export function acp(task: Task, on: Listener): Harness {
  const events = acpEvents(on);
  const env = environmentOf(task);
  const write = (message: object) => process.write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const { call, receive, rejectAll } = jsonRpc({ write, ...answers(events.take, on) }, on);
  const process = startProcess(task, {
    program: task.program,
    args: (task.command?.args ?? []).map((one) => filled(one, env)),
    env,
    hasInput: true,
    maxLineBytes: maxEventBytes,
    out: receive,
    err: (line) => on({ log: logLine(line) }),
  });
  const { pid, ended, isRunning, end } = process;
  task.metered?.((usage) => void on({ usage }));
  const turns = acpTurns(task, on, events.takeText);

  async function open(): Promise<AcpSession> {
    if (task.readOnly && !task.isIsolated)
      throw new Error('A read-only agent of an ACP harness needs a runner with cells or containers.');
    const connection = { call, notify: (method: string, params: object) => write({ method, params }) };
    const log = (line: string) => on({ log: `${line}\n` });
    const session = await openAcpSession(connection, task, { replaying: events.replaying, log });
    if (session.isLasting) await on({ session: session.id });
    return session;
  }

  const opened = open();
  const ready = opened.then((session) => turns.begin(session, promptOf(task)));
  ready.catch((error) => turns.abandon(error.message));
  process.silent.then(
    (why) => {
      const error = process.errors() || why || 'The harness ended before its turn was over.';
      rejectAll(error);
      return turns.abandon(error);
    },
    () => {},
  );
  return {
    ...{ pid, ready, ended, isRunning, end },
    send: async (text) => turns.send(await opened, text),
    interrupt: async () => turns.interrupt(await opened),
  };
}

/** Handles messages from the harness: updates become events, and requests for permission are granted. */
function answers(take: (update: Json) => Promise<void>, on: Listener) {
  return {
    async notified(method: string, params: Json): Promise<void> {
      const isKnown = method === 'session/update' && typeof params.update === 'object';
      if (isKnown) await take(params.update).catch(() => on({ log: logLine(params) }));
    },
    async asked(method: string, { toolCall, options }: Json): Promise<Json> {
      if (method !== 'session/request_permission') throw new Error(`${method} is not supported.`);
      // Some harnesses describe a tool call only in the request for permission.
      await take({ ...toolCall, sessionUpdate: 'tool_call_update' });
      return { outcome: allow(options) };
    },
  };
}

/** Allows the call, because the isolation limits it and the checkout of a read-only agent is mounted read-only. */
function allow(options: readonly Json[]): Json {
  const [once, always] = ['allow_once', 'allow_always'].map((wanted) => options.find(({ kind }) => kind === wanted));
  const chosen = once ?? always;
  return chosen ? { outcome: 'selected', optionId: chosen.optionId } : { outcome: 'cancelled' };
}

/** Turns of the session: one prompt at a time. A message to a working agent cancels the running prompt, and becomes the next one. */
function acpTurns({ schema }: Task, on: Listener, takeText: () => Promise<string>) {
  let [prompts, isWorking, isCanceled, isGone] = [0, true, false, false];
  let over: Promise<void> = Promise.resolve();

  async function finish(end: Pick<Turn, 'status' | 'error'>): Promise<void> {
    isWorking = false;
    const text = await takeText();
    const structured = schema && end.status === 'completed' ? jsonIn(text) : undefined;
    await on({ turn: { ...end, text, structured } });
  }

  async function follow(prompt: number, reason: Promise<string>): Promise<void> {
    const end = await reason.then(endOf, (error) => failed(error.message));
    if (isGone) return;
    if (prompt === prompts) return finish(isCanceled ? endOf('cancelled') : end);
    await takeText();
  }

  function begin(session: AcpSession, text: string): void {
    [isWorking, isCanceled] = [true, false];
    over = follow(++prompts, session.prompt(text));
  }

  return {
    begin,
    async send(session: AcpSession, text: string): Promise<'steered' | 'begun'> {
      const wasWorking = isWorking;
      if (wasWorking) {
        // The count of prompts is raised first, so that the end of the canceled prompt does not end the turn.
        prompts++;
        await session.cancel();
        await over;
      }
      begin(session, text);
      return wasWorking ? 'steered' : 'begun';
    },
    async interrupt(session: AcpSession): Promise<void> {
      isCanceled = isWorking;
      await session.cancel();
    },
    /** Called when the program cannot work, or has ended. */
    async abandon(error: string): Promise<void> {
      isGone = true;
      if (isWorking) await finish(failed(error));
    },
  };
}

const failed = (error: string): Pick<Turn, 'status' | 'error'> => ({ status: 'failed', error });

const failures: Record<string, string> = {
  max_tokens: 'The model reached its limit of output tokens.',
  max_turn_requests: 'The harness reached its limit of model calls.',
  refusal: 'The model refused to continue.',
};

function endOf(reason: string): Pick<Turn, 'status' | 'error'> {
  if (reason === 'end_turn') return { status: 'completed', error: null };
  if (reason === 'cancelled') return { status: 'interrupted', error: 'The turn is interrupted.' };
  return failed(failures[reason] ?? `The turn ended: ${reason}.`);
}

/** Instructions and the schema of the answer become part of the prompt, because the protocol has no members for them. */
function promptOf({ instructions, prompt, schema }: Task): string {
  const shape =
    schema &&
    `End with a message that is only JSON, without any other text, of this JSON Schema:\n\n${JSON.stringify(schema)}`;
  return [instructions, prompt, shape].filter(Boolean).join('\n\n');
}

/** The JSON in an answer, possibly in a code block at its end; undefined for an answer without JSON. */
const jsonIn = (text: string): Json | undefined =>
  parsed(/```(?:json)?\s([\s\S]*?)```\s*$/.exec(text)?.[1] ?? text) ?? undefined;
