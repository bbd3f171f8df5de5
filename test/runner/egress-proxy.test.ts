// The egress proxy, the only network of cells and containers: which hosts it reaches, and what it records. Sockets are real;
// names are resolved by the test.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequestArgs, createServer, request } from 'node:http';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readServerName } from '../../src/runner/network/client-hello.ts';
import { type Connection, countConnections } from '../../src/runner/network/connections.ts';
import { type RouteSettings, readRoutes } from '../../src/runner/network/dialer.ts';
import { type EgressProxy, openEgressProxy } from '../../src/runner/network/egress-proxy.ts';
import { listenOn } from '../../src/runner/network/listen.ts';
import { allows, canonicalHost, type NetworkPolicy } from '../../src/runner/network/policy.ts';
import { nameOf } from '../../src/runner/network/program.ts';
import { makeCertificate } from '../support/certificate.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'egress-'));
const { key, cert } = makeCertificate(['registry.test', 'other.test']);
const registry = createTlsServer({ key, cert }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', () => socket.end(`hello ${socket.servername}`));
});
const site = createServer((asked, answer) => {
  answer.end(`${asked.method} ${asked.headers.host} ${asked.url} ${asked.headers['proxy-authorization'] ?? ''}`);
});
const [ports, open]: [Record<'registry' | 'site', number>, EgressProxy[]] = [{ registry: 0, site: 0 }, []];
beforeAll(async () => {
  await Promise.all([
    new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve)),
  ]);
  ports.registry = (registry.address() as AddressInfo).port;
  ports.site = (site.address() as AddressInfo).port;
});
afterEach(() => Promise.all(open.splice(0).map((proxy) => proxy.close())));
afterAll(() => {
  registry.close();
  site.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
/** A proxy for which all host names resolve to this machine. The services of the test count as services of the operator. */
async function start(policy: NetworkPolicy, more: Partial<RouteSettings> = {}, headersTimeout?: number) {
  const socket = path.join(folder, String(++count));
  const seen: Connection[] = [];
  const own = Object.values(ports).flatMap((port) => [`registry.test:${port}`, `other.test:${port}`]);
  const resolve = ((_: string, __: object, done: (...found: unknown[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as NonNullable<RouteSettings['resolve']>;
  const settings = { privateHosts: new Set(own), upstream: null, roots: cert, resolve, ...more };
  const proxy = await openEgressProxy(socket, (one) => seen.push(one), settings, null, headersTimeout);
  proxy.set({ phase: 'agent', policy });
  open.push(proxy);
  return { socket, seen, proxy };
}

/** Sends a CONNECT request to the proxy. Returns the status of the response, and the socket of the connection to the proxy. */
const tunnel = (socketPath: string, target: string) =>
  new Promise<{ status: number; socket: Socket }>((resolve, reject) => {
    const asked = request({ socketPath, method: 'CONNECT', path: target } as ClientRequestArgs);
    asked.once('connect', ({ statusCode }, socket: Socket) => resolve({ status: statusCode!, socket }));
    asked.once('error', reject).end();
  });

/** The response of a TLS server at the end of the tunnel. The certificate is not checked. */
async function overTls(socketPath: string, target: string, servername: string): Promise<string> {
  const { status, socket } = await tunnel(socketPath, target);
  if (status !== 200) return String(status);
  return new Promise((resolve) => {
    const tls = connectTls({ socket, servername, rejectUnauthorized: false }, () => tls.write('x'));
    let text = '';
    tls.on('data', (bytes) => (text += bytes)).on('error', () => resolve('cut'));
    tls.on('close', () => resolve(text || 'cut'));
  });
}

const custom = (...hosts: string[]): NetworkPolicy => ({ mode: 'custom', hosts });

describe('the egress policy', () => {
  it.each<[string, string, number, boolean]>([
    ['registry.test', 'registry.test', 443, true],
    ['registry.test', 'registry.test', 80, true],
    ['registry.test', 'registry.test', 22, false],
    ['registry.test:8443', 'registry.test', 8443, true],
    ['registry.test:8443', 'registry.test', 443, false],
    ['*.test', 'a.b.test', 443, true],
    ['*.test', 'test', 443, false],
    ['*.test', 'nottest', 443, false],
    ['bücher.test', 'xn--bcher-kva.test', 443, true],
  ])('%s allows %s:%i: %s', (rule, host, port, isAllowed) => {
    expect(allows(custom(rule), host, port)).toBe(isAllowed);
  });

  it('the egress policy parses hosts like URLs', () => {
    const spelled = ['REGISTRY.test', 'registry.test.', 'bücher.test', '0x7f.1', '2130706433', '[::1]', 'localhost.'];
    expect(spelled.map(canonicalHost)).toEqual([
      ...['registry.test', 'registry.test', 'xn--bcher-kva.test', '127.0.0.1', '127.0.0.1', '::1', 'localhost'],
    ]);
    const mapped = [
      '[::FFFF:127.0.0.1]',
      '0177.0.0.1',
      '127.1.',
      '\uff11\uff12\uff17.1',
      'LOCAL\u00adhost\u3002',
      'XN--BCHER-KVA.test',
    ];
    expect(mapped.map(canonicalHost)).toEqual([
      ...['::ffff:7f00:1', '127.0.0.1', '127.0.0.1', '127.0.0.1', 'localhost', 'xn--bcher-kva.test'],
    ]);
    const empty = ['.', '..', 'localhost..', '127.0.0.1..', 'a..test', '.test', 'localhost\u3002.'];
    for (const odd of ['', 'a b', 'a/b', 'u@h', 'a:80', 'a:', 'a%00', '127.0.0.256', 'x'.repeat(300), ...empty])
      expect([odd, canonicalHost(odd)]).toEqual([odd, null]);
  });
});

it('the egress proxy tunnels to a host that the policy allows, and records the bytes', async () => {
  const { socket, seen } = await start(custom(`registry.test:${ports.registry}`));
  expect(await overTls(socket, `registry.test:${ports.registry}`, 'registry.test')).toBe('hello registry.test');
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  expect(seen[0]).toMatchObject({ host: 'registry.test', port: ports.registry, phase: 'agent', verdict: 'allowed' });
  expect(Math.min(seen[0]!.sentBytes, seen[0]!.receivedBytes)).toBeGreaterThan(100);
});

it('the egress proxy forwards plain requests with the host name of their URL', async () => {
  const { socket, seen } = await start(custom(`registry.test:${ports.site}`));
  const ask = (target: string) =>
    new Promise<[number, string]>((resolve, reject) => {
      const headers = { host: 'other.test', 'proxy-authorization': 'Basic x' };
      const asked = request({ socketPath: socket, path: target, headers }, async (answer) => {
        let text = '';
        for await (const piece of answer) text += piece;
        resolve([answer.statusCode!, text]);
      });
      asked.once('error', reject).end();
    });
  const host = `registry.test:${ports.site}`;
  expect(await ask(`http://${host}/a?b=1`)).toEqual([200, `GET ${host} /a?b=1 `]);
  expect(await ask(`http://other.test:${ports.site}/`)).toEqual([403, expect.stringContaining('other.test')]);
  expect((await ask('/etc/passwd'))[0]).toBe(400);
  expect((await ask('https://registry.test/'))[0]).toBe(400);
  await vi.waitFor(() => expect(seen.map(({ verdict }) => verdict).sort()).toEqual(['allowed', 'blocked']));
});

it.each([
  ['has no status', 'HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n'],
  ['is another protocol', 'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['is not HTTP', 'hello\r\n\r\n'],
])('the egress proxy keeps running when the response of a host %s', async (_, text) => {
  const odd = createTcpServer((from) => void from.on('error', () => {}).once('data', () => from.end(text)));
  await listenOn(odd, null);
  const target = `registry.test:${(odd.address() as AddressInfo).port}`;
  const { socket: socketPath } = await start(custom(target), { privateHosts: new Set([target]) });
  const [answer] = await once(request({ socketPath, path: `http://${target}/` }).end(), 'response');
  expect(answer.statusCode).toBe(502);
  odd.close();
});

it.each([
  ['127.0.0.1:443', 'blocked'],
  ['[::1]:443', 'blocked'],
  ['169.254.169.254:80', 'blocked'],
  ['2130706433:80', 'blocked'],
  ['localhost:443', 'not_public'],
  ['localhost.:443', 'not_public'],
  ['REGISTRY.test.:443', 'not_public'],
  ['elsewhere.test:443', 'blocked'],
  ['registry.test:22', 'blocked'],
  ['registry.test:99999', 'blocked'],
  ['xn--bcher-kva.test:443', 'not_public'],
  ['registry.test', 'blocked'],
])('the egress proxy refuses CONNECT %s: %s', async (target, verdict) => {
  const { socket, seen } = await start(custom('registry.test', 'localhost', '127.0.0.1', '::1', 'bücher.test'));
  const { status, socket: client } = await tunnel(socket, target);
  client.destroy();
  expect([status, seen.map((one) => one.verdict)]).toEqual([403, [verdict]]);
});

it('the egress proxy refuses private addresses under a policy that allows all hosts, even when a later DNS answer is private', async () => {
  let asked = 0;
  const resolve = ((_: string, __: object, done: (...found: unknown[]) => void) =>
    done(null, [{ address: asked++ === 0 ? '93.184.216.34' : '10.0.0.1', family: 4 }])) as never;
  const { socket, seen } = await start({ mode: 'open', hosts: [] }, { privateHosts: new Set(), resolve });
  asked = 1;
  for (const target of ['rebind.test:443', '10.0.0.1:80', '169.254.169.254:80', '[::ffff:7f00:1]:80'])
    expect((await tunnel(socket, target)).status).toBe(403);
  expect(seen.map(({ verdict }) => verdict)).toEqual(Array(4).fill('not_public'));
});

it('the egress proxy refuses a name that has a private address, and one that does not resolve', async () => {
  const answers: Record<string, object[]> = {
    'mixed.test': [{ address: '93.184.216.34' }, { address: '127.0.0.1' }],
  };
  const resolve = ((name: string, __: object, done: (...found: unknown[]) => void) =>
    answers[name] ? done(null, answers[name]) : done(new Error('ENOTFOUND'))) as never;
  const { socket, seen } = await start(custom('*.test'), { resolve });
  for (const name of ['mixed', 'nowhere']) expect((await tunnel(socket, `${name}.test:443`)).status).toBe(403);
  expect(seen.map(({ verdict }) => verdict)).toEqual(['not_public', 'unknown_host']);
});

it('the egress proxy closes a TLS connection that names a different host than its CONNECT request', async () => {
  const { socket, seen } = await start(custom(`registry.test:${ports.registry}`));
  expect(await overTls(socket, `registry.test:${ports.registry}`, 'other.test')).toBe('cut');
  await vi.waitFor(() => expect(seen).toMatchObject([{ host: 'other.test', verdict: 'blocked' }]));
  expect(seen[0]!.sentBytes).toBe(0);
});

it('the egress proxy blocks everything without a policy, and applies a new policy at once', async () => {
  const { socket, proxy } = await start({ mode: 'none', hosts: ['registry.test'] });
  const target = `registry.test:${ports.registry}`;
  expect((await tunnel(socket, target)).status).toBe(403);
  proxy.set({ phase: 'agent', policy: custom(target) });
  expect(await overTls(socket, target, 'registry.test')).toBe('hello registry.test');
});

it('the egress proxy disconnects clients whose headers never end', async () => {
  const { socket } = await start({ mode: 'open', hosts: [] }, {}, 200);
  const ended = (text: string) =>
    new Promise<string>((resolve) => {
      const client = connectTcp(socket, () => client.write(text));
      let answer = '';
      client.on('data', (bytes) => (answer += bytes)).on('close', () => resolve(answer));
      client.on('error', () => {});
    });
  expect(await ended('CONNECT a.test:443 HTTP/1.1\r\nslow: ')).toMatch(/^HTTP\/1.1 408/);
  expect(await ended(`CONNECT a.test:443 HTTP/1.1\r\n${'long: x\r\n'.repeat(4_000)}`)).toMatch(/^HTTP\/1.1 431/);
});

it('the egress proxy uses the machine’s own proxy, which resolves names that the machine cannot', async () => {
  const asked: string[] = [];
  const upstream = createServer();
  upstream.on('connect', ({ url, headers }, client: Socket) => {
    asked.push(`${url} ${headers['proxy-authorization']}`);
    const onward = connectTcp(ports.registry, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.pipe(client).pipe(onward);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const resolve = ((_: string, __: object, done: (error: Error) => void) => done(new Error('ENOTFOUND'))) as never;
  const routes = readRoutes({ HTTPS_PROXY: `http://u:p@127.0.0.1:${port}` });
  const { socket } = await start(custom('registry.test'), { ...routes, resolve });
  expect(await overTls(socket, 'registry.test:443', 'registry.test')).toBe('hello registry.test');
  expect(asked).toEqual(['registry.test:443 Basic dTpw']);
  upstream.close();
});

it.each([
  ['localhost', 'not_public'],
  ['LOCALHOST.', 'not_public'],
  ['localhost..', 'blocked'],
  ['a.localhost', 'not_public'],
  ['127.0.0.1..', 'blocked'],
  ['0177.0.0.1.', 'not_public'],
  ['0x7f000001', 'not_public'],
  ['2852039166', 'not_public'],
  ['[::ffff:169.254.169.254]', 'not_public'],
  ['[64:ff9b::7f00:1]', 'not_public'],
  ['metadata', 'not_public'],
  ['metadata.google.internal.', 'not_public'],
  ['printer.local', 'not_public'],
])('the egress proxy sends no request for %s to the machine’s own proxy: %s', async (name, verdict) => {
  const asked: string[] = [];
  const upstream = createServer((from, to) => to.end(asked.push(from.url!))).on('connect', (from, client) => {
    asked.push(from.url!);
    client.end();
  });
  await listenOn(upstream, null);
  const proxy = new URL(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  const resolve = ((_: string, __: object, done: (error: Error) => void) => done(new Error('ENOTFOUND'))) as never;
  const { socket, seen } = await start({ mode: 'open', hosts: [] }, { upstream: proxy, resolve });
  expect((await tunnel(socket, `${name}:443`)).status).toBe(403);
  const plain = request({ socketPath: socket, path: `http://${name}/` }).end();
  expect((await once(plain, 'response'))[0].statusCode).toBe(403);
  expect([seen.map((one) => one.verdict), asked]).toEqual([[verdict, verdict], []]);
  upstream.close();
});

it('the egress proxy gives up on a host that does not respond, without revealing its address', async () => {
  const closed = createTcpServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const target = `registry.test:${port}`;
  const { socket, seen } = await start(custom(target), { privateHosts: new Set([target]) });
  expect((await tunnel(socket, target)).status).toBe(502);
  expect(seen).toMatchObject([{ verdict: 'failed' }]);
});

it('the egress proxy reads the server name from a ClientHello that is split into many records, up to a limit', () => {
  const hello = execFileSync(process.execPath, [
    '--eval',
    `const { Duplex } = require('node:stream');
     const out = new Duplex({ read() {}, write(bytes) { process.stdout.write(bytes); process.exit(); } });
     require('node:tls').connect({ socket: out, servername: 'registry.test' });`,
  ]);
  expect(readServerName(hello)).toEqual({ name: 'registry.test' });
  const message = hello.subarray(5);
  const records = Array.from({ length: message.length }, (_, i) =>
    Buffer.concat([Buffer.from([22, 3, 1, 0, 1]), message.subarray(i, i + 1)]),
  );
  expect(readServerName(Buffer.concat(records))).toEqual({ name: 'registry.test' });
  expect(readServerName(Buffer.concat(records.slice(0, -1)))).toBe('more');
  expect(readServerName(Buffer.from('SSH-2.0-x'))).toBeNull();
  for (let at = 0; at < hello.length; at++) {
    const changed = Buffer.from(hello);
    changed[at] = changed[at]! ^ 0xff;
    expect(() => readServerName(changed)).not.toThrow();
  }
});

it('the egress proxy counts connections by host, for a limited number of hosts', () => {
  const counter = countConnections();
  const one = {
    host: 'a.test',
    port: 443,
    phase: 'setup',
    verdict: 'allowed',
    sentBytes: 1,
    receivedBytes: 2,
  } as const;
  for (const program of ['npm', 'curl', null, 'npm']) counter.add({ ...one, program });
  expect(counter.take()).toEqual([{ ...one, count: 4, sentBytes: 4, receivedBytes: 8, programs: ['npm', 'curl'] }]);
  for (let i = 0; i < 1_000; i++) counter.add({ ...one, host: `${i}.test`, program: null });
  expect(counter.take()).toHaveLength(499);
});

it.each([
  ['/usr/bin/curl\0--header\0secret\0', 'curl'],
  ['npm install left-pad\0\0', 'npm'],
  ['/usr/bin/python3\0/usr/bin/pip\0install\0', 'pip'],
  ['python3.12\0-m\0pip\0install\0', 'pip'],
  ['node\0--eval\0secret\0', 'node'],
  ['java\0-jar\0x.jar\0', 'java'],
  [`/bin/a b\n${'x'.repeat(99)}\0`, 'a'],
  [`/bin/ä\n${'x'.repeat(99)}\0`, `??${'x'.repeat(62)}`],
  ['', null],
])('the process with the command line %j is reported as the program %s', (line, name) => {
  expect(nameOf(line)).toBe(name);
});

it('EGRESS_PRIVATE_HOSTS names hosts with their ports', () => {
  expect([...readRoutes({ EGRESS_PRIVATE_HOSTS: 'Registry.corp:8443, 10.0.0.5:443' }).privateHosts]).toEqual([
    'registry.corp:8443',
    '10.0.0.5:443',
  ]);
  expect(() => readRoutes({ EGRESS_PRIVATE_HOSTS: 'registry.corp' })).toThrow(
    'EGRESS_PRIVATE_HOSTS: registry.corp is not',
  );
});
