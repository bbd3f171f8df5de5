// `fetch` for libraries, over the checked connections of outbound.ts: follows no redirect, and limits size, time and hosts over all
// requests of one operation.
import { Readable } from 'node:stream';
import { OutboundError, type OutboundRequest, openResponse, readUpTo } from './outbound.ts';

export interface FetchLimits {
  /** Maximum size of one body in bytes. The body is streamed; reading it fails once this size is exceeded. */
  maxBytes: number;
  /** Signal that aborts all pending requests. */
  signal: AbortSignal;
  /** Whether requests to a host are allowed; outbound.ts checks the rest. */
  mayReach(hostname: string): boolean;
}

/** The error for a host that is not allowed, thrown before anything is sent. */
export class HostNotAllowed extends OutboundError {
  override name = 'HostNotAllowed';
  readonly hostname: string;

  constructor(hostname: string) {
    super(`${hostname} is not an allowed host`);
    this.hostname = hostname;
  }
}

type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Creates a `fetch` with these limits. It throws an OutboundError, from the call or while the body is read. */
export const boundedFetch =
  ({ maxBytes, signal, mayReach }: FetchLimits): FetchLike =>
  async (input, init = {}) => {
    const url = new URL(input);
    if (!mayReach(url.hostname)) throw new HostNotAllowed(url.hostname);
    const response = await openResponse(url.href, {
      signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal,
      method: (init.method ?? 'GET') as NonNullable<OutboundRequest['method']>,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.body != null && { text: String(init.body) }),
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(response.headers)) {
      for (const one of [value ?? []].flat()) headers.append(name, one);
    }
    const status = response.statusCode!;
    if (status === 204 || status === 205 || status === 304) {
      response.resume();
      return new Response(null, { status, headers });
    }
    return new Response(Readable.toWeb(Readable.from(readUpTo(maxBytes, response))) as BodyInit, { status, headers });
  };
