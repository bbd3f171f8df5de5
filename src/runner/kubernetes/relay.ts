// The only host that the pods of a cluster reach: it passes requests of their runners to the platform, to models and to other hosts. The token
// of the service and the operator's model keys stay here; a mission has a token of its own, for its lease only.
import {
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { type Vendor, vendors } from '../contract.ts';
import * as operations from '../generated/operations.ts';
import { onAnswer } from '../network/answer.ts';
import { openDialer, type RouteSettings } from '../network/dialer.ts';
import { readBody } from '../protocol/request-body.ts';
import type { Upstreams } from '../protocol/upstreams.ts';
import type { AskingPod, HandOver } from './hand-over.ts';
import type { MissionIdentity, MissionTokens } from './tokens.ts';

export interface RelaySettings {
  platformUrl: string;
  /** The token of the service. */
  serviceToken: string;
  tokens: MissionTokens;
  models: Pick<Upstreams, Vendor>;
  routes: RouteSettings;
  port: number;
  /** Hands missions to warm pods; null until the runner follows the cluster. */
  handOver?: HandOver | null;
}

/** The texts of the GraphQL operations that a runner sends. The relay refuses all other operations. */
const known: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap((one) => (typeof one === 'object' && 'text' in one ? [one.text as string] : [])),
);

/** Headers that concern only the connection to the relay. */
const dropped = ['host', 'connection', 'keep-alive', 'proxy-authorization', 'te', 'upgrade'];

/** Values of all members with this name, at any depth. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => (key === name ? [one] : valuesOf(one, name)));
}

/** Whether a request to the platform concerns only this mission. */
function isOwn({ runId, leaseId, claimId }: MissionIdentity, body: Buffer): boolean {
  const { query, variables } = JSON.parse(body.toString());
  if (query === operations.claimRun.text) {
    const { input } = variables ?? {};
    return input?.claimId === claimId && input.runId === runId;
  }
  const leases = valuesOf(variables, 'leaseId');
  const isOfLease = leases.length > 0 && leases.every((one) => one === leaseId);
  return known.has(query) && isOfLease && valuesOf(variables, 'runId').every((one) => one === runId);
}

/** The URL of a path below a base. Null when URL normalization changes the path, because dot segments lead to other paths. */
function addressBelow(base: string, path: string): URL | null {
  const target = new URL(base + path);
  return target.pathname.endsWith(path.split('?', 1)[0]!) ? target : null;
}

