// One HTTP exchange: reads bodies within bounds; sends JSON, HTML, a redirect or an empty response.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import { lifetimesMs } from '#limits.ts';
import { seconds } from '../clock.ts';
import { refuseLoneSurrogates } from '../lone-surrogates.ts';
import { invalid, Problem, tooLarge, unsupportedMediaType } from '../problem.ts';
import { arrivalMs, ownCell } from './cells.ts';
import type { Refusal } from './refusal.ts';

/**
 * An idle connection stays open for longer than the 60 s after which common load balancers close it: otherwise a request that they send
 * while the service closes the connection would be lost. A connection that is opened before its first request may wait just as long for the
 * headers of that request.
 */
const keepAliveTimeout = seconds(65);
const headersTimeout = seconds(66);
/** Time limit for a body, except an upload. */
const bodyTimeoutMs = seconds(60);
/** How long the rest of a refused body is still read and discarded. */
const lingerMs = seconds(5);

/** Time limit for a client to read a response, or an event. */
export const deliveryMs = seconds(60);
/** Minimum speed of reading a large response, bytes per millisecond. */
const minBytesPerMs = 16;
/** Number of bytes that the buffers of a connection can hold. */
const buffered = 64 * 1024;

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The path of the request as received, without the query. */
  readonly path: string;
  /** The query of the request as received, without its question mark; empty when absent. */
  readonly search: string;
  readonly requestId: string;
  /** The id of the trace (W3C Trace Context): the caller's trace, or a new one; absent when nothing is traced. */
  traceId?: string | undefined;
  /** The client's address: the remote address of the socket, or the address that a trusted proxy reports. */
  readonly address: string;
  /** Name of the surface (src/surfaces) that handles the request. */
  surface?: string;
  /** Route template and id of the credential, for the log line and the metrics: never a secret, and never a path with ids. */
  route?: string;
  credentialId?: string;
  /** Scopes of the caller. A 403 response lists them in its `WWW-Authenticate` header. */
  scopes?: ReadonlySet<string>;
  /** The caller; absent until the request is authenticated. */
  caller?: unknown;
  /** The first refusal of this request, for the audit log. */
  refusal?: Refusal;
  /** Reads the refusal from the database after the response was sent, so that the response time does not reveal the result. */
  findRefusal?: () => Promise<Refusal | undefined>;
}

export type Handler = (exchange: Exchange) => Promise<void> | void;

/** The HTTP server of the service, with limits for each connection; not listening yet. */
export function createHttpServer(handle?: RequestListener): Server {
  // The time limit is that of the slowest permitted request: the transfer of an organization file from another cell or, in a standalone
  // installation, the upload of a file. `readBody` sets shorter limits for other bodies.
  const requestTimeout = ownCell() === null ? lifetimesMs.uploadAddress : arrivalMs;
  const server = createServer({ keepAliveTimeout, headersTimeout, requestTimeout });
  if (handle) server.on('request', handle);
  return server;
}

/**
 * Time between the announcement of a shutdown in responses and the moment when the server accepts no more connections; also the interval of
 * the checks for idle connections after that.
 */
const drainPollMs = 100;
/** Maximum duration of the shutdown; connections that are still open then are closed. */
const drainMs = seconds(10);

/**
 * Returns a function that closes the server: every later response tells its client to close the connection, and open requests are finished.
 */
export function prepareDrain(server: Server): () => Promise<void> {
  // Only the newest response of a connection can be open. A set of all open responses would cost a quarter of the CPU of a small request.
  const newest = new Map<Socket, ServerResponse>();
  let closing = false;
  const closeAfter = (res: ServerResponse) => void (res.headersSent || res.setHeader('connection', 'close'));
  server.on('connection', (socket) => socket.once('close', () => newest.delete(socket)));
  server.prependListener('request', ({ socket }, res) => {
    newest.set(socket, res);
    if (closing) closeAfter(res);
  });
  return async () => {
    closing = true;
    for (const res of newest.values()) closeAfter(res);
    await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    const closed = new Promise((resolve) => server.close(resolve));
    // Responses whose headers were already sent leave their connections open, so idle connections are closed here.
    const idle = setInterval(() => server.closeIdleConnections(), drainPollMs);
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearInterval(idle);
    clearTimeout(late);
  };
}

export type Headers = Record<string, string | string[]>;

