// The only network access of a cell or container: an HTTP proxy (RFC 9110 §9.3.6 CONNECT, and absolute-form requests) on a Unix socket. It
// connects only to hosts of the policy; it resolves their names itself and connects to the address that it has checked.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onAnswer } from './answer.ts';
import { maxHelloBytes, readServerName } from './client-hello.ts';
import type { Connection, Phase, Verdict } from './connections.ts';
import { type Dialer, openDialer, Refusal, type RouteSettings } from './dialer.ts';
import { type Interception, intercept } from './intercept.ts';
import { listenOn } from './listen.ts';
import { allows, canonicalHost, inUrl, type NetworkPolicy } from './policy.ts';
import { openProgramSearch } from './program.ts';

/** The current phase of the step, and its network policy. */
export interface Reach {
  phase: Phase;
  policy: NetworkPolicy;
}

export interface EgressProxy {
  /** Changes the rules for new connections; open connections continue. */
  set(reach: Reach): void;
  close(): Promise<void>;
}

/** Maximum number of concurrent connections of a mission; time limits for request headers, and for idle connections. */
const [maxConnections, headersTimeoutMs, idleTimeoutMs] = [256, 10_000, 10 * 60_000];

type Recorded = Omit<Connection, 'program'>;

/** Opens the proxy for the programs of a mission. @param interception Null if there are no secrets for hosts. */
export async function openEgressProxy(
  socket: string,
  record: (connection: Connection) => void,
  settings: RouteSettings,
  interception: Interception | null = null,
  headersTimeout = headersTimeoutMs,
): Promise<EgressProxy> {
  let reach: Reach = { phase: 'agent', policy: { mode: 'none', hosts: [] } };
  const dialer = openDialer(settings);
  const sockets = new Set<Duplex>();
  const options = { headersTimeout, requestTimeout: 0, connectionsCheckingInterval: Math.min(headersTimeout, 1_000) };
  const programs = new WeakMap<Duplex, string>();
  const recordOf = (client: Duplex) => (one: Recorded) => record({ ...one, program: programs.get(client) ?? null });
  const search = openProgramSearch(socket);
  const server = createServer(options, (from, to) => void sendOn(from, to, reach, dialer, recordOf(from.socket)));
  server.maxConnections = maxConnections;
  const [serve] = server.listeners('connection') as [(client: Socket) => void];
  server.removeAllListeners('connection').on('connection', (client) => {
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    client.on('error', () => {});
    client.setTimeout(idleTimeoutMs, () => client.destroy());
    search(client, (program) => {
      if (program) programs.set(client, program);
      serve.call(server, client);
    });
  });
  server.on(
    'connect',
    (from, client, head) => void tunnel(from, client as Socket, head, reach, dialer, recordOf(client), interception),
  );
  await listenOn(server, socket);
  return {
    set(next) {
      reach = next;
    },
    async close() {
      for (const client of sockets) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The host and port of a request, if the policy allows them. @throws Refusal */
function checked(name: string, port: number, { policy }: Reach): string {
  const host = canonicalHost(name);
  if (!host || !(port > 0 && port < 65_536))
    throw new Refusal('blocked', name.slice(0, 253), 'the target is not a host and port');
  // Policies list only host names, because an IP address does not prove which host it belongs to.
  if ((isIP(host) > 0 && policy.mode !== 'open') || !allows(policy, host, port))
    throw new Refusal('blocked', host, 'the network policy does not allow this host');
  return host;
}

const refusalOf = (error: unknown, host: string): Refusal =>
  error instanceof Refusal ? error : new Refusal('failed', host, (error as Error).message);

const explain = ({ host, verdict, message }: Refusal, port: number): string =>
  `${host}:${port} was not reached (${verdict}): ${message}.\n`;

async function tunnel(
  { url }: IncomingMessage,
  client: Socket,
  head: Buffer,
  reach: Reach,
  dialer: Dialer,
  record: (connection: Recorded) => void,
  interception: Interception | null,
): Promise<void> {
  const [, name = '', portText] = /^(.*):(\d{1,5})$/.exec(url ?? '') ?? [];
  const [port, { phase }] = [Number(portText ?? 0), reach];
  const refuse = (error: unknown, verdictHost = name): void => {
    const refusal = refusalOf(error, verdictHost);
    record({ host: refusal.host, port, phase, verdict: refusal.verdict, sentBytes: 0, receivedBytes: 0 });
    const body = explain(refusal, port);
    const status = refusal.verdict === 'failed' ? '502 Bad Gateway' : '403 Forbidden';
    client.end(
      `HTTP/1.1 ${status}\r\nx-egress: ${refusal.verdict}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  };
  try {
    const host = checked(name, port, reach);
    const onward = await dialer.connect(host, port);
    let refused: string | undefined;
    let verdict: Verdict = 'allowed';
    onward.once('close', () => {
      const { bytesWritten: sentBytes, bytesRead: receivedBytes } = onward;
      record({ host: refused || host, port, phase, verdict, sentBytes, receivedBytes });
    });
    const close = () => {
      client.destroy();
      onward.destroy();
    };
    client.on('error', close).once('close', close);
    onward.on('error', close).setTimeout(idleTimeoutMs, close);
    if (client.destroyed) return close();
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const isNamed = interception?.secrets.covers(host, port) ?? false;
    if (!isNamed) onward.pipe(client);
    inspect(client, head, host, port, reach, (first, otherName) => {
      const isTls = readServerName(first) !== null;
      refused = otherName;
      if (refused !== undefined) {
        verdict = 'blocked';
        return close();
      }
      if (isNamed && isTls) {
        client.unshift(first);
        return intercept(client, onward, { host, port, idleTimeoutMs }, interception!, () => {
          verdict = 'untrusted';
        });
      }
      if (isNamed) onward.pipe(client);
      onward.write(first);
      client.pipe(onward);
    });
  } catch (error) {
    refuse(error);
  }
}

/** The refused server name in the first bytes; empty if the name is missing or unreadable; undefined if the bytes may be forwarded. */
function otherNameIn(first: Buffer, host: string, port: number, { policy }: Reach): string | undefined {
  // An open policy allows every public host, so the name does not matter.
  if (policy.mode === 'open') return undefined;
  const found = readServerName(first);
  if (found === 'more') return '';
  // A connection without a server name is refused only on port 443, because connections to other ports may use protocols other than TLS.
  if (!found) return port === 443 ? '' : undefined;
  const name = found.name && canonicalHost(found.name);
  return name === '' || name === host ? undefined : (name ?? '');
}

/** Buffers the first bytes of a client until the server name in these bytes can be checked. */
function inspect(
  client: Socket,
  head: Buffer,
  host: string,
  port: number,
  reach: Reach,
  done: (first: Buffer, otherName: string | undefined) => void,
): void {
  let held = head;
  const take = (bytes: Buffer): void => {
    held = Buffer.concat([held, bytes]);
    if (held.length === 0 || (readServerName(held) === 'more' && held.length <= maxHelloBytes)) return;
    client.off('data', take);
    client.pause();
    done(held, otherNameIn(held, host, port, reach));
  };
  client.on('data', take);
  take(Buffer.alloc(0));
}

/** Headers that concern one connection, which a proxy does not forward. */
const dropped = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
  'te',
  'trailer',
  'host',
];

async function sendOn(
  from: IncomingMessage,
  to: ServerResponse,
  reach: Reach,
  dialer: Dialer,
  record: (connection: Recorded) => void,
): Promise<void> {
  const url = URL.canParse(from.url ?? '') ? new URL(from.url!) : null;
  if (url?.protocol !== 'http:' || url.username || url.password) {
    to.writeHead(400, { 'content-type': 'text/plain' }).end('An absolute http address or CONNECT is expected.\n');
    return;
  }
  const [name, port, { phase }] = [url.hostname, Number(url.port || 80), reach];
  try {
    const host = checked(name, port, reach);
    const socket = await dialer.connect(host, port);
    const headers = Object.entries(from.headers).filter(([header]) => !dropped.includes(header));
    // The host of the URL replaces the Host header, because a server may have several hosts.
    const onward = request({
      createConnection: () => socket,
      method: from.method,
      path: url.pathname + url.search,
      headers: { ...Object.fromEntries(headers), host: inUrl(host) + (url.port && `:${port}`), connection: 'close' },
    });
    onAnswer(onward, (answer) => {
      const { connection: _, 'keep-alive': __, ...forwarded } = answer.headers;
      to.writeHead(answer.statusCode!, forwarded);
      answer.on('error', () => to.destroy()).pipe(to);
    });
    socket.once('close', () =>
      record({
        host,
        port,
        phase,
        verdict: 'allowed',
        sentBytes: socket.bytesWritten,
        receivedBytes: socket.bytesRead,
      }),
    );
    socket.setTimeout(idleTimeoutMs, () => socket.destroy());
    onward.on('error', (error) => (to.headersSent ? to.destroy() : to.writeHead(502).end(`${error.message}\n`)));
    to.on('close', () => socket.destroy());
    from.pipe(onward);
  } catch (error) {
    const refusal = refusalOf(error, name);
    record({ host: refusal.host, port, phase, verdict: refusal.verdict, sentBytes: 0, receivedBytes: 0 });
    to.writeHead(refusal.verdict === 'failed' ? 502 : 403, { 'x-egress': refusal.verdict, connection: 'close' });
    to.end(explain(refusal, port));
  }
}
