// Requests from this cell, `eu`, to two stand-ins for other cells, of which one never responds. A client chooses the path, the format of
// the body and the credential of a request that cells forward, so tests send hostile requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { forgetPlace, otherPlaceOf } from '#domain/lifecycle/moves/locate.ts';
import { sendJobs } from '#domain/lifecycle/moves/waiting.ts';
import type { CellOrganization } from '#domain/organization/cells/model.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { arrivalMs, askCell, bindCells } from '#foundation/http/cells.ts';
import { createHttpServer, type Exchange } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';
import { forwardToCell } from '../../src/surfaces/cells/forward.ts';
import { createCells } from '../../src/surfaces/cells/surface.ts';

const servers: Server[] = [];
async function listen(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const secret = Buffer.alloc(32, 3).toString('base64');
const received: { target: string; body: string; headers: IncomingMessage['headers'] }[] = [];
let cells: Map<string, string>;
let front: string;
/** The response of `us` to requests for a key. */
let found: { status: number; body: object };

beforeAll(async () => {
  const us = await listen(async (req, res) => {
    if (req.url === '/stream') return void res.writeHead(200).flushHeaders();
    const body = await text(req);
    received.push({ target: `${req.method} ${req.url}`, body, headers: req.headers });
    res.writeHead(req.url === '/cells/find' ? found.status : 200).end(JSON.stringify(found.body));
  });
  const silent = await listen(() => {});
  front = await listen((req, res) => {
    const place = { cell: 'us', orgId: (req.headers['x-test-org'] as string) ?? 'org_1' };
    const exchange = { req, res, requestId: 'req_1', address: '192.0.2.1' } as Exchange;
    forwardToCell(place, exchange).catch((error: Problem) => res.writeHead(error.status).end());
  });
  cells = new Map([
    ['eu', `http://${front}`],
    ['silent', `http://${silent}`],
    ['us', `http://${us}`],
  ]);
});
beforeEach(() => {
  bindCells({ name: 'eu', cells, secret });
  received.length = 0;
  found = { status: 200, body: { place: { cell: 'us', orgId: 'org_1' } } };
});
afterAll(() => {
  bindCells(null);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Sends bytes to the cell of the client, and returns the first bytes of the response. */
async function send(bytes: string): Promise<string> {
  const [host, port] = front.split(':') as [string, string];
  const socket = connect(Number(port), host).setEncoding('utf8');
  socket.write(bytes);
  const [answer] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return answer;
}

it('a request whose path looks like a URL of another host reaches only the cell', async () => {
  const hits: string[] = [];
  const other = await listen((req, res) => {
    hits.push(req.url!);
    res.end();
  });
  for (const target of [`//${other}/x`, `/\\${other}/x`, '/a/../cells/find'])
    expect(await send(`GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`)).toMatch(/^HTTP\/1.1 200/);
  expect(received.map(({ target }) => target)).toEqual([
    `GET //${other}/x`,
    `GET /\\${other}/x`,
    'GET /a/../cells/find',
  ]);
  expect(hits).toEqual([]);
});

it('a forwarded GET keeps its body, and loses the headers that its Connection header names', async () => {
  const inner = 'GET /inner HTTP/1.1\r\nhost: a\r\n\r\n';
  const head = 'GET /outer HTTP/1.1\r\nhost: a\r\nx-hop: 1\r\nconnection: keep-alive, X-Hop\r\n';
  await send(`${head}transfer-encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`);
  await send('GET /next HTTP/1.1\r\nhost: a\r\n\r\n');
  expect(received.map(({ target, body }) => [target, body])).toEqual([
    ['GET /outer', inner],
    ['GET /next', ''],
  ]);
  expect(received[0]!.headers).not.toHaveProperty('x-hop');
});

it('an organization with its full share of streams delays no other organization of the cell', async () => {
  const [host, port] = front.split(':') as [string, string];
  const ask = (path: string, org: string) =>
    request({ host, port, path, agent: false, headers: { 'x-test-org': org } });
  const streams = Array.from({ length: 300 }, () => ask('/stream', 'org_many').on('error', () => {}));
  await Promise.all(streams.map((stream) => once(stream.end(), 'response')));
  const further = ask('/x', 'org_many').on('error', () => {});
  further.end();
  const [answer] = (await once(ask('/x', 'org_other').end(), 'response')) as [IncomingMessage];
  expect([answer.statusCode, received.length]).toEqual([200, 1]);
  streams[0]!.destroy();
  await vi.waitFor(() => expect(received).toHaveLength(2));
  for (const stream of [...streams, further]) stream.destroy();
});

it('a cell that does not answer delays no credential look-up in another cell; an invalid answer is an error, not an unknown credential', async () => {
  const key = { kind: 'none', value: '01' };
  const begun = performance.now();
  expect(await otherPlaceOf(key, '192.0.2.1')).toMatchObject({ cell: 'us', orgId: 'org_1' });
  expect(performance.now() - begun).toBeLessThan(4_000);
  forgetPlace(key);
  cells.delete('silent');
  for (const answer of [
    { status: 500, body: {} },
    { status: 200, body: {} },
    { status: 200, body: { place: { cell: 'moon', orgId: null } } },
  ]) {
    found = answer;
    await expect(otherPlaceOf(key, '192.0.2.1')).rejects.toMatchObject({ body: { code: 'upstream_unavailable' } });
  }
});

it('429 · one network can look up a limited number of unknown credentials; another network is not affected', async () => {
  found = { status: 200, body: { place: null } };
  const look = (value: number, address: string) => otherPlaceOf({ kind: 'none', value: `a${value}` }, address);
  for (let value = 0; value < 300; value++) expect(await look(value, '192.0.2.2')).toBe(null);
  await expect(look(300, '192.0.2.2')).rejects.toMatchObject({ status: 429 });
  expect(await look(300, '192.0.2.3')).toBe(null);
});

it('the signature of a request between cells is valid only for its body', async () => {
  await askCell('us', '/cells/find', { kind: 'none', value: '01' });
  const [{ headers, body }] = received as [(typeof received)[number]];
  bindCells({ name: 'us', cells, secret });
  const url = cells.get('us')!;
  bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: url });
  const surface = createCells({ report: () => {} });
  const us = await listen((req, res) => {
    void surface.handle({ req, res, path: req.url!, search: '', requestId: 'req_1', address: '192.0.2.1' });
  });
  const ask = (text: string) =>
    fetch(`http://${us}/cells/find`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-aep-cell': String(headers['x-aep-cell']) },
      body: text,
    }).then(({ status }) => status);
  expect([await ask(body), await ask(body.replace('01', '02'))]).toEqual([200, 404]);
});

it('jobs of a moving organization are sent in parts and in order; a job that is too large for a request is refused', async () => {
  const job = (n: number, characters: number) => ({ queue: 'mail', payload: { n, text: 'x'.repeat(characters) } });
  const move = { orgId: 'org_1', moveId: 'cnt_1', otherCell: 'us' } as unknown as CellOrganization;
  const jobs = Array.from({ length: 50 }, (_, n) => job(n, 400_000));
  await sendJobs({ ...move, jobs });
  const sent = received.map(({ body }) => JSON.parse(body));
  expect(sent.flatMap((part) => part.jobs)).toEqual(jobs);
  let first = 0;
  for (const part of sent) {
    expect(part.first).toBe(first);
    first += part.jobs.length;
  }
  expect(Math.max(...received.map(({ body }) => body.length))).toBeLessThan(2_000_000);
  await expect(sendJobs({ ...move, jobs: [job(0, 15_000_000)] })).rejects.toThrow(
    'a job of the queue "mail" has 15000',
  );
});

it('the HTTP server of a cell allows a request as much time as a move needs', () => {
  expect(createHttpServer().requestTimeout).toBe(arrivalMs);
  bindCells(null);
  expect(createHttpServer().requestTimeout).toBeLessThan(arrivalMs);
});
