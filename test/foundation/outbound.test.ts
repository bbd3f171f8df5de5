// Requests to URLs that strangers name: forbidden addresses, the connection to exactly the checked address, and limits on the response. The
// servers are real; the name server is the test's own.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  checkAddress,
  fetchJson,
  OutboundError,
  openOutbound,
  ResponseTooLarge,
  readTxtRecords,
  sendRequest,
} from '#foundation/http/outbound.ts';
import { bindReadOnly } from '#foundation/read-only.ts';
import { makeCertificate } from '../support/certificate.ts';

const certificate = makeCertificate(['client.example', 'localhost']);
let listener: RequestListener;
let asked: string[] = [];
const respond: RequestListener = (req, res) => {
  asked.push(`${req.headers.host} ${req.url}`);
  listener(req, res);
};
const plain = createServer(respond);
const secure = createTlsServer(certificate, respond);
let connections = 0;

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const bounds = { maxBytes: 1_000, timeoutMs: 60_000 };

beforeAll(async () => {
  for (const server of [plain, secure]) {
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
});
afterAll(() => {
  for (const server of [plain, secure]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  [asked, connections] = [[], 0];
  listener = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}');
});
afterEach(() => openOutbound({ allowLoopback: false }));

const open = (more: Partial<Parameters<typeof openOutbound>[0]> = {}) =>
  openOutbound({ allowLoopback: true, ca: certificate.cert, ...more });
const at =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('the response to an outbound request', () => {
  it('the response to an outbound request has status, headers and JSON body over TLS and, in development, over plain HTTP', async () => {
    open();
    for (const url of [`https://localhost:${portOf(secure)}/a?b=c`, `http://127.0.0.1:${portOf(plain)}/a?b=c`]) {
      const { status, headers, body } = await fetchJson(url, { ...bounds, accept: 'application/jwk-set+json' });
      expect([status, headers['content-type'], body]).toEqual([200, 'application/json', { a: 1 }]);
    }
    expect(asked).toEqual([`localhost:${portOf(secure)} /a?b=c`, `127.0.0.1:${portOf(plain)} /a?b=c`]);
  });

  it.each([
    ['application/vnd.example+json; charset=utf-8', '[1]', [1]],
    ['text/html', '{}', undefined],
    ['application/json', '{', undefined],
    ['application/json', Buffer.from([0x22, 0xff, 0x22]), undefined],
  ])(
    'the response to an outbound request has a body only if the content type and the content are JSON: %s %j',
    async (type, text, expected) => {
      open();
      listener = (_req, res) => res.writeHead(200, { 'content-type': type }).end(text);
      expect((await fetchJson(`http://127.0.0.1:${portOf(plain)}/`, bounds)).body).toEqual(expected);
    },
  );

  it('an outbound request does not follow a redirect, but returns it', async () => {
    open();
    listener = (_req, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    expect((await fetchJson(`http://127.0.0.1:${portOf(plain)}/`, bounds)).status).toBe(302);
    expect(asked).toHaveLength(1);
  });

  it('an outbound request is sent without credentials, and asks for a response without compression', async () => {
    open();
    let headers: NodeJS.Dict<string | string[]> = {};
    listener = (req, res) => {
      headers = req.headers;
      res.end();
    };
    await fetchJson(`http://127.0.0.1:${portOf(plain)}/`, bounds);
    expect(headers).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'agent-engineering-platform',
      host: `127.0.0.1:${portOf(plain)}`,
      connection: expect.any(String),
    });
  });
});

describe('an outbound request with a body', () => {
  it('an outbound request with a body is sent as JSON with its method and headers, and any response is returned byte for byte', async () => {
    open();
    let seen: unknown;
    listener = async (req, res) => {
      const { authorization, 'content-type': type, 'content-length': length } = req.headers;
      let text = '';
      for await (const chunk of req) text += chunk;
      seen = [req.method, authorization, type, length, text];
      res.writeHead(422, { 'content-type': 'text/plain' }).end('Nö');
    };
    const signal = AbortSignal.timeout(60_000);
    const headers = { authorization: 'Bearer x' };
    const question = { maxBytes: 3, signal, method: 'PATCH', headers, json: { a: 'ü' } } as const;
    const { status, bytes } = await sendRequest(`http://127.0.0.1:${portOf(plain)}/`, question);
    expect([status, bytes.toString()]).toEqual([422, 'Nö']);
    expect(seen).toEqual(['PATCH', 'Bearer x', 'application/json', '10', '{"a":"ü"}']);
    await expect(sendRequest(`http://127.0.0.1:${portOf(plain)}/`, { ...question, maxBytes: 2 })).rejects.toThrow(
      ResponseTooLarge,
    );
  });

  it('an outbound request is not sent after its signal was aborted', async () => {
    open();
    const question = { maxBytes: 3, signal: AbortSignal.abort() };
    await expect(sendRequest(`http://127.0.0.1:${portOf(plain)}/`, question)).rejects.toThrow(OutboundError);
    expect(asked).toEqual([]);
  });
});

