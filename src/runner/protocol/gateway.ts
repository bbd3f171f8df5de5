// The only network access of an agent: its model calls and those to the platform's MCP server. The gateway adds the real credentials,
// which the agent never sees; the agent's key is valid only for its mission.
import { randomBytes } from 'node:crypto';
import {
  type Agent,
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
import { listenFor } from '../network/listen.ts';
import { sendOn } from './answers.ts';
import type { AdmittedCall, Meter } from './meter.ts';
import { countTokens, isPaid, readUsage } from './usage.ts';

/** Destination of requests, with credentials. */
export interface Upstream {
  /** Without a trailing slash. */
  base: string;
  headers: Record<string, string>;
  /** For addresses chosen by others. */
  agent?: Agent;
  /** Aborts pending requests. */
  signal?: AbortSignal;
  /** Why no request may be sent there. */
  refusal?: string | null;
  /** Called with the status of each response. */
  answered?(status: number): void;
}

export interface Upstreams {
  anthropic: Upstream | null;
  openai: Upstream | null;
  /** MCP servers by name. */
  mcp: Record<string, Upstream>;
}

/** The header for a vendor's key. */
export const keyHeader = (vendor: Vendor, key: string): Record<string, string> =>
  vendor === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };

/** The credentials of models from the environment. Null without a key and without a custom address. */
export function modelsFrom(env: NodeJS.ProcessEnv): Pick<Upstreams, 'anthropic' | 'openai'> {
  const of = (vendor: Vendor, address: string): Upstream | null => {
    const name = vendor.toUpperCase();
    const [key, base] = [env[`${name}_API_KEY`], env[`${name}_BASE_URL`]];
    if (!key && !base) return null;
    return { base: (base || address).replace(/\/+$/, ''), headers: key ? keyHeader(vendor, key) : {} };
  };
  return { anthropic: of('anthropic', 'https://api.anthropic.com'), openai: of('openai', 'https://api.openai.com/v1') };
}

/** Method and path, with the part of the path to forward. Anthropic's clients send /v1 themselves; OpenAI's base address contains it. */
const routes: [RegExp, keyof Upstreams][] = [
  [/^POST \/anthropic(\/v1\/messages(?:\/count_tokens)?)(\?[\w=&-]*)?$/, 'anthropic'],
  [/^POST \/openai\/v1(\/(?:responses|chat\/completions))()$/, 'openai'],
  [/^(?:GET|POST|DELETE) \/mcp\/([A-Za-z0-9_-]+)()$/, 'mcp'],
];

/** Headers of a single connection, and headers that the gateway replaces. */
const dropped = [
  'authorization',
  'x-api-key',
  'host',
  'connection',
  'keep-alive',
  'cookie',
  'proxy-authorization',
  // Responses are inspected.
  'accept-encoding',
  'te',
];

export interface Gateway {
  /** Sent as `x-api-key` or as bearer token. */
  key: string;
  /** The port when not listening on a socket. */
  port: number;
  close(): Promise<void>;
}

