// The only network access of an agent: its calls to models and to the platform's MCP server. The gateway adds the real credentials,
// which the agent never sees; the agent's key is valid only for its mission.
import { randomBytes } from 'node:crypto';
import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Vendor } from '../contract.ts';
import { onAnswer } from '../network/answer.ts';
import { listenOn } from '../network/listen.ts';
import { sendOn } from './answers.ts';
import { serveMcp } from './mcp-calls.ts';
import type { AdmittedCall, Meter } from './meter.ts';
import { CallRefused } from './model-request.ts';
import { ObservedResponse } from './observed-response.ts';
import type { Recorder } from './recorder.ts';
import { readBody } from './request-body.ts';
import type { McpServer, Upstream, Upstreams } from './upstreams.ts';
import { countTokens, isPaid, watchUsage } from './usage.ts';

/**
 * The forwarded requests, each described by a pattern for its method and path. The first group of a pattern matches the path to forward
 * (for MCP, the name of the server), and the second group the query. Anthropic's clients add /v1 to the base URL; for OpenAI's clients, the
 * base URL must contain it.
 */
const routes: [RegExp, keyof Upstreams][] = [
  [/^POST \/anthropic(\/v1\/messages(?:\/count_tokens)?)(\?[\w=&-]*)?$/, 'anthropic'],
  [/^POST \/openai\/v1(\/(?:responses|chat\/completions))()$/, 'openai'],
  [/^(?:GET|POST|DELETE) \/mcp\/([A-Za-z0-9_-]+)()$/, 'mcp'],
];

/** Headers that are not forwarded: those of a single connection, and those that the gateway replaces. */
const dropped = [
  'authorization',
  'x-api-key',
  'host',
  'connection',
  'keep-alive',
  'cookie',
  'proxy-authorization',
  // Responses are requested uncompressed, because they are inspected.
  'accept-encoding',
  'te',
];

export interface Gateway {
  /** Key of the mission, sent as `x-api-key` or as bearer token. */
  key: string;
  /** The port on loopback; meaningless when the gateway listens on a socket. */
  port: number;
  close(): Promise<void>;
}

/**
 * Opens the gateway of a mission. @param socket A path to listen on; null means a loopback port. @param meter Null means calls are not
 * metered. @param modelCalled Called when a model call begins; returns a function to call at its end @param recorder Null means calls are
 * not recorded.
 */