describe('limits of an outbound request', () => {
  it('a response is read only up to the maximum size, even if it does not announce its size', async () => {
    open();
    let sent = 0;
    listener = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!res.destroyed && sent < 50_000_000) {
          sent += 10_000;
          if (!res.write('x'.repeat(10_000))) return void res.once('drain', more);
        }
      };
      more();
    };
    await expect(fetchJson(`http://127.0.0.1:${portOf(plain)}/`, bounds)).rejects.toThrow(/larger than 1000 bytes/);
    expect(sent).toBeLessThan(50_000_000);
  });

  it.each([
    ['never answers', () => {}],
    ['never ends', (_req: unknown, res: { write(text: string): void }) => res.write('{')],
  ] as [string, RequestListener][])('a server that %s is abandoned at the time limit', async (_, slow) => {
    open();
    listener = slow;
    await expect(fetchJson(`http://127.0.0.1:${portOf(plain)}/`, { ...bounds, timeoutMs: 150 })).rejects.toThrow(
      OutboundError,
    );
  });

  it('a name server that never answers is abandoned at the time limit', async () => {
    openOutbound({ allowLoopback: false, resolve: () => new Promise(() => {}) });
    await expect(fetchJson('https://client.example/', { ...bounds, timeoutMs: 100 })).rejects.toThrow(OutboundError);
  });

  it('a certificate of an untrusted authority is rejected', async () => {
    openOutbound({ allowLoopback: true });
    await expect(fetchJson(`https://localhost:${portOf(secure)}/`, bounds)).rejects.toThrow(OutboundError);
    expect(asked).toEqual([]);
  });
});

describe('addresses that are never contacted', () => {
  const special = [
    [
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.255.255.254',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ['192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
    ['239.255.255.255', '240.0.0.1', '255.255.255.255'],
    [
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      '::127.0.0.1',
      '64:ff9b::10.0.0.1',
      '64:ff9b:1::1',
    ],
    ['100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1'],
    ['fec0::1', 'ff02::1', 'not an address'],
  ].flat();

  it.each(special)('no request goes to a name that resolves to %s', async (address) => {
    openOutbound({ allowLoopback: false, resolve: at(address) });
    await expect(fetchJson(`https://client.example:${portOf(secure)}/`, bounds)).rejects.toThrow(OutboundError);
    expect(connections).toBe(0);
  });

  it.each(special.filter((address) => address !== 'not an address'))(
    'no request goes to the address %s in a URL',
    async (address) => {
      const host = address.includes(':') ? `[${address}]` : address;
      openOutbound({ allowLoopback: false });
      await expect(fetchJson(`https://${host}/`, bounds)).rejects.toThrow(/not public/);
    },
  );

  it.each(['http://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://127.1/', 'https://localhost/'])(
    'no request goes to %s, in any notation of the address',
    async (url) => {
      openOutbound({ allowLoopback: false });
      await expect(fetchJson(url, bounds)).rejects.toThrow(/not public/);
    },
  );

  it('no request goes to a name with one forbidden address among allowed ones', async () => {
    openOutbound({ allowLoopback: false, resolve: at('93.184.215.14', '10.0.0.1') });
    await expect(fetchJson('https://client.example/', bounds)).rejects.toThrow(/not public/);
    open({ resolve: at('127.0.0.1', '10.0.0.1') });
    await expect(fetchJson(`https://client.example:${portOf(secure)}/`, bounds)).rejects.toThrow(/not public/);
    expect(connections).toBe(0);
  });

  it('the exception for loopback covers loopback only', async () => {
    for (const address of ['10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0']) {
      open({ resolve: at(address) });
      await expect(fetchJson(`https://client.example:${portOf(secure)}/`, bounds)).rejects.toThrow(/not public/);
    }
  });

  it.each([
    ['http', 'http://client.example/'],
    ['another scheme', 'ftp://client.example/'],
    ['another port', 'https://client.example:8443/'],
    ['a user', 'https://me:secret@client.example/'],
    ['no scheme', 'client.example'],
    ['a name without an address', 'https://nowhere.example/'],
  ])('no request goes to a URL with %s', async (_, url) => {
    openOutbound({
      allowLoopback: false,
      resolve: async (host) => (host.startsWith('nowhere') ? [] : [{ address: '93.184.215.14', family: 4 }]),
    });
    await expect(fetchJson(url, { ...bounds, timeoutMs: 300 })).rejects.toThrow(OutboundError);
  });
});

describe('an outbound request under DNS rebinding', () => {
  it('an outbound request connects to the checked address, even if the name later resolves to another one', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    let questions = 0;
    open({ resolve: (host) => at(...answers[Math.min(questions++, 1)]!)().then((found) => (host ? found : [])) });
    const { body } = await fetchJson(`https://client.example:${portOf(secure)}/x`, bounds);
    expect(body).toEqual({ a: 1 });
    expect(questions).toBe(1);
    expect(asked).toEqual([`client.example:${portOf(secure)} /x`]);
  });

  it('an outbound request never uses the connection of another request', async () => {
    open();
    for (let i = 0; i < 3; i++) await fetchJson(`http://127.0.0.1:${portOf(plain)}/`, bounds);
    expect(connections).toBe(3);
  });
});

describe('a service that shows an opened organization file', () => {
  afterAll(() => bindReadOnly(false));

  it('a service that shows an opened organization file sends no request, and queries no name server', async () => {
    const questions: string[] = [];
    const answer = async (name: string) => {
      questions.push(name);
      return [];
    };
    open({ resolve: answer, resolveTxt: answer });
    bindReadOnly();
    const signal = AbortSignal.timeout(60_000);
    for (const url of [`https://client.example:${portOf(secure)}/`, `https://localhost:${portOf(secure)}/`])
      await expect(sendRequest(url, { maxBytes: 1_000, signal })).rejects.toThrow('sends no requests');
    await expect(checkAddress('https://client.example/', signal)).rejects.toThrow('sends no requests');
    await expect(readTxtRecords('client.example', signal)).rejects.toThrow('sends no requests');
    expect([questions, connections]).toEqual([[], 0]);
  });
});
