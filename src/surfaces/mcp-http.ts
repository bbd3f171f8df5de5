// MCP messages over HTTP, stateless (MCP 2025-03-26 to 2026-07-28), for the surfaces that are MCP servers: the official SDK
// implements the protocol, with one server object per request. Each surface identifies the caller itself.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  type Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { minutes } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import {
  answer,
  answerJson,
  type Exchange,
  type Headers,
  mediaType,
  parseJson,
  readText,
} from '#foundation/http/http.ts';
import { watch } from '#foundation/postgres/changes.ts';
import { forbidden, invalid, methodNotAllowed, unsupportedMediaType } from '#foundation/problem.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import { bytes, mcp } from '#limits.ts';

/** How long a stream of changes (`subscriptions/listen`) stays open. */
const listenMs = minutes(5);

export interface McpHttp<Asked> {
  /** Creates the server object for one request. */
  serverOf(asked: Asked): Server;
  /** Counts the further messages of a batch against the caller's rate. @throws 429 */
  meter(exchange: Exchange, asked: Asked, messages: number): Promise<void>;
  /** Records an internal error (5xx) with its cause. */
  report(exchange: Exchange, error: unknown): void;
  /**
   * Checks a message before it is served. If a message of a batch is refused, the refusal becomes the response to that message. @throws 4xx
   */
  check?(asked: Asked, message: unknown): void;
  /** The response to a message that needs no server; undefined for every other message. */
  answerPlainly?(asked: Asked, message: unknown): Promise<object> | undefined;
  /** Whether the response to a message is a stream of events, so that notifications can precede the result. */
  isStreamed?(message: unknown): boolean;
}

/**
 * Creates a handler for requests whose caller is known, and for which one message was already counted against the caller's rate. @throws
 * 4xx for a malformed request
 */
export function createMcpHttp<Asked>(settings: McpHttp<Asked>) {
  const { serverOf, meter, report, check, answerPlainly, isStreamed } = settings;
  const asked = new WeakMap<Request, Asked>();
  // Protocol versions from 2026-07-28 on.
  const modern = createMcpHandler(({ requestInfo }) => serverOf(asked.get(requestInfo!)!), { legacy: 'reject' });

  async function respond(exchange: Exchange, request: Request, body: unknown, who: Asked): Promise<void> {
    if (!(await isLegacyRequest(request, body))) {
      asked.set(request, who);
      return send(exchange, await modern.fetch(request, { parsedBody: body }), report);
    }
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStreamed?.(body) });
    const server = serverOf(who);
    await server.connect(transport);
    // The work for this request ends when the client disconnects.
    exchange.res.once('close', () => void server.close());
    await send(exchange, await transport.handleRequest(request, { parsedBody: body }), report);
    await server.close();
  }

  return async (exchange: Exchange, url: string, who: Asked): Promise<void> => {
    const { req, res } = exchange;
    // Only POST is allowed: without sessions, a GET has no stream to open and a DELETE no session to end.
    if (req.method !== 'POST') throw methodNotAllowed('POST');
    if (mediaType(exchange) !== 'application/json')
      throw unsupportedMediaType('Send the messages as application/json.');
    const body = parseJson(await readText(exchange, bytes.jsonBody));
    if (body === undefined) return answerJson(exchange, 400, unparsable, uncached);
    if (Array.isArray(body)) {
      if (body.length > mcp.messagesPerBatch)
        throw invalid(`A batch can have at most ${mcp.messagesPerBatch} messages.`);
      if (body.length > 1) await meter(exchange, who, body.length - 1);
    } else {
      check?.(who, body);
      const answered = await answerPlainly?.(who, body);
      if (answered) return answerJson(exchange, 200, answered, { 'content-type': 'application/json', ...uncached });
    }
    const left = new AbortController();
    res.once('close', () => left.abort());
    const isListening = (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
    const hold = isListening ? await listeners.take(exchange.credentialId!) : null;
    const signal = isListening ? withTimeLimit(left.signal, listenMs) : left.signal;
    // A listening stream also ends when the process stops.
    if (isListening) void ended(signal).then(() => left.abort());
    const request = new Request(url, { method: 'POST', headers: spoken(req.headers), signal });
    await respond(exchange, request, body, who).finally(() => hold?.release());
  };
}

const uncached = { 'cache-control': 'no-store' };

/** Resolves when the signal is aborted or the process ends. */
async function ended(signal: AbortSignal): Promise<void> {
  for await (const _ of watch([], signal));
}

/** No subscribable resource ever changes, so a stream is acknowledged and then stays silent. The number of streams is limited. */
const listeners = createCapacity({
  name: 'mcp_streams',
  all: 200,
  perKey: 2,
  description: 'Too many streams of changes are open.',
});

async function send(exchange: Exchange, response: Response, report: McpHttp<unknown>['report']): Promise<void> {
  const type = response.headers.get('content-type');
  const headers: Headers = { ...(type && { 'content-type': type }), 'cache-control': 'no-store' };
  if (type?.startsWith('text/event-stream') && response.body) {
    // Proxies must not buffer the events. The connection closes after the last event, because an open connection would delay the end of the
    // process.
    exchange.res.writeHead(response.status, { ...headers, 'x-accel-buffering': 'no', connection: 'close' });
    // The error of a broken pipeline is ignored: the client has disconnected.
    return pipeline(Readable.fromWeb(response.body as never), exchange.res).catch(() => {});
  }
  const text = await response.text();
  if (response.status >= 500) report(exchange, new Error(`the MCP server failed: ${text}`));
  answer(exchange, response.status, text || undefined, headers);
}

const unparsable = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_700, message: 'Parse error: the body is not valid JSON.' },
};

/** The headers that the protocol reads. The credential is not passed on. */
const spoken = (headers: Exchange['req']['headers']): [string, string][] =>
  Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (/^(accept|content-type)$/.test(entry[0]) || entry[0].startsWith('mcp-')),
  );

/**
 * Prevents DNS rebinding (MCP, Transports: Security Warning): pages of foreign sites have no access. Such a page may use a host name that
 * resolves to the person's own machine, so the Host is checked too.
 */
export function originGuard(url: string): (exchange: Exchange) => void {
  const { hostname } = new URL(url);
  const isLocal = localhostAllowedHostnames().includes(hostname);
  const allowed = [hostname, new URL(addresses().issuer).hostname, ...(isLocal ? localhostAllowedHostnames() : [])];
  return ({ req }) => {
    if (!validateOriginHeader(req.headers.origin, allowed).ok)
      throw forbidden('Requests from this Origin are not allowed.');
    if (isLocal && !validateHostHeader(req.headers.host, allowed).ok) {
      throw forbidden(`The Host must be ${[...new Set(allowed)].join(' or ')}.`);
    }
  };
}
