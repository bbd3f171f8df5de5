// What stands in for a vendor: a loopback server that notes each request, passes it to what plays the vendor, and can be told to
// fail: to answer something else, to do as it is asked and lose the answer, or not to answer at all.
import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface Asked {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Undefined when there is none; the text when it is not JSON. */
  body: unknown;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A buffer goes as it is, anything else as JSON. */
  body?: unknown;
}

export type Disturbance = Reply | 'lose the answer' | 'never answer';

/** Notes what the vendor has not published that way. */
export type Violate = (what: string) => void;

/** `nameOf` says what a request is, for those who want to disturb the next of a kind. */
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
    /** The names of what was asked, in turn. */
    asked,
    /** What a request had that the vendor has not published that way. Must stay empty. */
    violations,
    /** The next request of that name goes wrong. */
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
