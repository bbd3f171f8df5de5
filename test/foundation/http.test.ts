// A server that shuts down under load answers every request, and the clients of the server then close their connections themselves.
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createHttpServer, prepareDrain } from '#foundation/http/http.ts';

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