export async function openGateway(
  upstreams: Upstreams,
  socket: string | null,
  meter: Pick<Meter, 'admit'> | null = null,
  modelCalled: () => () => void = () => () => {},
  recorder: Pick<Recorder, 'observe'> | null = null,
): Promise<Gateway> {
  const key = randomBytes(32).toString('base64url');
  const server = createServer({ ServerResponse: ObservedResponse }, (request, response) => {
    const presentedKey = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /i, '');
    if (presentedKey !== key) return refuse(response, 401, 'The key of the request is not the key of this mission.');
    const asked = `${request.method} ${request.url}`;
    const [match, name] =
      routes.map(([pattern, to]) => [pattern.exec(asked), to] as const).find(([found]) => found) ?? [];
    if (!match || !name) return refuse(response, 403, `${asked} is not allowed by the gateway.`);
    if (recorder?.observe(request, response)) return;
    const server = name === 'mcp' ? ownOf(upstreams.mcp, match[1]!) : null;
    if (server) return void forwardMcp(request, response, server);
    const upstream = name === 'mcp' ? null : upstreams[name];
    if (!upstream) return refuse(response, 403, `The runner has no access to ${name}.`);
    if (upstream.refusal) return refuse(response, 403, upstream.refusal);
    const path = match[1]! + (match[2] ?? '');
    if (name !== 'mcp') response.once('close', modelCalled());
    if (name !== 'mcp' && meter && isPaid(path))
      void forwardMetered(request, response, { vendor: name, ...upstream }, path, meter);
    else forward(request, response, upstream, path);
  });
  await listenOn(server, socket);
  return {
    key,
    port: socket ? 0 : (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ownOf = (servers: Record<string, McpServer>, name: string): McpServer | null =>
  Object.hasOwn(servers, name) ? servers[name]! : null;

/** Maximum time in milliseconds without a byte from a vendor. Anthropic's own clients wait equally long for a whole answer. */
const vendorSilenceMs = 10 * 60_000;

async function forwardMcp(from: IncomingMessage, to: ServerResponse, server: McpServer): Promise<void> {
  try {
    const body = from.method === 'POST' ? await readBody(from) : null;
    await serveMcp(from, to, server, body, (upstream) => forward(from, to, upstream, null, body));
  } catch (error) {
    if (to.headersSent) to.destroy();
    else refuse(to, error instanceof RangeError ? 413 : 502, `The call failed: ${(error as Error).message}`);
  }
}

/** Forwards a model call once the platform has reserved its price. */
async function forwardMetered(
  from: IncomingMessage,
  to: ServerResponse,
  upstream: Upstream & { vendor: Vendor },
  path: string,
  meter: Pick<Meter, 'admit'>,
): Promise<void> {
  const left = new AbortController();
  to.on('close', () => left.abort());
  try {
    const body = await readBody(from);
    const count = path.startsWith('/v1/messages') ? () => countTokens(from, upstream, body) : null;
    const call = await meter.admit(upstream.vendor, path, body, count, left.signal);
    if (left.signal.aborted) return call.end(null, 'refused');
    forward(from, to, upstream, path, call.body, call);
  } catch (error) {
    if (left.signal.aborted) return;
    if (error instanceof CallRefused) return refuse(to, 400, error.message, 'invalid_request_error');
    const status = error instanceof RangeError ? 413 : error instanceof SyntaxError ? 400 : 502;
    refuse(to, status, `The call cannot be metered: ${(error as Error).message}`);
  }
}

/**
 * Forwards a call, and its answer. @param path The path of a model call; null means a call of an MCP server, whose answers are not bounded
 * here. @param body The body; null when it has not been read. @param call The metered call.
 */
function forward(
  from: IncomingMessage,
  to: ServerResponse,
  upstream: Upstream,
  path: string | null,
  body: Buffer | null = null,
  call: AdmittedCall | null = null,
): void {
  const { base, headers, agent, signal, answered } = upstream;
  const url = new URL(base + (path ?? ''));
  const traceparent = call?.traceparent;
  // A traced call is part of the trace of its mission, not of a trace that the harness may record.
  const isReplaced = (name: string): boolean =>
    (body !== null && name === 'transfer-encoding') || (traceparent != null && /^trace(parent|state)$/.test(name));
  const forwarded = Object.entries(from.headers).filter(([name]) => !dropped.includes(name) && !isReplaced(name));
  const options = {
    method: from.method,
    headers: {
      ...Object.fromEntries(forwarded),
      'accept-encoding': 'identity',
      ...(body && { 'content-length': String(body.length) }),
      ...headers,
      ...(traceparent && { traceparent }),
    },
    agent,
    signal,
  };
  let isAnswered = false;
  const sentAt = performance.now();
  const onward = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
  onAnswer(onward, (answer) => {
    answered?.(answer.statusCode!);
    isAnswered = true;
    if (call) watchUsage(answer, call, sentAt);
    if (path) return sendOn(answer, to, path, (message) => refuse(to, 400, message, 'invalid_request_error'));
    const { connection: _, 'set-cookie': __, ...forwardedHeaders } = answer.headers;
    to.writeHead(answer.statusCode!, forwardedHeaders);
    // Forwards an upstream abort.
    answer.on('error', () => to.destroy()).pipe(to);
  });
  if (path) endWhenSilent(onward);
  const isSent = watchSending(onward);
  onward.on('error', (error) => {
    // If the agent has disconnected, the reported status is null, because the status 0 would blame the vendor for the missing response.
    if (!isAnswered) call?.end(to.destroyed ? null : 0, isSent() ? null : 'refused');
    if (to.headersSent) to.destroy();
    else refuse(to, 502, `The model cannot be reached: ${error.message}`);
  });
  to.on('close', () => onward.destroy());
  if (body) onward.end(body);
  else from.pipe(onward);
}

/**
 * Whether any byte of the request may have been sent. A call costs nothing if the name did not resolve, the connection failed or TLS
 * was not verified.
 */
function watchSending(onward: ClientRequest): () => boolean {
  let isSent = false;
  onward.once('socket', (socket) => {
    isSent = !socket.connecting && !socket.destroyed;
    // A connected socket gets no listener: sockets are reused and would collect listeners.
    if (!isSent)
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
        isSent = true;
      });
  });
  return () => isSent;
}

/** Ends a model call whose vendor is silent. The harness would wait for days, because a call may also wait for a person's answer. */
function endWhenSilent(onward: ClientRequest): void {
  onward.setTimeout(vendorSilenceMs, () =>
    onward.destroy(new Error(`the vendor has sent nothing for ${vendorSilenceMs / 60_000} minutes`)),
  );
}

/** An error in a format that clients of both vendors understand. */
function refuse(response: ServerResponse, status: number, message: string, type = 'gateway_error'): void {
  const error = { type, message };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
}
