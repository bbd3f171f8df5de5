// Sends requests to URLs that callers may have chosen, and prevents server-side request forgery (RFC 9700; CIMD draft, security): it
// resolves host names itself, checks every address against the IANA special-purpose registries (RFC 6890), and connects to a checked
// address, which defeats DNS rebinding. It follows no redirects, uses no proxy, and limits size and time.
import { lookup as systemLookup, resolveTxt as systemResolveTxt } from 'node:dns/promises';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refuseInTransaction } from '../postgres/database.ts';
import { isShowingFile } from '../read-only.ts';
import { beginOutbound, endWithBody } from '../tracing/outbound.ts';
import { failWith } from '../tracing/tracing.ts';
import { isLoopbackAddress, isPublicAddress } from './ip-addresses.ts';

export interface OutboundSettings {
  /** Whether loopback addresses are allowed, over http too and on any port: for development and tests only. */
  allowLoopback: boolean;
  /** Ports that are allowed in addition to 443. */
  extraPorts?: readonly number[];
  /** PEM certificates to trust instead of the system's. */
  ca?: string;
  /** Resolves host names; absent means that the operating system resolves them. */
  resolve?: (host: string) => Promise<Resolved[]>;
  /** Reads TXT records; absent means that the name servers in the operating system's settings are asked. */
  resolveTxt?: (name: string) => Promise<string[][]>;
}

export interface Resolved {
  address: string;
  family: number;
}

let bound: OutboundSettings = { allowLoopback: false };

export function openOutbound(settings: OutboundSettings): void {
  bound = settings;
}

/** An outbound request was not allowed or failed. The message is for logs only: it may reveal addresses of the internal network. */
export class OutboundError extends Error {
  override name = 'OutboundError';
}

export class ResponseTooLarge extends OutboundError {
  override name = 'ResponseTooLarge';
}

export interface OutboundRequest {
  maxBytes: number;
  /** Signal that aborts the request at any stage. */
  signal: AbortSignal;
  /** The HTTP method; absent means GET. */
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The headers; the keys are header names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Body that is sent as JSON. */
  json?: unknown;
  /** Body that is sent unchanged, instead of `json`. */
  text?: string;
  /** Body that is streamed, instead of `json` or a text; its length must be in the headers. */
  content?: AsyncIterable<Uint8Array>;
}

export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

export interface Fetched {
  status: number;
  headers: IncomingHttpHeaders;
  /** The parsed body; undefined when the response is not JSON. */
  body: unknown;
}

export interface FetchBounds {
  maxBytes: number;
  timeoutMs: number;
  accept?: string;
}

/** Sends a GET request. @throws OutboundError as `sendRequest` does */
export async function fetchJson(address: string, { maxBytes, timeoutMs, accept }: FetchBounds): Promise<Fetched> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await sendRequest(address, { maxBytes, signal, headers: { accept: accept ?? 'application/json' } });
  return { status: response.status, headers: response.headers, body: jsonOf(response) };
}

/** Returns any response, including a redirect. @throws OutboundError when the URL is not allowed or the server does not respond */
export async function sendRequest(address: string, request: OutboundRequest): Promise<OutboundResponse> {
  const response = await openResponse(address, request);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of readUpTo(request.maxBytes, response)) chunks.push(chunk);
    return { status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) };
  } catch (error) {
    throw outboundErrorOf(address, error);
  }
}

/** Sends a request as `sendRequest` does and returns the response with its body unread: read it with `readUpTo`. */
export async function openResponse(
  address: string,
  request: Omit<OutboundRequest, 'maxBytes'>,
): Promise<IncomingMessage> {
  refuseInTransaction('a request to another service');
  const span = beginOutbound(address, request.method);
  try {
    request.signal.throwIfAborted();
    const url = new URL(address);
    const pinned = await within(request.signal, () => addressesOf(url));
    const headers = span ? { ...request.headers, ...span.context() } : request.headers;
    const response = await send(url, pinned, { ...request, ...(headers && { headers }) });
    if (span) endWithBody(span, response);
    return response;
  } catch (error) {
    const failure = outboundErrorOf(address, error);
    if (span) failWith(span, failure.cause ?? failure);
    span?.end();
    throw failure;
  }
}

function outboundErrorOf(address: string, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  return new OutboundError(`${address.slice(0, 200)}: ${(error as Error).message}`, { cause: error });
}

