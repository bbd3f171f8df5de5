// The proxy replaces placeholders in requests with the secrets for the host of the request. The tests use real TLS servers and clients, and the
// programs that are installed on the machine.
import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequestArgs, createServer as createPlainServer, type IncomingMessage, request } from 'node:http';
import { Agent, createServer, request as secureRequest } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecureContext, connect as startTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { maxContexts, openAuthority } from '../../src/runner/network/authority.ts';
import type { Connection } from '../../src/runner/network/connections.ts';
import { type EgressProxy, openEgressProxy } from '../../src/runner/network/egress-proxy.ts';
import { openHostSecrets } from '../../src/runner/network/host-secrets.ts';
import { listenOn } from '../../src/runner/network/listen.ts';
import { readRoots, replaceAuthorities, type Trust } from '../../src/runner/network/trust.ts';
import { proxyVariables } from '../../src/runner/network/variables.ts';
import { makeCertificate } from '../support/certificate.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'host-secrets-'));
const { key, cert } = makeCertificate(['named.test', 'second.test', 'other.test']);
const unknown = makeCertificate(['unknown.test']);
const contexts: Record<string, object> = { 'unknown.test': unknown };
/** Requests as the hosts receive them. */
let got: { host: string; url: string; headers: IncomingMessage['headers']; sha: string }[] = [];
const hosts = createServer(
  { key, cert, SNICallback: (name, done) => done(null, createSecureContext(contexts[name] ?? { key, cert })) },
  async (asked, answer) => {
    const hash = createHash('sha256');
    for await (const piece of asked) hash.update(piece);
    const { url = '', headers } = asked;
    got.push({ host: headers.host!, url, headers, sha: hash.digest('hex') });
    if (url.includes('info/refs')) return void answer.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    if (url === '/odd') return void asked.socket.end('HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n');
    answer.setHeader('x-answer', ['1', '2']);
    answer.write('hello ');
    answer.end(url);
  },
).on('upgrade', ({ headers }, socket) => {
  if (headers.upgrade !== 'websocket')
    return socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n\r\nno');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`);
  socket.write(`${headers.authorization};`);
  socket.pipe(socket);
});
const plain = createPlainServer(({ headers }, answer) => answer.end(headers.authorization));
const value = 'npm_the-real-value$&1';
const trusted = `${cert}\n`;
let [port, plainPort] = [0, 0];
const authority = openAuthority();
let trust: Trust;
beforeAll(async () => {
  await Promise.all([listenOn(hosts, null), listenOn(plain, null)]);
  [port, plainPort] = [hosts, plain].map((one) => (one.address() as AddressInfo).port) as [number, number];
  trust = await replaceAuthorities(path.join(folder, 'trust'), `${readRoots({})}\n${authority.certificate}`);
});
const open: EgressProxy[] = [];
afterEach(() => Promise.all(open.splice(0).map((proxy) => proxy.close())));
afterAll(() => {
  hosts.closeAllConnections();
  hosts.close();
  plain.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
async function start() {
  got = [];
  const socketPath = path.join(folder, String(++count));
  const seen: Connection[] = [];
  const at = (name: string) => `${name}.test:${port}`;
  const secrets = openHostSecrets([
    { name: 'TOKEN', value, hosts: [at('named'), at('unknown'), `named.test:${plainPort}`] },
    { name: 'SECOND', value: 'second-value', hosts: [at('second')] },
  ]);
  const privateHosts = [...['named', 'second', 'other', 'unknown'].map(at), `named.test:${plainPort}`];
  const resolve = ((_: string, __: object, done: (...found: unknown[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])) as never;
  const routes = { privateHosts: new Set(privateHosts), upstream: null, roots: trusted, resolve };
  const interception = { authority, secrets, roots: createSecureContext({ ca: trusted }) };
  const proxy = await openEgressProxy(socketPath, (one) => seen.push(one), routes, interception);
  proxy.set({ phase: 'agent', policy: { mode: 'custom', hosts: privateHosts } });
  open.push(proxy);
  return { socketPath, seen, secrets, proxy, token: secrets.placeholders.TOKEN!, second: secrets.placeholders.SECOND! };
}

const tunnel = async (socketPath: string, host: string): Promise<Socket> => {
  const asked = request({ socketPath, method: 'CONNECT', path: `${host}:${port}` } as ClientRequestArgs).end();
  const [, socket] = await once(asked, 'connect');
  return socket;
};

/** TLS through the proxy, by a client that trusts the mission's certificate authority and the certificate of the hosts. */
async function overTls(socketPath: string, host: string, more: object = {}) {
  const tls = startTls({
    socket: await tunnel(socketPath, host),
    servername: host,
    ca: [authority.certificate, cert],
    ...more,
  });
  tls.on('error', () => {});
  await once(tls, 'secureConnect');
  return tls;
}

/** Requests over one connection. */
async function client(socketPath: string, host: string) {
  const tls = await overTls(socketPath, host);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => tls;
  const ask = (url: string, headers: object, body: Buffer | null = null, method = body ? 'POST' : 'GET') =>
    new Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }>((resolve, reject) => {
      const asked = secureRequest({ agent, host, port, path: url, method, headers: { ...headers } });
      asked.once('error', reject).once('response', async (answer) => {
        const text = (await answer.toArray()).join('');
        resolve({ status: answer.statusCode!, text, headers: answer.headers });
      });
      asked.end(body ?? undefined);
    });
  return { tls, ask };
}

const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`;

it('a request to a host with a secret carries the value instead of the placeholder, in every header and in Basic credentials', async () => {
  const { socketPath, seen, token, second } = await start();
  const { ask, tls } = await client(socketPath, 'named.test');
  expect(token).toMatch(/^npm_placeholder[0-9a-f]{40}$/);
  expect(tls.getPeerCertificate().issuer.CN).toMatch(/^Mission authority /);
  const headers = { authorization: `Bearer ${token}`, 'x-two': `${token} ${token} ${second}` };
  const answer = await ask(`/a?t=${token}`, headers);
  expect(answer).toMatchObject({ status: 200, text: `hello /a?t=${token}`, headers: { 'x-answer': '1, 2' } });
  await ask('/b', { authorization: basic(`me:${token}`) }, Buffer.from(`in the body ${token}`));
  expect(got.map(({ headers: { authorization } }) => authorization)).toEqual([`Bearer ${value}`, basic(`me:${value}`)]);
  expect(got[0]!.headers['x-two']).toBe(`${value} ${value} ${second}`);
  expect(got[1]!.sha).toBe(createHash('sha256').update(`in the body ${token}`).digest('hex'));
  tls.destroy();
  await vi.waitFor(() => expect(seen).toMatchObject([{ host: 'named.test', verdict: 'allowed' }]));
  expect(Math.min(seen[0]!.sentBytes, seen[0]!.receivedBytes)).toBeGreaterThan(500);
});

it('a request to a host with a secret streams bodies with and without a length; pipelined requests are answered in order', async () => {
  const { socketPath, token } = await start();
  const { ask, tls } = await client(socketPath, 'named.test');
  const body = randomBytes(4 * 1024 * 1024);
  await ask('/length', { authorization: token, 'content-length': body.length, expect: '100-continue' }, body);
  await ask('/chunked', { authorization: token, 'transfer-encoding': 'chunked' }, body);
  await ask('/empty', { authorization: token }, null, 'POST');
  tls.write(
    `GET /1 HTTP/1.1\r\nHost: named.test:${port}\r\n\r\nGET /2 HTTP/1.1\r\nHost: named.test:${port}\r\nConnection: close\r\n\r\n`,
  );
  const text = (await tls.toArray()).join('');
  expect(text).toMatch(/hello[\s\S]*\/1[\s\S]*hello[\s\S]*\/2/);
  const sha = createHash('sha256').update(body).digest('hex');
  expect(got.map((one) => [one.url, one.sha === sha])).toEqual([
    ...[
      ['/length', true],
      ['/chunked', true],
      ['/empty', false],
      ['/1', false],
      ['/2', false],
    ],
  ]);
  expect(got.slice(0, 3).every(({ headers }) => headers.authorization === value)).toBe(true);
});

it('a request to a host with a secret uses HTTP/1.1, and can become a WebSocket', async () => {
  const { socketPath, token } = await start();
  const tls = await overTls(socketPath, 'named.test', { ALPNProtocols: ['h2', 'http/1.1'] });
  expect(tls.alpnProtocol).toBe('http/1.1');
  const upgrade = (protocol: string) =>
    `GET /ws HTTP/1.1\r\nHost: named.test:${port}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nAuthorization: ${token}\r\n\r\n`;
  tls.write(`${upgrade('websocket')}early `);
  let text = '';
  tls.on('data', (bytes) => (text += bytes));
  await vi.waitFor(() => expect(text).toContain(`${value};early `));
  tls.write('late');
  await vi.waitFor(() => expect(text).toMatch(/^HTTP\/1.1 101 [\s\S]*early late$/));
  tls.destroy();
  const refused = await overTls(socketPath, 'named.test');
  refused.write(upgrade('other'));
  expect((await refused.toArray()).join('')).toMatch(/^HTTP\/1.1 426 Upgrade Required\r\n[\s\S]*no$/);
});

it('a request to a host with a secret gets the secret also for a placeholder that the setup of the environment has written', async () => {
  const { socketPath, secrets } = await start();
  secrets.accept({ TOKEN: 'placeholder-of-the-setup', GONE: 'another' });
  const { ask } = await client(socketPath, 'named.test');
  await ask('/', { authorization: 'placeholder-of-the-setup', other: 'another' });
  expect(got[0]!.headers).toMatchObject({ authorization: value, other: 'another' });
  // In a later step, the secret TOKEN has another value, and the secret SECOND no longer exists.
  secrets.renew([{ name: 'TOKEN', value: 'replaced', hosts: [`named.test:${port}`] }]);
  await ask('/', { authorization: secrets.placeholders.TOKEN, other: secrets.placeholders.SECOND });
  expect(got[1]!.headers).toMatchObject({ authorization: 'replaced', other: secrets.placeholders.SECOND });
});

it('a request to a host with a secret is not sent when its Host header names another host, or when it is a TRACE', async () => {
  const { socketPath, token } = await start();
  const head = (line: string, host: string) => `${line} HTTP/1.1\r\n${host}\r\nAuthorization: ${token}\r\n\r\n`;
  const own = `Host: named.test:${port}`;
  for (const text of [
    head('GET /', `Host: other.test:${port}`),
    head('GET /', 'Host: named.test:1'),
    head(`GET https://other.test:${port}/`, own),
    head('TRACE /', own),
  ]) {
    const tls = await overTls(socketPath, 'named.test');
    tls.write(text);
    expect((await tls.toArray()).join('')).toMatch(/^HTTP\/1.1 502 /);
  }
  const tls = await overTls(socketPath, 'named.test');
  tls.write(head('GET /', `${own}\r\nHost: other.test\r\nConnection: close`));
  await tls.toArray();
  expect(got.map(({ host }) => host)).toEqual([`named.test:${port}`]);
});

