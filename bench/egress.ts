// Measures the cost of the runner's egress proxy. A client downloads 100 MB over TLS from a server on this machine in three ways: directly,
// through the proxy, and through a proxy that ends the TLS connection itself, as it does for a host that gets a secret. The server, the
// proxy, the program that forwards the port inside a cell to the proxy, and the client are separate processes. The three ways alternate, so
// that other load of the machine affects all of them. The environment variable ROUNDS sets the number of rounds (default 7).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequestArgs, request } from 'node:http';
import { createServer, request as secureRequest } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecureContext, connect as startTls } from 'node:tls';
import { openAuthority } from '../src/runner/network/authority.ts';
import { openEgressProxy } from '../src/runner/network/egress-proxy.ts';
import { openHostSecrets } from '../src/runner/network/host-secrets.ts';
import { listenOn } from '../src/runner/network/listen.ts';
import { makeCertificate } from '../test/support/certificate.ts';

const bytes = 100 * 1024 * 1024;
const [, , part, ...args] = process.argv;
const parts: Record<string, (...args: string[]) => Promise<unknown>> = { server, inside, client };
if (part) process.send!(await parts[part]!(...args));
else await compare();

/** Starts the server from which the clients download. @returns its port */
async function server(key: string, cert: string): Promise<number> {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const host = createServer({ key, cert }, async (_, answer) => {
    answer.setHeader('content-length', bytes);
    for (let sent = 0; sent < bytes; sent += piece.length) if (!answer.write(piece)) await once(answer, 'drain');
    answer.end();
  });
  await listenOn(host, null);
  return (host.address() as AddressInfo).port;
}

/**
 * Imitates a program that runs inside each cell and forwards connections from the cell to the proxy. Like that program, this function listens
 * on a port and connects each client of the port to the socket of the proxy. @returns the port
 */
async function inside(socket: string): Promise<number> {
  // The client disconnects as soon as it has all bytes.
  const bridge = createTcpServer((from) => {
    const to = connect(socket).on('error', () => from.destroy());
    from
      .on('error', () => to.destroy())
      .pipe(to)
      .pipe(from);
  });
  await listenOn(bridge, null);
  return (bridge.address() as AddressInfo).port;
}

/** Performs one download. @param proxy The port of the proxy; 0 means none. @returns how many milliseconds it took */
async function client(port: string, proxy: string): Promise<number> {
  const begun = performance.now();
  let socket: Socket;
  if (proxy === '0') socket = connect(Number(port), '127.0.0.1');
  else {
    const target = {
      host: '127.0.0.1',
      port: proxy,
      method: 'CONNECT',
      path: `host.test:${port}`,
    } as ClientRequestArgs;
    [, socket] = await once(request(target).end(), 'connect');
  }
  const createConnection = () => startTls({ socket, servername: 'host.test', rejectUnauthorized: false });
  const [answer] = await once(secureRequest({ createConnection, host: 'host.test', port }).end(), 'response');
  let got = 0;
  for await (const piece of answer) got += piece.length;
  if (got !== bytes) throw new Error(`${got} bytes came`);
  return performance.now() - begun;
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'egress-bench-'));
  const children: ReturnType<typeof fork>[] = [];
  const run = async (...what: string[]): Promise<number> => {
    const child = fork(process.argv[1]!, what);
    children.push(child);
    return (await once(child, 'message'))[0];
  };
  const { key, cert } = makeCertificate(['host.test']);
  const port = await run('server', key, cert);
  const host = `host.test:${port}`;
  const resolve = ((_: string, __: object, done: (...found: unknown[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])) as never;
  const routes = { privateHosts: new Set([host]), upstream: null, roots: cert, resolve };
  const secrets = openHostSecrets([{ name: 'TOKEN', value: 'value', hosts: [host] }]);
  const ending = { authority: openAuthority(), secrets, roots: createSecureContext({ ca: cert }) };
  const ways: { name: string; proxy: number; times: number[] }[] = [{ name: 'direct', proxy: 0, times: [] }];
  for (const [name, interception] of [
    ['through the proxy', null],
    ['with TLS that ends at the proxy', ending],
  ] as const) {
    const socket = path.join(folder, String(ways.length));
    const proxy = await openEgressProxy(socket, () => {}, routes, interception);
    proxy.set({ phase: 'agent', policy: { mode: 'custom', hosts: [host] } });
    ways.push({ name, proxy: await run('inside', socket), times: [] });
  }
  for (let round = -1; round < Number(process.env.ROUNDS ?? 7); round++)
    for (const { proxy, times } of ways) {
      const ms = await run('client', String(port), String(proxy));
      if (round >= 0) times.push(ms);
    }
  for (const { name, times } of ways) {
    const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
    console.log(
      `${name.padEnd(34)} median ${median.toFixed(0).padStart(5)} ms   ${(bytes / 1024 ** 2 / (median / 1000)).toFixed(0)} MiB/s`,
    );
  }
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true });
  process.exit();
}
