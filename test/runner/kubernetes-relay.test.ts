// The relay of a runner in a cluster. Through it, a mission in a pod reaches the hosts that the runner allows. It also reaches the platform, but only
// with its own lease.
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimRun, finishRun, heartbeat } from '../../src/runner/generated/operations.ts';
import type { HandOver } from '../../src/runner/kubernetes/hand-over.ts';
import { openRelay } from '../../src/runner/kubernetes/relay.ts';
import { openTokens } from '../../src/runner/kubernetes/tokens.ts';
import { openDialer } from '../../src/runner/network/dialer.ts';
import { through } from '../../src/runner/protocol/via.ts';

/** A server that answers with what it has received. */
const server = createServer(async (request, response) => {
  const { method, url, headers } = request;
  const { authorization, 'x-api-key': key } = headers;
  response.end(JSON.stringify({ method, url, authorization, key, body: await text(request) }));
});
const tokens = openTokens('srv_secret');
const identity = { runId: 'run_1', leaseId: 'lease_1', claimId: 'claim_1' };
const token = tokens.sign(identity, Date.now() + 3_600_000);
const expired = tokens.sign(identity, Date.now() - 1);
let [target, address]: [string, string] = ['', ''];
let relay: Awaited<ReturnType<typeof openRelay>>;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  target = `http://${host}`;
  const routes = { privateHosts: new Set([host]), upstream: null, roots: '' };
  const models = { anthropic: { base: `${target}/vendor`, headers: { 'x-api-key': 'real-key' } }, openai: null };
  const own = { platformUrl: target, serviceToken: 'srv_secret', tokens, models, routes };
  relay = await openRelay({ ...own, port: 0 });
  address = `http://127.0.0.1:${relay.port}`;
});
afterAll(async () => {
  await relay.close();
  await new Promise((resolve) => server.close(resolve));
});

const graph = async (query: string, variables: object, bearer = token) => {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ query, variables });
  const answer = await fetch(`${address}/platform/graphql`, { method: 'POST', headers, body });
  return { status: answer.status, ...(await answer.json()) };
};

it('the relay sends requests about the lease of a pod to the platform with the service token, and refuses all others', async () => {
  const lease = { runId: 'run_1', leaseId: 'lease_1' };
  const sent = await graph(finishRun.text, { input: { ...lease, status: 'completed' } });
  expect(sent).toMatchObject({ status: 200, url: '/graphql', authorization: 'Bearer srv_secret' });
  expect(await graph(claimRun.text, { input: { claimId: 'claim_1', runId: 'run_1' } })).toMatchObject({ status: 200 });
  const refused = await Promise.all([
    graph(finishRun.text, { input: { ...lease, leaseId: 'lease_2' } }),
    graph(finishRun.text, { input: { ...lease, runId: 'run_2' } }),
    graph(heartbeat.text, { input: { runs: [lease, { runId: 'run_2', leaseId: 'lease_2' }] } }),
    graph(claimRun.text, { input: { claimId: 'claim_2', runId: 'run_1' } }),
    graph(claimRun.text, { input: { claimId: 'claim_1', runId: 'run_2' } }),
    graph(claimRun.text, { input: { claimId: 'claim_1' } }),
    graph('{ organizations { data { id } } }', { leaseId: 'lease_1' }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
  for (const wrong of [`${token}x`, expired])
    expect(await graph(finishRun.text, { input: lease }, wrong)).toMatchObject({ status: 401 });
});

it('the relay refuses a pod without a name, and gives pods no mission until the runner watches the cluster', async () => {
  const ask = async (body: string) => (await fetch(`${address}/pod`, { method: 'POST', body })).status;
  expect(await Promise.all(['{', 'null', '{"name":"pod-1"}'].map(ask))).toEqual([400, 400, 400]);
  expect(await ask('{"name":"pod-1","uid":"uid-1"}')).toBe(503);
});

/** Status of a request to a path that is sent unchanged; `fetch` would resolve `..` first. */
const statusOf = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'x-lease-id': 'lease_1' };
    const options = { port: relay.port, path, method: 'POST', headers };
    const sent = request(options, (answer: IncomingMessage) => resolve(answer.resume().statusCode!));
    sent.on('error', reject).end('{}');
  });