it('a request to a host with a secret is refused when the values make its headers too long', async () => {
  const { socketPath, secrets, token } = await start();
  secrets.renew([{ name: 'TOKEN', value: 'x'.repeat(10_000), hosts: [`named.test:${port}`] }]);
  const { ask } = await client(socketPath, 'named.test');
  expect(await ask('/', { authorization: token })).toMatchObject({ status: 200 });
  const answer = await ask('/', { authorization: `${token} `.repeat(7) });
  const text = expect.stringContaining('more than 65536 bytes after the values of secrets were inserted');
  expect(answer).toMatchObject({ status: 502, text });
  expect(got).toHaveLength(1);
});

it('a request to a host with a secret fails when the response has no valid status, because the proxy closes the connection', async () => {
  const { socketPath, token } = await start();
  const { ask } = await client(socketPath, 'named.test');
  await expect(ask('/odd', { authorization: token })).rejects.toThrow('socket hang up');
});

it('a request to a host with a secret is not sent to a host whose certificate is not verified', async () => {
  const { socketPath, token } = await start();
  const { ask } = await client(socketPath, 'unknown.test');
  const answer = await ask('/', { authorization: token });
  expect([answer.status, answer.text]).toEqual([
    502,
    expect.stringContaining('its TLS failed: DEPTH_ZERO_SELF_SIGNED_CERT'),
  ]);
  expect(got).toEqual([]);
});

