// Calls of an agent to MCP servers, on their way through the gateway: its questions to people are answered here, and the call of a tool
// that needs a person waits here for the decision. The platform makes such a call only with an approval of these arguments.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '../harness/fragments.ts';
import { most, parsed } from '../harness/fragments.ts';
import { send, servePeople, stream, textResult } from './people-server.ts';
import type { Approval, McpServer, Upstream } from './upstreams.ts';

/** @param forward Sends a request on unchanged. @param body Null: a request without one. */
export async function serveMcp(
  from: IncomingMessage,
  to: ServerResponse,
  server: McpServer,
  body: Buffer | null,
  forward: (upstream: Upstream) => void,
): Promise<void> {
  const message = body && parsed(body.toString());
  if (server.questions) return body ? servePeople(message, to, server.questions) : send(to, 405);
  const { approval } = server;
  const tool = message?.method === 'tools/call' ? message.params?.name : undefined;
  if (!approval || typeof tool !== 'string' || !(await approval.isNeeded(tool))) return forward(server);
  await stream(to, message!, (left) => decideCall(from, server, approval, message!, body!, left));
}

async function decideCall(
  from: IncomingMessage,
  upstream: Upstream,
  { server, questions, mask }: Approval,
  { id, params }: Json,
  body: Buffer,
  left: AbortSignal,
): Promise<Json | null> {
  const result = (text: string) => ({ jsonrpc: '2.0', id, result: textResult(text, true) });
  const parameter = JSON.stringify(params.arguments ?? {});
  if (parameter.length > most.body)
    return result(`This tool needs a person, who is shown at most ${most.body} characters of arguments.`);
  // The approval is for the arguments that the person is shown.
  if (mask(parameter) !== parameter)
    return result('This tool needs a person, who cannot be shown these arguments: they hold the value of a secret.');
  const question = {
    body: `May I call ${params.name} of the MCP server ${server}?`,
    action: `${server}.${params.name}`,
    parameter,
  };
  const answer = await questions.ask(question, left);
  if (!answer) return null;
  if (!answer.approved) return result(`${answer.author} denied this call${answer.text ? `: ${answer.text}` : '.'}`);
  return call(from, upstream, { 'x-question-id': answer.questionId }, body, id, left);
}

const passed = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

/** The message of the server that answers the request with this id. */
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