it('the relay refuses a path that leads outside of the mission', async () => {
  expect(await statusOf('/platform/mcp/runs/run_1/docs?session=1')).toBe(200);
  const paths = [
    '../../../graphql',
    '%2e%2e/%2E./.%2e/graphql',
    '..\\..\\..\\graphql',
    '../run_2/docs',
    './docs',
    '..?x',
  ];
  const answers = await Promise.all(paths.map((path) => statusOf(`/platform/mcp/runs/run_1/${path}`)));
  expect(answers).toEqual(paths.map(() => 403));
  expect(await statusOf(`/models/${token}/anthropic/../admin`)).toBe(404);
});

it('the relay adds the key of a model to requests, and reaches the hosts that the runner allows', async () => {
  const model = await fetch(`${address}/models/${token}/anthropic/v1/messages`, { method: 'POST', body: '{}' });
  expect(await model.json()).toEqual({ method: 'POST', url: '/vendor/v1/messages', key: 'real-key', body: '{}' });
  const via = through(address, token);
  const repository = await fetch(`${via.host(`${target}/a/b.git`)}/info/refs?service=git-upload-pack`);
  expect(await repository.json()).toMatchObject({ url: '/a/b.git/info/refs?service=git-upload-pack' });
  expect((await fetch(via.host('http://127.0.0.1:9/'))).status).toBe(502);
  for (const wrong of ['wrong.token', expired]) {
    expect((await fetch(through(address, wrong).host(target))).status).toBe(401);
    expect((await fetch(`${address}/models/${wrong}/anthropic/v1/messages`)).status).toBe(401);
  }
});

it('the relay opens connections for programs that have the token of their mission', async () => {
  const [host, port] = [new URL(target).hostname, Number(new URL(target).port)];
  const dialer = (login: string) => {
    const upstream = new URL(address.replace('//', `//mission:${login}@`));
    return openDialer({ privateHosts: new Set(), upstream, isRelay: true, roots: '' });
  };
  const socket = await dialer(token).connect(host, port);
  socket.end('GET /through HTTP/1.0\r\n\r\n');
  expect(await text(socket)).toContain('"url":"/through"');
  for (const wrong of ['wrong.token', expired])
    await expect(dialer(wrong).connect(host, port)).rejects.toThrow('answered 407');
  await expect(dialer(token).connect('127.0.0.1', 9)).rejects.toThrow('answered 502');
});

describe('a relay that drains', () => {
  let release: () => void;
  const slow = createServer((_, response) => {
    response.write('the ');
    release = () => response.end('answer');
  });
  let base = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  });
  afterAll(() => slow.close());

  const openAnother = async (handOver: HandOver | null = null) => {
    const routes = { privateHosts: new Set<string>(), upstream: null, roots: '' };
    const models = { anthropic: { base, headers: {} }, openai: null };
    const own = { platformUrl: target, serviceToken: 'srv_secret', tokens, models, routes, port: 0 };
    const ending = await openRelay({ ...own, handOver });
    const at = `http://127.0.0.1:${ending.port}`;
    const answer = await fetch(`${at}/models/${token}/anthropic/v1/messages`, { method: 'POST', body: '{}' });
    return { ending, at, answer };
  };

  it('a relay that drains takes no more connections, answers waiting pods so that they ask another relay, and ends after its last response', async () => {
    let isAsked = false;
    const handOver: HandOver = (_token, _pod, gone) => {
      isAsked = true;
      return new Promise((resolve) => gone.addEventListener('abort', () => resolve(204)));
    };
    const { ending, at, answer } = await openAnother(handOver);
    const waiting = fetch(`${at}/pod`, { method: 'POST', body: '{"name":"pod-1","uid":"uid-1"}' });
    await vi.waitFor(() => expect(isAsked).toBe(true));
    let isDrained = false;
    const drained = ending.drain(60_000).then(() => {
      isDrained = true;
    });
    expect((await waiting).status).toBe(204);
    await expect(fetch(`${at}/healthz`)).rejects.toThrow();
    expect(isDrained).toBe(false);
    release();
    expect(await answer.text()).toBe('the answer');
    await drained;
  });

  it('a relay that drains waits no longer than its time limit', async () => {
    const { ending, answer } = await openAnother();
    await ending.drain(1);
    await ending.close();
    await expect(answer.text()).rejects.toThrow();
  });
});
