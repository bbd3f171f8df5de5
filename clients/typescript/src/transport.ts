// Sends requests with a credential, a time limit, and a limited number of retries where a retry is safe.
import { ApiError, connectionError, errorOfResponse } from './errors.ts';

/** A bearer token, or a function that returns one; after a 401 it is called again with the rejected token. */
export type TokenSource = string | ((refused?: string) => string | Promise<string>);

export interface TransportSettings {
  /** The URL of the service without a path: `http://localhost:4000`. */
  url: string;
  token: TokenSource;
  /** How often a call is retried after a temporary failure; 2 by default. */
  retries?: number;
  /** Milliseconds until an attempt times out; 30,000 by default. */
  timeoutMs?: number;
  /** Headers that every request has. */
  headers?: Record<string, string>;
  fetch?: typeof fetch;
  /** Waits that many milliseconds; tests can replace it. */
  sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  /** The current time in epoch milliseconds. */
  now?: () => number;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Key of a POST or a mutation; by default one is generated for each call. */
  idempotencyKey?: string;
  retries?: number;
  timeoutMs?: number;
}

export interface Outgoing {
  method: string;
  /** The path with its query. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Whether a request that may have arrived can be sent again. */
  repeatable: boolean;
}

/** Maximum wait between two attempts. If the service asks for a longer wait, the call is not retried. */
const maxWaitMs = 60_000;
const firstWaitMs = 500;

export type Transport = ReturnType<typeof createTransport>;

export function createTransport(settings: TransportSettings) {
  const {
    token,
    sleep = pause,
    now = Date.now,
    retries: defaultRetries = 2,
    timeoutMs: defaultTimeoutMs = 30_000,
  } = settings;
  const send = settings.fetch ?? ((...request: Parameters<typeof fetch>) => fetch(...request));
  const url = settings.url.replace(/\/+$/, '');

  /** Sends a request once. @throws ApiError if no response arrives, or the reason with which the caller's signal was aborted */
  async function open(outgoing: Outgoing, signal: AbortSignal | undefined, refused?: string): Promise<Response> {
    const bearer = typeof token === 'string' ? token : await token(refused);
    const { method, path } = outgoing;
    let response: Response;
    try {
      response = await send(url + path, { ...initOf(outgoing, settings.headers, bearer), ...(signal && { signal }) });
    } catch (error) {
      throw withoutAnswer(error, `${method} ${url}${path.split('?', 1)[0]}`);
    }
    if (response.status !== 401 || typeof token === 'string' || refused !== undefined) return response;
    await response.body?.cancel();
    return open(outgoing, signal, bearer);
  }

  /** Returns the body of the response. Retries while that is safe and may help. `read` throws for a failed response. */
  async function request<T>(
    outgoing: Outgoing,
    options: CallOptions,
    read: (response: Response, body: unknown) => T = (_, body) => body as T,
  ): Promise<T> {
    const { signal, retries = defaultRetries, timeoutMs = defaultTimeoutMs } = options;
    for (let attempt = 0; ; attempt++) {
      try {
        signal?.throwIfAborted();
        const limit = AbortSignal.timeout(timeoutMs);
        // Without the listener, Node 20 would collect the limit as garbage: `AbortSignal.any` refers to its sources weakly.
        limit.addEventListener('abort', () => {});
        const response = await open(outgoing, signal ? AbortSignal.any([signal, limit]) : limit);
        const body = await bodyOf(response);
        if (!response.ok) throw errorOfResponse(response, body, now());
        return read(response, body);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const waitMs = attempt < retries ? waitBefore(error, attempt, outgoing.repeatable) : null;
        if (waitMs === null) throw error;
        await sleep(waitMs, signal);
      }
    }
  }

  return { url, open, request, sleep, now };
}

const initOf = ({ method, headers, body }: Outgoing, common: TransportSettings['headers'], bearer: string) => ({
  method,
  headers: {
    accept: 'application/json, application/problem+json',
    ...common,
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    authorization: `Bearer ${bearer}`,
  },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

/** Milliseconds to wait before the next attempt; null if there must be none. */
export function waitBefore(error: unknown, attempt: number, repeatable: boolean): number | null {
  if (!(error instanceof ApiError)) return null;
  // 409 with `Retry-After`: the first request with the same key is still running.
  const mayHelp = error.retryable || (error.status === 409 && error.retryAfterMs !== null);
  // The service refused the request before its execution.
  const isUntouched = error.status === 429 || error.code === 'too_busy';
  if (!mayHelp || !(repeatable || isUntouched)) return null;
  const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2);
  return waitMs > maxWaitMs ? null : waitMs;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw withoutAnswer(error, 'The answer');
  }
}

function withoutAnswer(error: unknown, what: string): ApiError {
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return connectionError('timed_out', `${what} took too long.`, error);
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  const reason = cause?.code ?? cause?.message ?? message ?? 'no connection';
  return connectionError('connection_failed', `${what} failed: ${reason}.`, error);
}

/** Rejects early when the signal is aborted. */
const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