it.skipIf(spawnSync('curl', ['--version']).error)(
  'a connection fails with the reason that its program does not trust the certificate authority of the mission',
  async () => {
    const { socketPath, seen } = await start();
    const inside = createTcpServer((from) => {
      const onward = connect(socketPath).on('error', () => {});
      from
        .on('error', () => {})
        .pipe(onward)
        .pipe(from);
    });
    await listenOn(inside, null);
    const proxy = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`;
    const url = `https://named.test:${port}/`;
    await promisify(execFile)('curl', ['-s', '--proxy', proxy, url], { env: { PATH: process.env.PATH } }).catch(
      () => {},
    );
    await vi.waitFor(() => expect(seen).toMatchObject([{ host: 'named.test', verdict: 'untrusted', program: null }]));
    expect(got).toEqual([]);
    inside.close();
  },
);

it('the certificates of a mission are kept for a limited number of hosts', () => {
  const { contextFor } = openAuthority();
  const first = contextFor('0.named.test');
  for (let n = 1; n < maxContexts; n++) contextFor(`${n}.named.test`);
  expect(contextFor('0.named.test')).toBe(first);
  contextFor('another.named.test');
  expect(contextFor('0.named.test')).not.toBe(first);
});

it('a request to another host and a request without TLS keep the placeholder; a request to a host without secrets is not even decrypted', async () => {
  const { socketPath, token, second } = await start();
  for (const host of ['other.test', 'second.test']) {
    const { ask, tls } = await client(socketPath, host);
    const issuer = tls.getPeerCertificate().issuer.CN;
    expect(issuer).toMatch(host === 'other.test' ? /^test$/ : /^Mission authority/);
    await ask('/', { authorization: `${token} ${second}` });
  }
  expect(got.map(({ headers }) => headers.authorization)).toEqual([`${token} ${second}`, `${token} second-value`]);
  const asked = request({
    socketPath,
    path: `http://named.test:${plainPort}/`,
    headers: { authorization: token },
  }).end();
  const [answer] = await once(asked, 'response');
  expect((await answer.toArray()).join('')).toBe(token);
});

