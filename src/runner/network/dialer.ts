// Connections to hosts that a policy allows: at public addresses, or through the proxy by which the machine itself reaches the internet.
import { lookup as systemLookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { isPrivateName, isPublic } from './addresses.ts';
import type { Verdict } from './connections.ts';
import { canonicalHost, inUrl } from './policy.ts';
import { readRoots } from './trust.ts';

export interface RouteSettings {
  /** Hosts as `host:port` that may be at private addresses, such as a registry of the operator. */
  privateHosts: ReadonlySet<string>;
  /** The proxy of this machine; null when the machine reaches the internet without one. */
  upstream: URL | null;
  /** Whether the proxy is the relay of a cluster, which checks all hosts itself. */
  isRelay?: boolean;
  /** PEM of the certificate authorities that verify hosts whose TLS ends at the runner. */
  roots: string;
  resolve?: typeof systemLookup;
}

/** The error of a host that was not reached. */
export class Refusal extends Error {
  readonly verdict: Exclude<Verdict, 'allowed'>;
  readonly host: string;
  constructor(verdict: Exclude<Verdict, 'allowed'>, host: string, message: string) {
    super(message);
    [this.verdict, this.host] = [verdict, host];
  }
}

export interface Dialer {
  /** Connects to a public address of the host. @throws Refusal */
  connect(host: string, port: number): Promise<Socket>;
}

const connectTimeoutMs = 30_000;

/** Reads the operator's settings. @throws for an invalid setting */
export function readRoutes(env: NodeJS.ProcessEnv): RouteSettings {
  const entries = (env.EGRESS_PRIVATE_HOSTS ?? '').split(/[\s,]+/).filter(Boolean);
  const privateHosts = entries.map((entry) => {
    const [, name = '', port] = /^(.+):(\d{1,5})$/.exec(entry) ?? [];
    const host = canonicalHost(name);
    if (!host) throw new Error(`EGRESS_PRIVATE_HOSTS: ${entry} is not host:port.`);
    return `${host}:${port}`;
  });
  const proxy = env.HTTPS_PROXY || env.https_proxy || '';
  if (proxy && !(URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)))
    throw new Error('HTTPS_PROXY: must be an http or https URL.');
  return { privateHosts: new Set(privateHosts), upstream: proxy ? new URL(proxy) : null, roots: readRoots(env) };
}

export function openDialer({ privateHosts, upstream, isRelay = false, resolve = systemLookup }: RouteSettings): Dialer {
  const lookup = promisify(resolve);

  /** A checked address; null means the machine's proxy resolves the name, because this machine cannot. */
  async function addressOf(host: string, port: number): Promise<string | null> {
    const isPrivate = privateHosts.has(`${host}:${port}`);
    const found = isIP(host) > 0 ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
    // The machine's proxy resolves names itself, so it could reach hosts that are not public.
    const isRefused = upstream !== null && isPrivateName(host);
    if (!isPrivate && (isRefused || found.some(({ address }) => !isPublic(address))))
      throw new Refusal('not_public', host, 'the host is not at a public address');
    if (found.length > 0) return found[0]!.address;
    if (upstream && !isPrivate) return null;
    throw new Refusal('unknown_host', host, 'the host name does not resolve');
  }

  return {
    async connect(host, port) {
      if (upstream && isRelay) return throughProxy(upstream, host, port);
      const address = await addressOf(host, port);
      if (upstream && !privateHosts.has(`${host}:${port}`)) return throughProxy(upstream, host, port);
      return open(connect({ host: address!, port }), host);
    },
  };
}

function open(socket: Socket, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => {
      socket.destroy();
      reject(new Refusal('failed', host, message));
    };
    const timer = setTimeout(() => fail('the host did not answer in time'), connectTimeoutMs);
    const failed = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      // Omits the address, which could be one of the operator's machines.
      fail(error.code ?? 'the connection failed');
    };
    socket.once('error', failed).once('connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      resolve(socket);
    });
  });
}

function throughProxy(proxy: URL, host: string, port: number): Promise<Socket> {
  const target = `${inUrl(host)}:${port}`;
  const login = proxy.username && `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const headers = {
    host: target,
    ...(login && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
  };
  const where = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: proxy.port || undefined, agent: false } as const;
  const asked = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    ...where,
    method: 'CONNECT',
    path: target,
    headers,
    timeout: connectTimeoutMs,
  });
  return new Promise((resolve, reject) => {
    const fail = (message: string) => {
      asked.destroy();
      reject(new Refusal('failed', host, message));
    };
    asked
      .once('connect', ({ statusCode }, socket: Socket, head: Buffer) => {
        if (statusCode !== 200) return fail(`the proxy of the machine answered ${statusCode}`);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      })
      .once('response', ({ statusCode }) => fail(`the proxy of the machine answered ${statusCode}`))
      .once('timeout', () => fail('the proxy of the machine did not answer in time'))
      .once('error', (error: NodeJS.ErrnoException) => fail(`the proxy of the machine failed: ${error.code}`))
      .end();
  });
}
