// Handles calls of an agent to MCP servers in the gateway: questions to people are answered here, and a tool call that needs approval waits
// here for the decision. The platform makes such a call only if a person has approved its arguments.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '../harness/fragments.ts';
import { limits, parsed } from '../harness/fragments.ts';
import { send, serveTools, stream, textResult } from './tool-server.ts';
import type { Approval, McpServer, Upstream } from './upstreams.ts';

/** Handles one request to a server. @param forward Sends the request on unchanged. @param body Null means a request without one. */
export async function serveMcp(
  from: IncomingMessage,
  to: ServerResponse,
  server: McpServer,
  body: Buffer | null,
  forward: (upstream: Upstream) => void,
): Promise<void> {
  const message = body && parsed(body.toString());
  if (server.own) return body ? serveTools(message, to, server.own) : send(to, 405);
  const { approval } = server;
  const tool = message?.method === 'tools/call' ? message.params?.name : undefined;
  if (!approval || typeof tool !== 'string' || !(await approval.isNeeded(tool))) return forward(server);
  const { id, params } = message!;
  await stream(to, message!, async (left) => {
    const decision = await decideCall(approval, tool, JSON.stringify(params.arguments ?? {}), left);
    if (!decision) return null;
    if ('denial' in decision) return { jsonrpc: '2.0', id, result: textResult(decision.denial, true) };
    return call(from, server, { 'x-question-id': decision.questionId }, body!, id, left);
  });
}

/**
 * Asks a person whether a tool may be called.
 * @param given The arguments as JSON.
 * @returns the reason for a refusal, or the question that was approved; null when the agent no longer waits
 */
export async function decideCall(
  { server, questions, mask }: Omit<Approval, 'isNeeded'>,
  tool: string,
  given: string,
  left: AbortSignal,
): Promise<{ denial: string } | { questionId: string } | null> {
  if (given.length > limits.body)
    return {
      denial: `This tool needs approval by a person, who can be shown at most ${limits.body} characters of arguments.`,
    };
  // The approval covers the arguments as shown to the person.
  if (mask(given) !== given)
    return {
      denial:
        'This tool needs approval by a person, who cannot be shown these arguments, because they contain a secret.',
    };
  const body = `May I call ${tool} of the MCP server ${server}?`;
  const answer = await questions.ask({ body, action: `${server}.${tool}`, parameter: given }, left);
  if (!answer) return null;
  const { approved, author, text, questionId } = answer;
  return approved ? { questionId } : { denial: `${author} denied this call${text ? `: ${text}` : '.'}` };
}

const passed = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

/** Forwards a call to the server. Returns the server's message that responds to the request with this id. */
async function call(
  from: IncomingMessage,
  { base, headers }: Upstream,
  more: Record<string, string>,
  body: Buffer,
  id: unknown,
  signal: AbortSignal,
): Promise<Json> {
  const forwarded = passed.flatMap((name) => (from.headers[name] ? [[name, String(from.headers[name])]] : []));
  const response = await fetch(base, {
    method: 'POST',
    headers: { ...Object.fromEntries(forwarded), ...headers, ...more },
    body: new Uint8Array(body),
    signal,
  });
  const text = await response.text();
  const isStream = /^text\/event-stream/.test(response.headers.get('content-type') ?? '');
  const messages = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    : [text];
  const answer = messages.map(parsed).find((message) => message?.id === id);
  if (!answer) throw new Error(`The platform answered ${response.status}.`);
  return answer;
}
