// The gateway of agents: permitted requests, and the keys that it adds.
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAddress, openOutbound } from '#foundation/http/outbound.ts';
import { bounds, tooLong } from '../../src/runner/protocol/answers.ts';
import { openEgress } from '../../src/runner/protocol/egress.ts';
import { type Gateway, openGateway } from '../../src/runner/protocol/gateway.ts';
import { modelsFrom } from '../../src/runner/protocol/upstreams.ts';

const seen: { url: string; headers: Record<string, unknown>; body: string }[] = [];
const vendor = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  seen.push({ url: request.url!, headers: request.headers, body });
  response.writeHead(529, { 'retry-after': '7', 'set-cookie': 'session=1' }).end('{"busy":true}');
});
let gateway: Gateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const env = {
    ANTHROPIC_API_KEY: 'real-a',
    ANTHROPIC_BASE_URL: `${base}/a/`,
    OPENAI_API_KEY: 'real-o',
    OPENAI_BASE_URL: `${base}/o/v1`,
  };
  gateway = await openGateway(
    { ...modelsFrom(env), mcp: { tools: { base: `${base}/m`, headers: { 'x-lease-id': 'lease' } } } },
    null,
  );
});
afterAll(async () => {
  await gateway.close();
  vendor.closeAllConnections();
  vendor.close();
});

const ask = (path: string, headers: Record<string, string>, method = 'POST') =>
  fetch(`http://127.0.0.1:${gateway.port}${path}`, { method, headers, ...(method === 'POST' && { body: '{"x":1}' }) });

it('the model gateway leaves no unread data or listener on reused connections', async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  for (let call = 0; call < 12; call++) await ask('/openai/v1/responses', { authorization: `Bearer ${gateway.key}` });
  await new Promise(setImmediate);
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});

it.each([
  ['/anthropic/v1/messages?beta=true', '/a/v1/messages?beta=true', { 'x-api-key': 'real-a' }],
  ['/anthropic/v1/messages/count_tokens', '/a/v1/messages/count_tokens', { 'x-api-key': 'real-a' }],
  ['/openai/v1/responses', '/o/v1/responses', { authorization: 'Bearer real-o' }],
  ['/mcp/tools', '/m', { 'x-lease-id': 'lease' }],
  ['/openai/v1/chat/completions', '/o/v1/chat/completions', { authorization: 'Bearer real-o' }],
])('the model gateway forwards %s with the real key, and returns the answer unchanged', async (path, url, key) => {
  seen.length = 0;
  const answer = await ask(path, { authorization: `Bearer ${gateway.key}`, cookie: 'a=b', 'anthropic-version': '1' });
  expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([529, '7', { busy: true }]);
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(seen).toMatchObject([{ url, body: '{"x":1}', headers: { ...key, 'anthropic-version': '1' } }]);
  expect(JSON.stringify(seen)).not.toContain(gateway.key);
  expect(seen[0]!.headers).not.toHaveProperty('cookie');
});

it.each([
  ['POST', '/openai/v1/files'],
  ['GET', '/anthropic/v1/messages'],
  ['POST', '/anthropic/v1/messages/../files'],
  ['POST', '/anthropic/v1/messages/batches'],
  ['POST', '/openai/v1/responses?stream=1#'],
  ['POST', '/openai//evil.example/'],
  ['POST', '/mcp'],
  ['POST', '/mcp/others'],
  ['POST', '/mcp/constructor'],
  ['POST', '/mcp/tools/more'],
])('the model gateway rejects %s %s', async (method, path) => {
  seen.length = 0;
  const answer = await ask(path, { 'x-api-key': gateway.key }, method);
  expect([answer.status, seen]).toEqual([403, []]);
});

it('the model gateway requires the key of the mission', async () => {
  for (const headers of [{}, { 'x-api-key': 'real-a' }] as Record<string, string>[]) {
    expect((await ask('/openai/v1/responses', headers)).status).toBe(401);
  }
});

it('model credentials are keys, custom URLs, or both', () => {
  expect(modelsFrom({})).toEqual({ anthropic: null, openai: null });
  expect(modelsFrom({ OPENAI_BASE_URL: 'http://localhost:11434/v1', ANTHROPIC_API_KEY: 'k' })).toEqual({
    anthropic: { base: 'https://api.anthropic.com', headers: { 'x-api-key': 'k' } },
    openai: { base: 'http://localhost:11434/v1', headers: {} },
  });
});

