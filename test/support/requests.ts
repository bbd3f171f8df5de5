// Requests over real HTTP, like those of any program. They use node:http, which takes a fifth of the time of fetch.
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { seconds } from '#foundation/clock.ts';
import { eventsOf } from './server-sent-events.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  body: any;
}

export interface Ask {
  /** A bearer secret. */
  token?: string;
  /** A session's cookie; the CSRF header is sent along. */
  session?: Session;
  body?: unknown;
  headers?: Record<string, string>;
  /** Requests events, reads the first one, and disconnects. */
  firstEvent?: true;
}

export interface Session {
  secret: string;
  csrf: string;
}

/** Idle connections are closed before the service closes them. */
const agent = new Agent({ keepAlive: true, timeout: seconds(2) });

/** Sends requests to a server, each with its credential. */
export const requestsTo =
  (url: string) =>
  async (method: string, path: string, ask: Ask = {}): Promise<Answer> => {
    const headers: Record<string, string | number> = { accept: '*/*', 'user-agent': 'node', ...ask.headers };
    if (ask.firstEvent && !ask.headers?.accept) headers.accept = 'text/event-stream';
    if (ask.token) headers.authorization = `Bearer ${ask.token}`;
    if (ask.session) {
      headers.cookie = `session=${ask.session.secret}`;
      headers['x-csrf-token'] = ask.session.csrf;
      headers['sec-fetch-site'] = 'same-origin';
    }
    const isText = typeof ask.body === 'string' || ask.body instanceof Uint8Array;
    const body = ask.body === undefined || isText ? (ask.body as string | undefined) : JSON.stringify(ask.body);
    if (body !== undefined) {
      headers['content-type'] ??= 'application/json';
      headers['content-length'] = Buffer.byteLength(body);
    }
    const response = await send(new URL(url + path), { method, headers, agent }, body);
    const answer = { status: response.statusCode!, headers: headersOf(response) };
    if (ask.firstEvent && answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const { data } of eventsOf({ body: response })) return { ...answer, body: data };
    }
    const raw = await textOf(response);
    const isJson = answer.headers.get('content-type')?.includes('json') && raw !== '';
    return { ...answer, body: isJson ? JSON.parse(raw) : raw };
  };

const send = (url: URL, options: RequestOptions, body?: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request(url, options);
    sent.on('response', (response) => {
      isAnswered = true;
      resolve(response);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The service has just closed the kept connection, so the request is sent once more (Node.js, `request.reusedSocket`).
      const isLeft = sent.reusedSocket && !isAnswered && ['ECONNRESET', 'EPIPE'].includes(error.code!);
      if (isLeft) send(url, options, body).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });

const textOf = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    response.setEncoding('utf8');
    response
      .on('data', (piece) => (text += piece))
      .on('end', () => resolve(text))
      .on('error', reject);
  });

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return headers;
}