/** @param socket A path to listen on; null: a loopback port. @param meter Null: calls are not metered. */
export async function openGateway(
  upstreams: Upstreams,
  socket: string | null,
  meter: Meter | null = null,
): Promise<Gateway> {
  const key = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => {
    const presentedKey = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /i, '');
    if (presentedKey !== key) return refuse(response, 401, 'This is not the key of the mission.');
    const asked = `${request.method} ${request.url}`;
    const [match, name] =
      routes.map(([pattern, to]) => [pattern.exec(asked), to] as const).find(([found]) => found) ?? [];
    if (!match || !name) return refuse(response, 403, `${asked} is not allowed by the gateway.`);
    const isMcp = name === 'mcp';
    const upstream = isMcp ? ownOf(upstreams.mcp, match[1]!) : upstreams[name];
    if (!upstream) return refuse(response, 403, `The runner has no access to ${name}.`);
    if (upstream.refusal) return refuse(response, 403, upstream.refusal);
    const path = isMcp ? null : match[1]! + (match[2] ?? '');
    if (name !== 'mcp' && path && meter && isPaid(path))
      void forwardMetered(request, response, { vendor: name, ...upstream }, path, meter);
    else forward(request, response, upstream, path);
  });
  await listenFor(server, socket);
  return {
    key,
    port: socket ? 0 : (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ownOf = (servers: Record<string, Upstream>, name: string): Upstream | null =>
  Object.hasOwn(servers, name) ? servers[name]! : null;

/** Bytes of a model call: what the vendors take at most. */
const largestCall = 32 * 1024 * 1024;

/** Sends a model call on once the platform has reserved its price. */
async function forwardMetered(
  from: IncomingMessage,
  to: ServerResponse,
  upstream: Upstream & { vendor: Vendor },
  path: string,
  meter: Meter,
): Promise<void> {
  const left = new AbortController();
  to.on('close', () => left.abort());
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of from as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > largestCall) return refuse(to, 413, `A model call has at most ${largestCall} bytes.`);
      pieces.push(piece);
    }
    const body = Buffer.concat(pieces);
    const count = path.startsWith('/v1/messages') ? () => countTokens(from, upstream, body) : null;
    const call = await meter.admit(upstream.vendor, path, body, count, left.signal);
    if (left.signal.aborted) return call.end(null, 'refused');
    forward(from, to, upstream, path, call);
  } catch (error) {
    if (!left.signal.aborted)
      refuse(to, error instanceof SyntaxError ? 400 : 502, `The call cannot be metered: ${(error as Error).message}`);
  }
}

/**
 * @param path The path of a model call; null: for an MCP server, whose answers are not bounded here.
 * @param call A metered one, whose body has been read.
 */
function forward(
  from: IncomingMessage,
  to: ServerResponse,
  upstream: Upstream,
  path: string | null,
  call: AdmittedCall | null = null,
): void {
  const { base, headers, agent, signal, answered } = upstream;
  const url = new URL(base + (path ?? ''));
  const forwarded = Object.entries(from.headers).filter(
    ([name]) => !dropped.includes(name) && !(call && name === 'transfer-encoding'),
  );
  const options = {
    method: from.method,
    headers: {
      ...Object.fromEntries(forwarded),
      'accept-encoding': 'identity',
      ...(call && { 'content-length': String(call.body.length) }),
      ...headers,
    },
    agent,
    signal,
  };
  let isAnswered = false;
  const onward = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (answer) => {
    answered?.(answer.statusCode!);
    isAnswered = true;
    if (call) watchUsage(answer, call);
    if (path) return sendOn(answer, to, path, (message) => refuse(to, 400, message, 'invalid_request_error'));
    const { connection: _, 'set-cookie': __, ...forwardedHeaders } = answer.headers;
    to.writeHead(answer.statusCode!, forwardedHeaders);
    // Forwards an upstream abort.
    answer.on('error', () => to.destroy()).pipe(to);
  });
  const isSent = watchSending(onward);
  onward.on('error', (error) => {
    // An agent that leaves before the answer is no error of the vendor.
    if (!isAnswered) call?.end(to.destroyed ? null : 0, isSent() ? null : 'refused');
    if (to.headersSent) to.destroy();
    else refuse(to, 502, `The model cannot be reached: ${error.message}`);
  });
  to.on('close', () => onward.destroy());
  if (call) onward.end(call.body);
  else from.pipe(onward);
}

/** Whether any of a request may have left: it costs nothing without a connection, for which the name must resolve and TLS be verified. */
function watchSending(onward: ClientRequest): () => boolean {
  let isSent = false;
  onward.once('socket', (socket) => {
    isSent = !socket.connecting && !socket.destroyed;
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      isSent = true;
    });
  });
  return () => isSent;
}

/** Reports the tokens of the answer when it has ended, or breaks off. */
function watchUsage(answer: IncomingMessage, call: AdmittedCall): void {
  const isStream = /^text\/event-stream/.test(answer.headers['content-type'] ?? '');
  const usage = readUsage(isStream);
  answer.on('data', usage.read);
  answer.once('close', () =>
    call.end(answer.statusCode!, answer.statusCode! >= 400 ? 'refused' : usage.result(call.outputTokens)),
  );
}

/** An error in a format that clients of both vendors understand. */
function refuse(response: ServerResponse, status: number, message: string, type = 'gateway_error'): void {
  const error = { type, message };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
}