describe('answers of models', () => {
  const sse = { 'content-type': 'text/event-stream' };
  let upstream: string;
  let asked: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    asked.push(request.headers);
    const { kind } = JSON.parse(String((await request.toArray())[0]));
    if (kind === 'odd') return response.socket!.end('HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n');
    if (kind === 'body') return response.writeHead(200).end(`{"text":"${'x'.repeat(bounds.event)}"}`);
    response.writeHead(200, sse).write('event: first\ndata: {"n":1}\n\n');
    if (kind === 'event') return response.end(`event: second\ndata: ${'x'.repeat(10_000_000)}\n\nevent: third\n\n`);
    if (kind === 'half') return setTimeout(() => response.destroy(), 20);
    if (kind === 'whole') return response.end(`data: ${'y'.repeat(1_000_000)}\n\ndata: end`);
    // The answer of the vendor never ends.
    const more = () =>
      response.writable && response.write(`data: ${'z'.repeat(1_000_000)}\n\n`, () => setImmediate(more));
    more();
  });
  let own: Gateway;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    own = await openGateway(
      { ...modelsFrom({ ANTHROPIC_BASE_URL: upstream, OPENAI_BASE_URL: upstream }), mcp: {} },
      null,
    );
  });
  afterAll(async () => {
    await own.close();
    server.closeAllConnections();
    server.close();
  });
  const say = (kind: string, path = '/anthropic/v1/messages') =>
    fetch(`http://127.0.0.1:${own.port}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': own.key, 'accept-encoding': 'gzip' },
      body: JSON.stringify({ kind }),
    });

  it('answers of models pass the gateway unchanged and uncompressed, so that they can be inspected', async () => {
    asked = [];
    expect(await (await say('whole')).text()).toBe(
      `event: first\ndata: {"n":1}\n\ndata: ${'y'.repeat(1_000_000)}\n\ndata: end`,
    );
    expect(asked[0]!['accept-encoding']).toBe('identity');
  });

  it.each([
    ['/anthropic/v1/messages', /^event: first\ndata: {"n":1}\n\n\nevent: error\ndata: {"type":"error",.*\n\n$/],
    ['/openai/v1/responses', /\n\nevent: response.failed\ndata: {"type":"response.failed",.*"invalid_prompt".*\n\n$/],
    ['/openai/v1/chat/completions', /\n\ndata: {"error":{"type":"invalid_request_error",.*\n\n$/],
  ])(
    'answers of models end with an error in the format of %s after an event of ten megabytes',
    async (path, pattern) => {
      const text = (await (await say('event', path)).text()).replace('event: second\n', '');
      expect(text).toMatch(pattern);
      expect(text).toContain(tooLong);
    },
  );

  it('answers of models are cut off at the limit if they never end', async () => {
    bounds.stream = 6_000_000;
    const text = await (await say('endless')).text();
    expect(text.length).toBeLessThan(bounds.stream + 1_000);
    expect(text.slice(-1_000)).toContain(tooLong);
  });

  it('answers of models are refused when they are not streamed and their body is too long', async () => {
    const answer = await say('body');
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: tooLong } },
    ]);
  });

  it('answers of models are errors when they have no HTTP status', async () => {
    expect((await say('odd')).status).toBe(502);
  });

  it('answers of models are aborted for the agent too when the vendor aborts them', async () => {
    await expect((await say('half')).text()).rejects.toThrow();
  });
});

describe('model URLs that an organization has set', () => {
  const names: Record<string, string[]> = { inside: ['10.0.0.7'], both: ['1.1.1.1', '127.0.0.1'], here: ['127.0.0.1'] };
  const resolve = ((name: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(
      null,
      names[name]!.map((address) => ({ address, family: 4 })),
    )) as never;
  const reach = async (base: string, allowLoopback = false): Promise<string> => {
    const { agent, refusal } = openEgress(base, allowLoopback, resolve);
    if (refusal) return refusal;
    const ask = base.startsWith('https:') ? httpsRequest : httpRequest;
    return new Promise((done) => {
      const request = ask(base, { agent, method: 'POST' }, (answer) => done(String(answer.resume().statusCode)));
      request.on('error', ({ message }) => done(message)).end('{}');
    });
  };
  const port = () => (vendor.address() as AddressInfo).port;

  it('model URLs that an organization has set are used only when their names resolve to public addresses', async () => {
    for (const base of [
      'https://10.0.0.1',
      'https://169.254.169.254/v1',
      'http://1.1.1.1',
      'https://1.1.1.1:8443',
      'https://[::1]',
    ]) {
      expect(await reach(base), base).toMatch(/is not a public address$/);
    }
    for (const base of ['https://inside', 'https://both', 'https://here', `http://here:${port()}`]) {
      expect(await reach(base), base).toMatch(/is not at a public address$/);
    }
    expect(await reach(`http://here:${port()}`, true)).toBe('529');
    expect(await reach('https://inside', true)).toMatch(/is not at a public address$/);
    expect(await reach('http://inside', true)).toMatch(/is not at a public address$/);
  });

  it('model URLs that an organization has set are allowed and refused by the same rules in the runner and in the service', async () => {
    // Another test file of the same worker may have allowed loopback.
    openOutbound({ allowLoopback: false });
    const addresses =
      '1.1.1.1 9.255.255.255 10.0.0.0 100.64.0.1 100.128.0.0 127.0.0.1 172.31.255.255 172.32.0.0 192.168.1.1 198.20.0.0 203.0.113.9 224.0.0.1 255.255.255.255';
    const v6 = '2606:4700::1 2001:db8::1 2002::1 ::1 ::ffff:10.0.0.1 fe80::1 fc00::1 64:ff9b::a00:1 3fff::1';
    for (const host of [...addresses.split(' '), ...v6.split(' ').map((one) => `[${one}]`)]) {
      const isAllowed = await checkAddress(`https://${host}`, new AbortController().signal).then(
        () => true,
        () => false,
      );
      expect([host, openEgress(`https://${host}`, false).refusal === null]).toEqual([host, isAllowed]);
    }
  });
});
