// GraphQL subscriptions as server-sent events ("GraphQL over SSE", distinct connections mode).
import { ApiError, connectionError, createError, errorOfResponse, isProblem } from './errors.ts';
import { type CallOptions, type Transport, waitBefore } from './transport.ts';

interface Event {
  name: string;
  data: string;
}

export interface GraphQLAnswer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions?: { problem?: unknown } }[];
}

/** Time without data after which a connection counts as lost, because the service sends a ping every 12 seconds. */
const maxSilenceMs = 45_000;

/** The data of a response. @throws ApiError for the first error of the response */
export function dataOf({ data, errors }: GraphQLAnswer, response: Response): Record<string, unknown> {
  const [first] = errors ?? [];
  if (!first && data) return data;
  const problem = first?.extensions?.problem;
  const unknown = { category: 'unknown', title: 'GraphQL error', retryable: false } as const;
  throw createError({
    status: response.ok ? null : response.status,
    body: isProblem(problem) ? problem : { ...unknown, description: first?.message ?? 'The answer has no data.' },
    requestId: response.headers.get('x-request-id'),
  });
}

/**
 * The events of a subscription until the service completes it. A lost connection is opened again, with the current variables, until more
 * than `retries` attempts in a row have failed.
 */
export async function* subscribe(
  transport: Transport,
  query: string,
  variables: () => Record<string, unknown>,
  { signal, retries = 5 }: CallOptions,
): AsyncGenerator<Record<string, unknown>> {
  for (let failures = 0; ; failures++) {
    try {
      for await (const data of connect(transport, query, variables(), signal)) {
        failures = 0;
        yield data;
      }
      return;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const waitMs = failures < retries ? waitBefore(error, failures, true) : null;
      if (waitMs === null) throw error;
      await transport.sleep(waitMs, signal);
    }
  }
}

/** The events of one connection. @throws ApiError for a connection that ends before the subscription is complete */
async function* connect(
  transport: Transport,
  query: string,
  variables: Record<string, unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Record<string, unknown>> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), maxSilenceMs);
  };
  listen();
  const both = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  try {
    const headers = { accept: 'text/event-stream' };
    const body = { query, variables };
    const response = await transport.open({ method: 'POST', path: '/graphql', headers, body, repeatable: true }, both);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const answer = (await response.json().catch(() => null)) as GraphQLAnswer | null;
      if (answer?.errors) dataOf(answer, response);
      throw errorOfResponse(response, answer, transport.now());
    }
    for await (const { name, data } of eventsOf(response, listen)) {
      if (name === 'complete') return;
      if (name === 'next') yield dataOf(JSON.parse(data) as GraphQLAnswer, response);
    }
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    throw connectionError('connection_failed', 'The connection was lost.', error);
  } finally {
    clearTimeout(timer);
    // When the reader stops, the connection is closed.
    silence.abort();
  }
  throw connectionError('connection_failed', 'The connection ended before the subscription did.', undefined);
}

/** The events of a response (WHATWG HTML, section 9.2); `onBytes` is called for comments too. */
async function* eventsOf(response: Response, onBytes: () => void): AsyncGenerator<Event> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    text += decoder.decode(value, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop()!;
    for (const block of blocks) {
      const values = (field: string) =>
        block
          .split(/\r?\n/)
          .flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).trimStart()] : []));
      const [name] = values('event');
      if (name) yield { name, data: values('data').join('\n') };
    }
  }
}