/** Ends the exchange. A body is sent with its length; the response to HEAD has only headers. */
export function answer({ req, res }: Exchange, status: number, body?: string | Buffer, headers: Headers = {}): void {
  if (body !== undefined) res.setHeader('content-length', Buffer.byteLength(body));
  else if (status !== 204 && status !== 304) res.setHeader('content-length', 0);
  res.writeHead(status, headers);
  if (body !== undefined && body.length > buffered) disconnectAfter(res, deliveryMs + body.length / minBytesPerMs);
  res.end(req.method === 'HEAD' ? undefined : body);
}

/** Disconnects a client that has not read the whole response within this time. */
export function disconnectAfter(res: ServerResponse, milliseconds: number): void {
  const late = setTimeout(() => res.destroy(), milliseconds);
  res.once('close', () => clearTimeout(late));
}

export const jsonType = 'application/json; charset=utf-8';

export const answerJson = (exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void =>
  answer(exchange, status, JSON.stringify(value), { 'content-type': jsonType, ...headers });

export const answerHtml = (exchange: Exchange, status: number, html: string, headers: Headers = {}): void =>
  answer(exchange, status, html, { 'content-type': 'text/html; charset=utf-8', ...headers });

/** Sends a page that contains no data of a caller: browsers cache it, and revalidate it. */
export const answerPublicHtml = (exchange: Exchange, html: string, policy: string): void =>
  answerHtml(exchange, 200, html, {
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
    'cache-control': 'no-cache',
  });

/** Redirects the browser with a 303, the response to a form. */
export const redirect = (exchange: Exchange, location: string, headers: Headers = {}): void =>
  answer(exchange, 303, undefined, { location, ...headers });

/**
 * Reads the body; with `kept`, returns only its first `kept` bytes. @param each Gets the whole body, chunk by chunk. @throws 413 as soon as
 * the body is too large, 415 for a compressed body; a slow sender is disconnected
 */
export async function readBody(
  { req }: Exchange,
  limit: number,
  { kept = limit, each }: { kept?: number; each?: (part: Buffer) => void } = {},
): Promise<Buffer> {
  if ((req.headers['content-encoding'] || 'identity').toLowerCase() !== 'identity') {
    throw unsupportedMediaType.field('Content-Encoding', 'must be absent: send the body uncompressed', {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  if (Number(req.headers['content-length'] ?? 0) > limit) {
    discardRest(req);
    throw tooLarge(limit);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const late = setTimeout(() => req.destroy(invalid('The body did not arrive in time.')), bodyTimeoutMs);
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      each?.(chunk);
      if (size <= kept) chunks.push(chunk);
    }
  } catch (error) {
    discardRest(req);
    // A client that disconnects, during or after its request, is not a failure of the service.
    throw error instanceof Problem ? error : invalid('The connection ended before the whole body arrived.');
  } finally {
    clearTimeout(late);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/**
 * Reads and discards the rest of a refused body for a moment: if the connection was closed while the client sends, the client might lose the
 * response (RFC 9112 §9.6).
 */
function discardRest(req: IncomingMessage): void {
  const late = setTimeout(() => req.socket.destroy(), lingerMs);
  finished(req, () => clearTimeout(late));
  req.resume();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Checks that the body is UTF-8. @throws 415 for another charset */
export function requireUtf8(headers: IncomingHttpHeaders): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw unsupportedMediaType.field('Content-Type', 'must be UTF-8');
  }
}

/** The body as text. @throws 400 for bytes that are not UTF-8, 415 for another charset */
export async function readText(exchange: Exchange, limit: number): Promise<string> {
  requireUtf8(exchange.req.headers);
  const body = await readBody(exchange, limit);
  try {
    return utf8.decode(body);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

/** The media type without its parameters, lower case; empty when there is none. */
export const mediaType = ({ req }: Exchange): string =>
  (req.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

const isJson = (type: string): boolean => type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);

/** A JSON body. An empty one is undefined. @throws 415 for another media type, 400 for invalid JSON */
export async function readJson(exchange: Exchange, limit: number): Promise<unknown> {
  const text = await readText(exchange, limit);
  const type = mediaType(exchange);
  if (text.trim() === '') return undefined;
  if (type !== '' && !isJson(type)) throw unsupportedMediaType('Send the body as application/json.');
  const value = parseJson(text);
  if (value === undefined) throw invalid('The body is not valid JSON.');
  return value;
}

/** The parsed text; undefined for text that is not JSON. @throws 400 for a text with a lone surrogate */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  refuseLoneSurrogates(text, value);
  return value;
}

/** A form body with its parameters in order; the caller handles repeated ones. */
export const readForm = async (exchange: Exchange, limit: number): Promise<URLSearchParams> =>
  new URLSearchParams(await readText(exchange, limit));
