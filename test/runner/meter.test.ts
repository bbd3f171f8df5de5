// Metered model calls: the platform admits each call before it is sent to the vendor, and is told the number of tokens afterwards.
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openEgress } from '../../src/runner/protocol/egress.ts';
import { type Gateway, openGateway } from '../../src/runner/protocol/gateway.ts';
import { openMeter } from '../../src/runner/protocol/meter.ts';
import type { Platform } from '../../src/runner/protocol/platform.ts';
import { makeCertificate } from '../support/certificate.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests are looked into
type Json = any;

const sha256 = (text: string) => hash('sha256', text);

/** The answers of the platform when the meter asks to reserve tokens for a call, in order. The last answer is repeated. */
let grants: { outputTokens: number; reason: string | null }[];
let reserved: Json[] = [];
let reported: Json[] = [];
let asked: { url: string; body: Json; text: string }[] = [];
let answer: (response: ServerResponse, request: IncomingMessage) => void;

const platform = {
  mutate: async (_: unknown, input: Json) => {
    if ('usageId' in input) return void reported.push(input);
    reserved.push(input);
    return grants.length > 1 ? grants.shift()! : grants[0]!;
  },
} as unknown as Platform;
/** `parked` for each call that has begun to wait for a higher limit, and `ended` for each end of such a wait. */
let waits: string[] = [];
const meter = openMeter(platform, { runId: 'run_1', leaseId: 'lse_1' }, 5, () => {
  waits.push('parked');
  return () => void waits.push('ended');
});
const vendor = createServer(async (request, response) => {
  const text = (await request.toArray()).join('');
  asked.push({ url: request.url!, body: JSON.parse(text), text });
  if (request.url!.endsWith('/count_tokens')) return void response.end('{"input_tokens":40}');
  answer(response, request);
});
/** No client trusts the certificate of this server. */
const secure = createSecureServer(makeCertificate(['localhost']));
const resolveTo = (address: string) =>
  ((_: string, __: object, done: (...found: unknown[]) => void) => done(null, [{ address, family: 4 }])) as never;
let gateway: Gateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const upstream = { base, headers: {} };
  gateway = await openGateway({ anthropic: upstream, openai: upstream, mcp: {} }, null, meter);
  meter.countFor({ stepId: 'stp_1', sandboxId: 'sbx_1', leaseId: 'lse_1', role: 'builder', sessionId: 'ses' } as Json);
});
afterEach(async () => {
  await meter.settled();
  [reserved, reported, asked, waits] = [[], [], [], []];
});
afterAll(async () => {
  await gateway.close();
  vendor.closeAllConnections();
  vendor.close();
  secure.close();
});

