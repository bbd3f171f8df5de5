// An MCP server of the runner itself: tools over streamable HTTP without sessions
// (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports). An answer may take hours: its stream is kept alive.
import type { ServerResponse } from 'node:http';
import { setInterval } from 'node:timers';
import type { Json } from '../harness/fragments.ts';

const aliveMs = 15_000;

export interface ToolServer {
  name: string;
  tools(): Promise<Json[]>;
  /** Calls a tool. @returns the result; null when the agent no longer waits. @throws with the reason for a failure */
  call(tool: string, args: Json, left: AbortSignal): Promise<Json | null>;
}

export const textResult = (text: string, isError = false) => ({ content: [{ type: 'text', text }], isError });
export const send = (to: ServerResponse, status: number, body?: object): void => {
  to.writeHead(status, body && { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
};

/**
 * Answers a JSON-RPC request with a stream that begins at once, because clients would time out while they wait for an ordinary response.
 * @param respond Returns a whole message; its signal aborts when the client has disconnected
 */
export async function stream(
  to: ServerResponse,
  { id, params }: Json,
  respond: (left: AbortSignal) => Promise<Json | null>,
): Promise<void> {
  const left = new AbortController();
  to.on('close', () => left.abort());
  to.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }).flushHeaders();
  const write = (message: Json) => to.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  const progressToken = params?._meta?.progressToken;
  let progress = 0;
  const timer = setInterval(() => {
    if (progressToken === undefined) return void to.write(': waiting\n\n');
    write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: ++progress } });
  }, aliveMs);
  try {
    const answer = await respond(left.signal);
    if (answer) write(answer);
  } catch (error) {
    write({ jsonrpc: '2.0', id, error: { code: -32603, message: (error as Error).message } });
  } finally {
    clearInterval(timer);
    to.end();
  }
}

export async function serveTools(message: Json | null, to: ServerResponse, server: ToolServer): Promise<void> {
  if (!message) return send(to, 400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
  const { id, method, params } = message;
  const result = (value: object) => ({ jsonrpc: '2.0', id, result: value });
  if (id === undefined) return send(to, 202);
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: server.name, version: '1' };
    return send(to, 200, result({ protocolVersion, capabilities: { tools: {} }, serverInfo }));
  }
  if (method === 'ping') return send(to, 200, result({}));
  if (method === 'tools/list') return send(to, 200, result({ tools: await server.tools() }));
  const name = params?.name;
  if (method !== 'tools/call' || !(await server.tools()).some((tool) => tool.name === name)) {
    const error = { code: method === 'tools/call' ? -32602 : -32601, message: `${name ?? method}: is unknown.` };
    return send(to, 200, { jsonrpc: '2.0', id, error });
  }
  await stream(to, message, async (left) => {
    const answer = await server.call(name, params.arguments ?? {}, left);
    return answer && result(answer);
  });
}