/** Resolves the host of a URL for a later request. @throws OutboundError when the URL is not allowed */
export async function checkAddress(address: string, signal: AbortSignal): Promise<void> {
  refuseInTransaction('a DNS lookup');
  try {
    await within(signal, () => addressesOf(new URL(address)));
  } catch (error) {
    throw outboundErrorOf(address, error);
  }
}

/** Error codes which mean that a name has no TXT record. All other error codes mean that the name servers failed. */
const withoutRecord = new Set(['ENOTFOUND', 'ENODATA']);

/** The TXT records of a name, each with its parts joined; empty without records. @throws OutboundError when name servers fail */
export async function readTxtRecords(name: string, signal: AbortSignal): Promise<string[]> {
  refuseInTransaction('a DNS lookup');
  try {
    const records = await within(signal, () => (bound.resolveTxt ?? systemResolveTxt)(name));
    return records.map((parts) => parts.join(''));
  } catch (error) {
    if (withoutRecord.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw outboundErrorOf(name, error);
  }
}

/** Checks the text of a URL to which requests are sent only later. The name of the host is not resolved. @throws OutboundError */
export function checkAddressText(address: string): void {
  try {
    requireAllowed(new URL(address), literalOf(new URL(address)));
  } catch (error) {
    throw outboundErrorOf(address, error);
  }
}

/** The resolved IP addresses of the host. @throws OutboundError when one of them is not allowed */
async function addressesOf(url: URL): Promise<Resolved[]> {
  const found = isIP(hostOf(url)) ? literalOf(url) : await (bound.resolve ?? resolve)(hostOf(url));
  if (found.length === 0) throw new OutboundError(`${hostOf(url)} does not resolve to an IP address`);
  requireAllowed(url, found);
  return found;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
/** The IP address, if the host is one; empty if it is a name. */
const literalOf = (url: URL): Resolved[] =>
  isIP(hostOf(url)) ? [{ address: hostOf(url), family: isIP(hostOf(url)) }] : [];

/** Checks that requests to the URL may be sent. @throws OutboundError */
function requireAllowed({ protocol, hostname, port, username, password }: URL, found: Resolved[]): void {
  if (username || password) throw new OutboundError('a URL with a username is not allowed');
  if (bound.allowLoopback && found.every((one) => isLoopbackAddress(one.address)) && /^https?:$/.test(protocol)) return;
  const refused = found.find((one) => !isPublicAddress(one.address));
  if (refused) throw new OutboundError(`${hostname} is at ${refused.address}, which is not public`);
  if (protocol !== 'https:') throw new OutboundError(`${protocol} is not allowed`);
  const number = port === '' ? 443 : Number(port);
  if (number !== 443 && !bound.extraPorts?.includes(number)) throw new OutboundError(`port ${number} is not allowed`);
}

const resolve = (host: string): Promise<Resolved[]> => systemLookup(host, { all: true });
function within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (isShowingFile()) throw new OutboundError('this service only shows an organization file and sends no requests');
  return new Promise((done, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    work().then(done, fail);
  });
}

function send(
  url: URL,
  pinned: Resolved[],
  {
    signal,
    method,
    json,
    text = json === undefined ? undefined : JSON.stringify(json),
    content,
    headers: callerHeaders,
  }: Omit<OutboundRequest, 'maxBytes'>,
): Promise<IncomingMessage> {
  const lookup = ((_host, { all }, done) =>
    all ? done(null, pinned) : done(null, pinned[0]!.address, pinned[0]!.family)) as LookupFunction;
  const headers = {
    'accept-encoding': 'identity',
    'user-agent': 'agent-engineering-platform',
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...callerHeaders,
  };
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((done, fail) => {
    // Without an HTTP agent, the request cannot reuse a pooled connection to another address.
    const options = { agent: false, method, lookup, headers, signal, ...(bound.ca && { ca: bound.ca }) };
    const sent = request(url, options, done).on('error', fail);
    if (content) pipeline(Readable.from(content), sent).catch(fail);
    else sent.end(text);
  });
}

/** The chunks of a body. @throws ResponseTooLarge beyond the limit */
export async function* readUpTo(limit: number, response: IncomingMessage): AsyncGenerator<Buffer> {
  let size = 0;
  // Breaking out of this loop over the response closes the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new ResponseTooLarge(`the response is larger than ${limit} bytes`);
    yield chunk;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The parsed body; undefined when it is not JSON. */
export function jsonOf({ headers, bytes }: Pick<OutboundResponse, 'headers' | 'bytes'>): unknown {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}
