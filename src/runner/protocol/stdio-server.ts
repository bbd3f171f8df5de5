// An MCP server that speaks over the standard streams of its process, one JSON-RPC message a line
// (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#stdio). The server is not trusted: all its output is bounded.
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, parsed } from '../harness/fragments.ts';
import { type Launch, type Process, startProcess } from '../isolation/process.ts';
import { clip } from '../text.ts';

/** Time limits in milliseconds: for the start of the server, for the list of tools, and for a call. */
const [startMs, listMs, callMs] = [30_000, 20_000, 120_000];
/** Maximum bytes of a message, of output that answers no request, and of the log; maximum number of tools, pages and concurrent calls. */
const limits = {
  message: 4 * 1024 ** 2,
  unasked: 1024 ** 2,
  log: 200_000,
  tools: 500,
  pages: 20,
  calls: 20,
};

export interface StdioServer {
  process: Pick<Process, 'pid' | 'isRunning'>;
  /** The tools that the server currently lists. @throws with the reason for a failure */
  listTools(): Promise<Json[]>;
  /** Whether the server has announced a change of its tools since they were last listed. */
  hasChanged(): boolean;
  /** The result of a call. @throws with the reason for a failure, or the server's error as `ToolError` */
  call(name: string, args: Json, left: AbortSignal, meta?: Json): Promise<Json>;
  /** Ends the server. All later calls fail with this reason. */
  fail(reason: string): void;
  end(): Promise<void>;
}

/** An error with which the server answered a call. */
export class ToolError extends Error {}

/**
 * Starts the process of the server and initializes the protocol. @throws with the reason why the server is not ready; the process has ended
 * then
 */
export async function startStdioServer(
  launch: Launch,
  command: { program: string; args: string[]; env: Record<string, string> },
  log: (text: string) => void,
): Promise<StdioServer> {
  const err = bounded(log);
  let broken: (reason: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    broken = resolve;
  });
  const client = openClient((message) => child.write(JSON.stringify({ jsonrpc: '2.0', ...message })), fail, err);
  const options = { hasInput: true, maxLineBytes: limits.message, out: client.take, err };
  const child = startProcess(launch, { ...command, ...options });
  const ended = child.silent.then(
    (how) => `the server has ended${how && ` (${how})`}`,
    (error) => `the server cannot be started: ${error.message}`,
  );
  const over = Promise.race([failed, ended]);
  const request: Request = (method, params, timeoutMs, left) => client.request(method, params, timeoutMs, over, left);

  function fail(reason: string): void {
    broken(reason);
    void child.end();
  }

  try {
    const clientInfo = { name: 'agent-engineering-platform', version: '1' };
    const greeting = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const { capabilities } = await request('initialize', greeting, startMs);
    client.tell({ method: 'notifications/initialized' });
    return {
      process: child,
      async listTools() {
        client.hasChanged = false;
        return capabilities?.tools ? listTools(request) : [];
      },
      hasChanged: () => client.hasChanged,
      call: (name, args, left, meta) =>
        request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, callMs, left),
      fail,
      end: child.end,
    };
  } catch (error) {
    await child.end();
    throw error;
  }
}

/**
 * Sends a request and resolves with its result.
 * @throws with the reason for a failure
 */
type Request = (method: string, params: Json, timeoutMs: number, left?: AbortSignal) => Promise<Json>;

function openClient(tell: (message: Json) => void, fail: (reason: string) => void, log: (text: string) => void) {
  const waiting = new Map<number, (answer: Json) => void>();
  let [asked, unasked] = [0, 0];

  function takeOther(message: Json): void {
    const { id, method } = message;
    if (method === 'notifications/tools/list_changed') client.hasChanged = true;
    if (id === undefined || method === undefined) return;
    const error = { code: -32601, message: 'The client has no capabilities.' };
    tell({ id, ...(method === 'ping' ? { result: {} } : { error }) });
  }

  const client = {
    /** Whether the server has announced a change of its tools. */
    hasChanged: false,
    tell,
    take(line: string): void {
      const message = parsed(line);
      const answered = message && message.method === undefined ? waiting.get(message.id) : undefined;
      if (!answered) unasked += line.length;
      if (answered) answered(message!);
      else if (unasked > limits.unasked) fail('the server wrote too much output that answers no request');
      else if (message) takeOther(message);
      else log(line);
    },
    /** Sends a request and returns its result. @param over Resolves with the reason once the server has ended. */
    async request(method: string, params: Json, timeoutMs: number, over: Promise<string>, left?: AbortSignal) {
      if (waiting.size >= limits.calls) throw new Error(`At most ${limits.calls} calls can be open at the same time.`);
      const id = ++asked;
      const done = new AbortController();
      const late = wait(timeoutMs, 'the server did not answer in time', { signal: done.signal });
      late.catch(() => {});
      const leaving = new Promise<string>((resolve) => {
        const options = { once: true, signal: done.signal };
        left?.addEventListener('abort', () => resolve('the agent no longer waits'), options);
      });
      try {
        const answer = new Promise<Json>((resolve) => waiting.set(id, resolve));
        tell({ id, method, params });
        const first = await Promise.race([answer, over, late, leaving]);
        if (typeof first === 'string') {
          tell({ method: 'notifications/cancelled', params: { requestId: id, reason: first } });
          throw new Error(first);
        }
        return resultOf(first);
      } finally {
        done.abort();
        waiting.delete(id);
      }
    },
  };
  return client;
}

function resultOf({ error, result }: Json): Json {
  if (error) throw new ToolError(clip(String(error.message), 2_000));
  if (typeof result !== 'object' || result === null) throw new Error('the server answered without a result');
  return result;
}

async function listTools(request: Request): Promise<Json[]> {
  const tools: Json[] = [];
  let cursor: unknown;
  for (let page = 0; page < limits.pages && tools.length <= limits.tools; page++) {
    const answer = await request('tools/list', cursor === undefined ? {} : { cursor }, listMs);
    if (!Array.isArray(answer.tools)) throw new Error('the server returned no valid list of tools');
    tools.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined || cursor === null) break;
  }
  if (tools.length > limits.tools) throw new Error(`the server has more than ${limits.tools} tools`);
  return tools;
}

function bounded(log: (text: string) => void): (text: string) => void {
  let left = limits.log;
  return (text) => {
    if (left <= 0) return;
    left -= text.length;
    log(left > 0 ? text : 'The rest of the output is left out.\n');
  };
}