const post = (path: string, body: Json, signal?: AbortSignal) => {
  const headers = { 'x-api-key': gateway.key, 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: 'POST',
    headers,
    body: text,
    signal: signal ?? null,
  });
};
const stream =
  (...events: Json[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`event: ${event.type ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
const tokens = ({ inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }: Json) => [
  inputTokens,
  cachedInputTokens,
  cacheWriteTokens,
  outputTokens,
];

it.each([
  [
    'Anthropic, one answer',
    '/anthropic/v1/messages',
    (response: ServerResponse) =>
      response.end(
        '{"usage":{"input_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":2}}',
      ),
    [7, 5, 3, 2],
  ],
  [
    'Anthropic, a stream',
    '/anthropic/v1/messages?beta=true',
    stream(
      {
        type: 'message_start',
        message: { usage: { input_tokens: 7, cache_read_input_tokens: 5, output_tokens: 1 } },
      },
      { type: 'message_delta', usage: { output_tokens: 40 } },
    ),
    [7, 5, 0, 40],
  ],
  [
    'Responses, a stream',
    '/openai/v1/responses',
    stream({
      type: 'response.completed',
      response: { usage: { input_tokens: 12, input_tokens_details: { cached_tokens: 5 }, output_tokens: 4 } },
    }),
    [7, 5, 0, 4],
  ],
  [
    'Chat Completions, a stream',
    '/openai/v1/chat/completions',
    stream({ usage: { prompt_tokens: 12, prompt_tokens_details: { cached_tokens: 5 }, completion_tokens: 4 } }),
    [7, 5, 0, 4],
  ],
])('a metered call of %s is reported with its tokens', async (_, path, respond, expected) => {
  grants = [{ outputTokens: 500, reason: null }];
  answer = respond;
  const body = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] };
  await (await post(path, body)).text();
  await meter.settled();
  expect(reserved).toMatchObject([{ runId: 'run_1', leaseId: 'lse_1', model: 'm' }]);
  expect(reported).toMatchObject([
    { callId: reserved[0].callId, usageId: reserved[0].callId, stepId: 'stp_1', model: 'm' },
  ]);
  expect(tokens(reported[0])).toEqual(expected);
  expect(meter.isUsed()).toBe(true);
});

it('a metered call lowers the output limit and the thinking budget to what the platform allows', async () => {
  grants = [{ outputTokens: 3_000, reason: null }];
  answer = (response) => response.end('{}');
  await post('/anthropic/v1/messages', {
    model: 'm',
    max_tokens: 9_000,
    thinking: { type: 'enabled', budget_tokens: 8_000 },
  });
  await post('/openai/v1/responses', { model: 'm' });
  await post('/openai/v1/chat/completions', { model: 'm', stream: true, max_tokens: 4_000 });
  expect(asked.map(({ body }) => body)).toEqual([
    { model: 'm', max_tokens: 3_000, thinking: { type: 'enabled', budget_tokens: 1_976 } },
    { model: 'm', max_output_tokens: 3_000 },
    { model: 'm', stream: true, max_tokens: 3_000, stream_options: { include_usage: true } },
  ]);
  expect(reserved.map(({ outputTokens }) => outputTokens)).toEqual([9_000, 32_000, 4_000]);
});

it('a metered call has its tokens counted by the vendor when its estimate exceeds a limit, and waits until the platform admits it', async () => {
  const refused = { outputTokens: 0, reason: 'The budget is used up.' };
  grants = [refused, refused, refused, { outputTokens: 10, reason: null }];
  answer = (response) => response.end('{"usage":{"input_tokens":1,"output_tokens":1}}');
  const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(400) }] };
  expect((await post('/anthropic/v1/messages', body)).status).toBe(200);
  expect(new Set(reserved.map(({ callId }) => callId)).size).toBe(1);
  // The vendor counts 40 tokens, which is an estimate.
  expect(reserved.map(({ inputTokens }) => inputTokens)).toEqual([JSON.stringify(body).length + 1_000, 142, 142, 142]);
  expect(asked.map(({ url }) => url)).toEqual(['/v1/messages/count_tokens', '/v1/messages']);
  expect(waits).toEqual(['parked', 'ended']);
});

it('a metered call is not sent when the agent aborts it while it waits', async () => {
  grants = [{ outputTokens: 0, reason: 'The budget is used up.' }];
  const left = new AbortController();
  const waiting = post('/openai/v1/responses', { model: 'm' }, left.signal).catch((error) => error.name);
  await expect.poll(() => reserved.length).toBeGreaterThan(2);
  left.abort();
  expect(await waiting).toBe('AbortError');
  await expect
    .poll(async () => {
      const before = reserved.length;
      await new Promise((resolve) => setTimeout(resolve, 30));
      return reserved.length - before;
    })
    .toBe(0);
  expect([asked, reported, waits]).toEqual([[], [], ['parked', 'ended']]);
});

it('a metered call is free when the vendor refuses it, and charged for the received tokens when it is interrupted', async () => {
  grants = [{ outputTokens: 1_000, reason: null }];
  answer = (response) => response.writeHead(529).end('{"error":{}}');
  expect((await post('/openai/v1/responses', { model: 'm' })).status).toBe(529);
  await expect.poll(() => reported.length).toBe(1);
  expect(tokens(reported[0])).toEqual([0, 0, 0, 0]);
  expect(reported[0].answer).toEqual({
    ...{ vendor: 'openai', status: 529, requestSha256: sha256('{"model":"m","max_output_tokens":1000}') },
    responseSha256: sha256('{"error":{}}'),
  });
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const begun = { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } };
    response.write(`data: ${JSON.stringify(begun)}\n\n`, () => response.destroy());
  };
  await post('/anthropic/v1/messages', { model: 'm' })
    .then((response) => response.text())
    .catch(() => {});
  await expect.poll(() => reported.length).toBe(2);
  // The charge is at least what the received bytes and the duration of the call suggest.
  const [input, , , output] = tokens(reported[1]);
  expect([input, output]).toEqual([7, expect.closeTo(12, -2.9)]);
  expect(output).toBeGreaterThanOrEqual(12);
  // The call is charged for at least the tokens with which the stream began, even when the vendor ends it with an
  // error.
  const begun = { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 900 } } };
  answer = stream(begun, { type: 'error', error: { type: 'overloaded_error' } });
  await (await post('/anthropic/v1/messages', { model: 'm', stream: true })).text();
  await expect.poll(() => reported.length).toBe(3);
  expect(tokens(reported[2])[3]).toBeGreaterThanOrEqual(900);
});

it.each([
  ['in a document', '/openai/v1/responses', (response: ServerResponse) => void response.end('{"output":[]}')],
  [
    'of the output at the end of a stream',
    '/anthropic/v1/messages',
    stream(
      { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } },
      { type: 'message_stop' },
    ),
  ],
])('a metered call keeps its reservation when the vendor reports no usage %s', async (_, path, answered) => {
  grants = [{ outputTokens: 1_000, reason: null }];
  answer = answered;
  await (await post(path, { model: 'm' })).text();
  await meter.settled();
  expect([reserved.length, reported]).toMatchObject([1, [{ callId: null, answer: { status: 200 } }]]);
});

it.each([
  ['whose name does not resolve', () => 'https://vendor.invalid', {}],
  [
    'whose address is refused',
    () => 'https://vendor.test',
    openEgress('https://vendor.test', false, resolveTo('10.0.0.1')),
  ],
  ['that accepts no connection', () => 'http://127.0.0.1:1', {}],
  ['whose certificate is not verified', () => `https://localhost:${(secure.address() as AddressInfo).port}`, {}],
])('a metered call to a vendor %s keeps no reservation', async (_, base, more) => {
  const upstream = { headers: {}, base: base(), ...more };
  const other = await openGateway({ anthropic: upstream, openai: null, mcp: {} }, null, meter);
  grants = [{ outputTokens: 10, reason: null }];
  const { status } = await fetch(`http://127.0.0.1:${other.port}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': other.key },
    body: '{"model":"m","max_tokens":10}',
  });
  expect([status, reported.map(tokens)]).toEqual([502, [[0, 0, 0, 0]]]);
  expect(reported[0].answer).toEqual({
    vendor: 'anthropic',
    status: 0,
    requestSha256: sha256('{"model":"m","max_tokens":10}'),
  });
  await other.close();
});

it.each([
  ['/openai/v1/responses', '{"model":'],
  ['/openai/v1/responses', '7'],
  ['/openai/v1/chat/completions', { model: 'm', n: 2 }],
  ['/openai/v1/chat/completions', { model: 'm', web_search_options: {} }],
  ['/openai/v1/responses', { model: 'm', service_tier: 'priority' }],
  ['/openai/v1/responses', { model: 'm', tools: [{ type: 'web_search' }] }],
  ['/openai/v1/responses', { model: 'm', context_management: [{ type: 'compaction' }] }],
  ['/anthropic/v1/messages', { model: 'm', tools: [{ type: 'web_search_20260209', name: 'web_search' }] }],
  ['/anthropic/v1/messages', { model: 'm', mcp_servers: [{ type: 'url' }] }],
  ['/anthropic/v1/messages', { model: 'm', inference_geo: 'us' }],
  ['/anthropic/v1/messages', { model: 'm', speed: 'fast' }],
  ['/anthropic/v1/messages', { model: 'm', context_management: { edits: [{ type: 'compact_20260112' }] } }],
])('a metered call to %s is refused when its price cannot be computed from its request: %j', async (path, body) => {
  const answer = await post(path, body);
  expect([answer.status, reserved, asked]).toEqual([400, [], []]);
});

it.each([
  ['an image', '/anthropic/v1/messages', { messages: [{ content: [{ type: 'image' }] }] }, 12_000],
  ['an image of OpenAI', '/openai/v1/responses', { input: [{ content: [{ type: 'input_image' }] }] }, 12_000],
  ['a document', '/anthropic/v1/messages', { messages: [{ content: [{ type: 'document' }] }] }, null],
  ['an earlier response', '/openai/v1/responses', { previous_response_id: 'resp_1' }, null],
  ['an item by its id', '/openai/v1/responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }, null],
])('a metered call with %s reserves more tokens than it has bytes', async (_, path, more, extra) => {
  grants = [{ outputTokens: 10, reason: null }];
  answer = (response) => response.end('{}');
  const body = { model: 'm', ...more };
  await post(path, body);
  const size = JSON.stringify(body).length + 1_000;
  expect(reserved[0].inputTokens).toBe(extra === null ? 1_050_000 : size + extra);
});

it('a metered call is sent in the form in which the gateway parsed it: with lowered limits, repeated members only once, and a cache lifetime of five minutes', async () => {
  grants = [{ outputTokens: 10, reason: null }];
  answer = (response) => response.end('{}');
  await post('/openai/v1/chat/completions', { model: 'm', max_tokens: 5, max_completion_tokens: 900 });
  const cached = (ttl: string) => ({ system: [{ text: '"ttl":"1h"', cache_control: { type: 'ephemeral', ttl } }] });
  await post('/anthropic/v1/messages', `{"max_tokens":900,"max_tokens":10,${JSON.stringify(cached('1h')).slice(1)}`);
  expect(reserved.map(({ outputTokens }) => outputTokens)).toEqual([900, 10]);
  expect(asked.map(({ body }) => body)).toEqual([
    { model: 'm', max_tokens: 10, max_completion_tokens: 10 },
    { max_tokens: 10, ...cached('5m') },
  ]);
  expect(asked.map(({ text }) => text.match(/max_tokens/g)!.length)).toEqual([1, 1]);
});
