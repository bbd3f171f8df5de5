// The gateway of agents: what it lets through, and what it puts in.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, modelsFrom, openGateway } from '../../src/runner/gateway.ts';

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

describe('the gateway', () => {
  it.each([
    ['/anthropic/v1/messages?beta=true', '/a/v1/messages?beta=true', { 'x-api-key': 'real-a' }],
    ['/anthropic/v1/messages/count_tokens', '/a/v1/messages/count_tokens', { 'x-api-key': 'real-a' }],
    ['/openai/v1/responses', '/o/v1/responses', { authorization: 'Bearer real-o' }],
    ['/mcp/tools', '/m', { 'x-lease-id': 'lease' }],
    ['/openai/v1/chat/completions', '/o/v1/chat/completions', { authorization: 'Bearer real-o' }],
  ])('sends %s on with the real key, and the answer back as it is', async (path, url, key) => {
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
  ])('lets %s %s not through', async (method, path) => {
    seen.length = 0;
    const answer = await ask(path, { 'x-api-key': gateway.key }, method);
    expect([answer.status, seen]).toEqual([403, []]);
  });

  it('asks for the key of the mission', async () => {
    for (const headers of [{}, { 'x-api-key': 'real-a' }] as Record<string, string>[]) {
      expect((await ask('/openai/v1/responses', headers)).status).toBe(401);
    }
  });
});

describe('the credentials of models', () => {
  it('are keys, addresses of their own, or both', () => {
    expect(modelsFrom({})).toEqual({ anthropic: null, openai: null });
    expect(modelsFrom({ OPENAI_BASE_URL: 'http://localhost:11434/v1', ANTHROPIC_API_KEY: 'k' })).toEqual({
      anthropic: { base: 'https://api.anthropic.com', headers: { 'x-api-key': 'k' } },
      openai: { base: 'http://localhost:11434/v1', headers: {} },
    });
  });
});