export async function openRelay(settings: RelaySettings) {
  const { tokens, platformUrl, serviceToken, models } = settings;
  const dialer = openDialer(settings.routes);
  const own = new URL(platformUrl);
  const draining = new AbortController();

  /** Sends a request to a host at an address that the settings of the runner allow. */
  async function toHost(from: IncomingMessage, to: ServerResponse, target: URL): Promise<void> {
    if (target.origin === own.origin) return send(from, to, target, {});
    const isTls = target.protocol === 'https:';
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const socket = await dialer.connect(host, Number(target.port) || (isTls ? 443 : 80));
    send(from, to, target, {}, () => (isTls ? connectTls({ socket, servername: host }) : socket));
  }

  async function toPlatform(from: IncomingMessage, to: ServerResponse, path: string): Promise<void> {
    const mission = tokens.read(/^Bearer (.+)$/.exec(from.headers.authorization ?? '')?.[1] ?? '');
    if (!mission) return refuse(to, 401, 'The token of the mission is missing or invalid.');
    const isGraph = path === '/graphql';
    const body = isGraph ? await readBody(from) : null;
    const target = addressBelow(own.origin, path);
    const isAllowed = target && (body ? isOwn(mission, body) : isMcp(mission, target, from));
    if (!isAllowed) return refuse(to, 403, 'The request does not belong to this mission.');
    send(from, to, target, { authorization: `Bearer ${serviceToken}` }, undefined, body);
  }

  async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const [, kind, ...rest] = from.url!.split('/');
    if (kind === 'healthz') return void to.end('ok\n');
    if (kind === 'pod') return toPod(settings, from, to, draining.signal);
    if (kind === 'platform') return toPlatform(from, to, `/${rest.join('/')}`);
    const [token = '', name = '', ...path] = rest;
    if (!tokens.read(token)) return refuse(to, 401, 'The token of the mission is missing or invalid.');
    const more = path.length > 0 ? `/${path.join('/')}` : '';
    if (kind === 'host') return toHost(from, to, new URL(decodeURIComponent(name) + more));
    const vendor = kind === 'models' && vendors.find((one) => one === name);
    const upstream = vendor && models[vendor];
    const target = upstream && addressBelow(upstream.base, more);
    if (!target) return refuse(to, 404, 'The relay does not know this path.');
    send(from, to, target, upstream.headers);
  }

  const server = createServer((from, to) => {
    if (draining.signal.aborted) to.setHeader('connection', 'close');
    answer(from, to).catch((error) => refuse(to, 502, error.message));
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(settings, request, client, head).catch(() => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(settings.port, resolve));
  return endings(server, draining);
}

/** Returns the port of a relay, and two functions that end the relay. */
const endings = (server: Server, draining: AbortController) => ({
  port: (server.address() as AddressInfo).port,
  /**
   * Accepts no more connections, and waits until the open requests have ended. Missions send later requests to the relay of another runner.
   */
  async drain(ms: number): Promise<void> {
    draining.abort();
    // A connection whose response has already begun ends with that response.
    server.keepAliveTimeout = 1;
    const done = new AbortController();
    const closed = new Promise((resolve) => server.close(resolve)).finally(() => done.abort());
    await Promise.race([closed, wait(ms, undefined, { signal: done.signal }).catch(() => {})]);
  },
  async close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

/** Answers a pod that waits for its mission. */
async function toPod(
  { handOver }: RelaySettings,
  from: IncomingMessage,
  to: ServerResponse,
  draining: AbortSignal,
): Promise<void> {
  const pod = podIn((await readBody(from)).toString());
  if (!pod) return refuse(to, 400, 'name and uid: must be the name and the uid of the pod.');
  const gone = new AbortController();
  to.once('close', () => gone.abort());
  const token = /^Bearer (.+)$/.exec(from.headers.authorization ?? '')?.[1] ?? '';
  const given = handOver ? await handOver(token, pod, AbortSignal.any([gone.signal, draining])) : 503;
  if (given === 204) return void to.writeHead(204).end();
  if (typeof given === 'number') return refuse(to, given, 'There is no mission for this pod.');
  to.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given));
}

function podIn(body: string): AskingPod | null {
  try {
    const { name, uid } = JSON.parse(body);
    return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : null;
  } catch {
    return null;
  }
}

/** Opens a connection to a host, for requests of a runner that are encrypted or do not use HTTP. */
async function tunnel(
  { tokens, routes }: RelaySettings,
  { url, headers }: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  client.on('error', () => client.destroy());
  const login = Buffer.from(headers['proxy-authorization']?.replace(/^Basic /, '') ?? '', 'base64').toString();
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(url ?? '') ?? [];
  if (!tokens.read(login.slice(login.indexOf(':') + 1)))
    return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  const socket: Socket = await openDialer(routes).connect(host.replace(/^\[|\]$/g, ''), Number(port));
  socket.on('error', () => client.destroy());
  client.on('close', () => socket.destroy());
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  socket.write(head);
  client.pipe(socket).pipe(client);
}

/** Whether a request goes to an MCP server of the run. */
const isMcp = ({ runId, leaseId }: MissionIdentity, { pathname }: URL, { headers }: IncomingMessage): boolean =>
  pathname.startsWith(`/mcp/runs/${runId}/`) && headers['x-lease-id'] === leaseId;

function send(
  from: IncomingMessage,
  to: ServerResponse,
  target: URL,
  own: Record<string, string>,
  createConnection?: () => Socket,
  body: Buffer | null = null,
): void {
  const kept = Object.entries(from.headers).filter(
    ([name]) => !dropped.includes(name) && !(body && name === 'transfer-encoding'),
  );
  const headers = { ...Object.fromEntries(kept), ...own, ...(body && { 'content-length': String(body.length) }) };
  const options = {
    method: from.method,
    headers,
    ...(createConnection && { createConnection, agent: false as const }),
  };
  const onward = (target.protocol === 'https:' && !createConnection ? tlsRequest : plainRequest)({
    ...options,
    protocol: undefined,
    host: target.hostname,
    port: target.port || undefined,
    path: target.pathname + target.search,
  });
  onward.setHeader('host', target.host);
  onAnswer(onward, (answered) => {
    const { connection: _, ...forwarded } = answered.headers;
    to.writeHead(answered.statusCode!, forwarded);
    answered.on('error', () => to.destroy()).pipe(to);
  });
  onward.on('error', (error) => refuse(to, 502, `The host cannot be reached: ${error.message}`));
  to.on('close', () => onward.destroy());
  if (body) onward.end(body);
  else from.pipe(onward);
}

function refuse(to: ServerResponse, status: number, message: string): void {
  if (to.headersSent) return void to.destroy();
  to.writeHead(status, { 'content-type': 'application/json' });
  to.end(
    JSON.stringify({
      code: status === 502 ? 'internal' : 'forbidden',
      description: message,
      type: 'error',
      error: { type: 'gateway_error', message },
    }),
  );
}
