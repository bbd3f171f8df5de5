// Terminates TLS of connections to the hosts for which a mission has secrets, and inserts the values of the secrets into request headers.
// Both sides use HTTP/1.1: the client trusts the mission's certificate authority, and the host's certificate is verified. Each client
// connection has its own connection to the host.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, connect as startTls, TLSSocket } from 'node:tls';
import { onAnswer } from './answer.ts';
import type { Authority } from './authority.ts';
import type { HostSecrets } from './host-secrets.ts';
import { canonicalHost } from './policy.ts';

export interface Interception {
  secrets: HostSecrets;
  authority: Authority;
  /** Certificate authorities with which hosts are verified. */
  roots: SecureContext;
}

interface Target {
  host: string;
  port: number;
  idleTimeoutMs: number;
}

const [alpn, maxHeaderSize] = [['http/1.1'], 64 * 1024];

/** Alerts by which a client says that it does not trust the certificate (RFC 8446 §6.2). */
const distrust = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE)$/;

/**
 * Intercepts one connection. @param client Its ClientHello is still unread. @param onward A new connection to the host. @param onDistrust
 * Called when the client does not trust the certificate authority of the mission, before the client's connection ends.
 */
export function intercept(
  client: Socket,
  onward: Socket,
  target: Target,
  interception: Interception,
  onDistrust: () => void,
): void {
  const { host, idleTimeoutMs } = target;
  const { authority, roots } = interception;
  const outside = startTls({ socket: onward, servername: host, secureContext: roots, ALPNProtocols: alpn });
  const inside = new TLSSocket(client, {
    isServer: true,
    secureContext: authority.contextFor(host),
    ALPNProtocols: alpn,
  });
  for (const wrapped of [client, onward]) wrapped.setTimeout(0);
  inside.setTimeout(idleTimeoutMs, () => inside.destroy());
  inside.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    if (distrust.test(code)) onDistrust();
    inside.destroy();
  });
  inside.once('close', () => outside.destroy());
  /** Reason why TLS with the host failed; empty on success. */
  const ready = new Promise<string>((resolve) => {
    outside.once('secureConnect', () => resolve(''));
    outside.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    outside.once('close', () => resolve('the connection ended'));
  });
  serve(inside, outside, ready, target, interception.secrets);
}

function serve(inside: TLSSocket, outside: TLSSocket, ready: Promise<string>, target: Target, secrets: HostSecrets) {
  const { host, port, idleTimeoutMs } = target;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => outside;
  let openRequests = 0;
  outside.once('close', () => openRequests === 0 && inside.end());

  /** Creates the request to the host. @returns the reason when it is refused */
  async function prepare(from: IncomingMessage): Promise<string | ReturnType<typeof request>> {
    const wrong = wrongTarget(from, host, port);
    if (wrong) return wrong;
    const failure = await ready;
    if (failure) return `${host}:${port} was not reached (failed): its TLS failed: ${failure}.\n`;
    if (outside.destroyed) {
      inside.destroy();
      return '';
    }
    try {
      const headers = bounded(secrets.fill(host, port, headersOf(from)));
      return request({ agent, maxHeaderSize, method: from.method, path: from.url, headers });
    } catch (error) {
      return `The request cannot be forwarded: ${(error as Error).message}\n`;
    }
  }

  const options = { maxHeaderSize, keepAliveTimeout: idleTimeoutMs, requestTimeout: 0, headersTimeout: 0 };
  const server = createServer(options, async (from, to) => {
    openRequests++;
    to.once('close', () => {
      openRequests--;
      if (outside.destroyed) inside.end();
    });
    const onward = await prepare(from);
    if (typeof onward === 'string') return void to.writeHead(502, { connection: 'close' }).end(onward);
    // The connection is closed as it would be without a proxy, so that the client decides whether to retry.
    onward.on('error', () => to.headersSent || inside.destroy());
    onAnswer(onward, (answer) => sendBack(answer, to));
    from.pipe(onward);
  });
  server.on('upgrade', async (from, socket, head) => {
    const onward = await prepare(from);
    if (typeof onward === 'string')
      return void socket.end(headOf(502, 'Bad Gateway', ['connection', 'close']) + onward);
    onward
      .on('error', () => inside.destroy())
      .on('response', (answer) => refuseUpgrade(answer, socket))
      .on('upgrade', (answer, upgraded, rest) => {
        socket.write(headOf(answer.statusCode!, answer.statusMessage!, answer.rawHeaders));
        socket.write(rest);
        upgraded.write(head);
        upgraded
          .on('error', () => inside.destroy())
          .pipe(socket)
          .pipe(upgraded);
      })
      .end();
  });
  server.emit('connection', inside);
}

/** A server with several hosts could pass the secret to another of its hosts. */
function wrongTarget({ headers, url, method }: IncomingMessage, host: string, port: number): string {
  const [, name = '', namedPort] = /^(.*?)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  if (canonicalHost(name) !== host || Number(namedPort ?? port) !== port)
    return `The request names ${headers.host ?? 'no host'}, and the connection ${host}:${port}.\n`;
  if (!/^[/*]/.test(url ?? '')) return 'The request must name a path.\n';
  // The response to TRACE would repeat the request to the client, including the value of the secret.
  return method === 'TRACE' ? 'TRACE is not possible here.\n' : '';
}

/** Headers that are not forwarded: the proxy handles `expect` itself, and sends `host` once, with the checked value. */
const dropped = ['expect', 'host'];

/** Checks the size of the headers. @throws for headers that the values of secrets have made too long */
function bounded(headers: string[]): string[] {
  if (headers.join('').length <= maxHeaderSize) return headers;
  throw new RangeError(`the headers have more than ${maxHeaderSize} bytes after the values of secrets were inserted.`);
}

/** The raw headers of the request (alternating names and values). */
function headersOf({ rawHeaders, headers, method }: IncomingMessage): string[] {
  const others = rawHeaders.flatMap((text, at) =>
    at % 2 === 0 && !dropped.includes(text.toLowerCase()) ? [text, rawHeaders[at + 1]!] : [],
  );
  const kept = ['Host', headers.host!, ...others];
  const isFramed = 'content-length' in headers || 'transfer-encoding' in headers;
  const hasNone = isFramed || ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method!);
  return hasNone ? kept : [...kept, 'Content-Length', '0'];
}

function sendBack(answer: IncomingMessage, to: ServerResponse): void {
  to.sendDate = false;
  to.writeHead(answer.statusCode!, answer.rawHeaders);
  answer.on('error', () => to.destroy()).pipe(to);
}

function refuseUpgrade(answer: IncomingMessage, socket: Duplex): void {
  const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
  const kept = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one!]));
  socket.write(headOf(answer.statusCode!, answer.statusMessage!, [...kept, 'connection', 'close']));
  answer.on('error', () => socket.destroy()).pipe(socket);
}

function headOf(status: number, reason: string, headers: readonly string[]): string {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}\r\n`] : []));
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`;
}