/** Programs that are not installed are left out. */
const programs: [name: string, args: (url: string, token: string) => string[]][] = [
  ['curl', (url, token) => ['-sSf', '-H', `Authorization: Bearer ${token}`, '-T', '/etc/hostname', url]],
  ['git', (url, token) => ['ls-remote', url.replace('//', `//me:${token}@`)]],
  [
    'python3',
    (url, token) => [
      '-c',
      `import urllib.request as r; print(r.urlopen(r.Request("${url}", headers={"Authorization": "Bearer ${token}"})).read())`,
    ],
  ],
];

describe.each(programs)('the program %s', (program, args) => {
  it.skipIf(spawnSync(program, ['--version']).status !== 0)(
    'a program takes the proxy and the certificate authority from its environment variables',
    async () => {
      const { socketPath, token } = await start();
      // This server opens a port that leads to the proxy. In a cell, a program of the runner opens the port inside the cell.
      const inside = createTcpServer(
        (from) =>
          void from
            .on('error', () => {})
            .pipe(connect(socketPath))
            .on('error', () => {})
            .pipe(from),
      );
      await listenOn(inside, null);
      const variables = proxyVariables((inside.address() as AddressInfo).port, trust, folder);
      const env = { PATH: process.env.PATH, HOME: folder, GIT_TERMINAL_PROMPT: '0', ...variables };
      const done = promisify(execFile)(program, args(`https://named.test:${port}/x`, token), { env, cwd: folder });
      const errors = await done.then(
        () => '',
        (error) => error.message,
      );
      expect(got.at(-1)?.headers.authorization, errors).toBe(
        program === 'git' ? basic(`me:${value}`) : `Bearer ${value}`,
      );
      inside.close();
    },
  );
});

it.skipIf(spawnSync('keytool', ['-help']).error)(
  'the keystore for Java contains the certificate authorities of the mission',
  async () => {
    const store = trust.java[0]!.split('=')[1]!;
    const listing = promisify(execFile)('keytool', ['-list', '-keystore', store, '-storetype', 'JKS']);
    // keytool asks for a password. The key store has none, so the test sends an empty line.
    listing.child.stdin!.end('\n');
    expect((await listing).stdout).toMatch(/Your keystore contains \d+ entr/);
  },
);
