// A server that shuts down under load answers every request, and the clients of the server then close their connections themselves. A
// client whose body is refused gets the response although it still sends.
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { answer, createHttpServer, prepareDrain, readBody } from '#foundation/http/http.ts';

it('a draining server answers its busy clients, which then disconnect, and finishes responses that it has started', async () => {
  let finish: () => unknown = () => {};
  const server = createHttpServer((req, res) => {
    if (req.url !== '/slow') return void setImmediate(() => res.end('done'));
    res.write('begun ');
    finish = () => res.end('and done');
  });
  const drain = prepareDrain(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const get = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ port, path, agent }, resolve).on('error', reject).end();
    });

  let answered = 0;
  /** A connection that is never idle. @throws when it is cut */
  async function ask(): Promise<void> {
    for (;;) {
      const res = await get('/');
      expect([res.statusCode, await text(res)]).toEqual([200, 'done']);
      answered++;
      if (res.headers.connection === 'close') return;
    }
  }
  const busy = Array.from({ length: 8 }, ask);
  const slow = await get('/slow');
  const before = answered;
  const drained = drain();
  await Promise.all(busy);
  expect(answered).toBeGreaterThan(before);
  finish();
  expect(await text(slow)).toBe('begun and done');
  await drained;
  await expect(get('/')).rejects.toThrow();
  agent.destroy();
});

it.each([
  ['is declared', 'content-length: 20\r\n\r\n0123456789', '0123456789'],
  ['is not declared', 'transfer-encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n', '0\r\n\r\n'],
])(
  '413 · a body whose length %s is refused while the client sends; after its end the connection serves the next request',
  async (_, begin, rest) => {
    const { socket, received, close } = await openRefusing();
    const post = 'POST / HTTP/1.1\r\nhost: x\r\n';
    socket.write(post + begin);
    await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 413'));
    socket.write(`${rest + post}content-length: 2\r\n\r\nok`);
    await vi.waitFor(() => expect(received()).toMatch(/HTTP\/1.1 200[\s\S]*ok$/));
    close();
  },
);

it('413 · a client that does not end a refused body is disconnected after five seconds', async () => {
  const { socket, received, close } = await openRefusing();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n0123456789');
  while (!received().includes('HTTP/1.1 413')) await new Promise(setImmediate);
  vi.advanceTimersByTime(4_999);
  expect(socket.closed).toBe(false);
  vi.advanceTimersByTime(1);
  await closed;
  vi.useRealTimers();
  close();
});

/** A server that takes bodies of at most ten bytes and returns them, and a connection to it. */
async function openRefusing() {
  const server = createHttpServer(async (req, res) => {
    const exchange = { req, res, path: '/', search: '', requestId: 'req_1', address: '127.0.0.1' };
    await readBody(exchange, 10).then(
      (body) => answer(exchange, 200, body),
      ({ status, headers }) => answer(exchange, status, undefined, headers),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  const close = () => {
    socket.destroy();
    server.close();
  };
  return { socket, received: () => text, close };
}
