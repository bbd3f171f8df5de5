// The base of stand-ins for vendors: a loopback server that records each request, passes it to the vendor's stand-in, and fails on
// demand: with another response, with a response lost after the work, or without any response.
import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface Asked {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The parsed body: undefined without one, the text when it is not JSON. */
  body: unknown;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A buffer is sent unchanged, anything else as JSON. */
  body?: unknown;
}

export type Disturbance = Reply | 'lose the answer' | 'never answer';

/** Records a deviation from the vendor's published API. */
export type Violate = (what: string) => void;

/** `nameOf` names a request, so that a test can disturb the next one of its kind. */
export async function openStandIn(
  play: (asked: Asked, violate: Violate) => Promise<Reply>,
  nameOf: (asked: Asked) => string,
) {
  const asked: string[] = [];
  const violations: string[] = [];
  const disturbances: { name: string; by: Disturbance }[] = [];

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isForm = req.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const body = text === '' ? undefined : isForm ? text : JSON.parse(text);
    const request: Asked = { method: req.method!, url: req.url!, headers: req.headers, body };
    const name = nameOf(request);
    asked.push(name);
    const at = disturbances.findIndex((one) => one.name === name);
    const [disturbance] = at < 0 ? [] : disturbances.splice(at, 1);
    if (disturbance?.by === 'never answer') return;
    const violate: Violate = (what) => violations.push(`${name}: ${what}`);
    const played = () =>
      play(request, violate).catch((error): Reply => {
        violate(String(error));
        return { status: 500 };
      });
    const reply = typeof disturbance?.by === 'object' ? disturbance.by : await played();
    if (disturbance?.by === 'lose the answer') return void req.socket.destroy();
    const raw = Buffer.isBuffer(reply.body);
    const headers = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
    res.writeHead(reply.status, headers).end(raw ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    server,
    /** Names of the requests, in order. */
    asked,
    /** Deviations of requests from the vendor's published API. Must stay empty. */
    violations,
    /** Disturbs the next request that calls the operation with this name. */
    disturb(name: string, by: Disturbance): void {
      disturbances.push({ name, by });
    },
    forget(): void {
      for (const list of [asked, violations, disturbances]) list.length = 0;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
