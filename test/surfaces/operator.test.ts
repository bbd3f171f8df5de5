// Endpoints for operators: liveness, readiness and metrics.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { hours, seconds } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { createOwner } from '../support/callers.ts';
import { projectFolder } from '../support/processes.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let token: string;
/** The pool that replaced the world's own for the service under test. */
let rebound: World['knex'] | undefined;

beforeAll(async () => {
  world = await openWorld();
  ({ organization: acme, token } = await createOwner(world, 'Alice', 'Acme'));
});
afterAll(async () => {
  await rebound?.destroy();
  await world.close();
});

const ready = { status: 'ready', database: 'reachable', migrations: 'current' };

describe('GET /livez', () => {
  it('200 · the process is alive, whatever the database does', async () => {
    const { status, body, headers } = await world.request('GET', '/livez');
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'live', version: '0.0.0' });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('200 · HEAD gets only the headers', async () => {
    const { status, body, headers } = await world.request('HEAD', '/livez');
    expect([status, body, headers.get('content-length')]).toEqual([200, '', '35']);
  });

  it.each(['POST', 'DELETE', 'PUT'])('405 · refuses %s', async (method) => {
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const { status, headers, body } = await world.request(method, path);
      expect([status, headers.get('allow'), body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
    }
  });

  it('404 · a similar path is not served', async () => {
    for (const path of ['/livez/', '/livezz', '/constructor', '/__proto__']) {
      expect((await world.request('GET', path)).status).toBe(404);
    }
  });
});

describe('GET /readyz', () => {
  it('200 · the database answers and has the current schema', async () => {
    const { status, body } = await world.request('GET', '/readyz');
    expect([status, body]).toEqual([200, ready]);
  });

  it('503 · names the pending migrations of the database', async () => {
    const [last] = await world.knex('knex_migrations').orderBy('id', 'desc').limit(1);
    await world.knex('knex_migrations').where({ id: last.id }).delete();
    const { status, body } = await world.request('GET', '/readyz');
    expect(status).toBe(503);
    expect(body).toEqual({ status: 'unready', database: 'reachable', migrations: 'pending', pending: [last.name] });
    await world.knex('knex_migrations').insert(last);
    expect((await world.request('GET', '/readyz')).status).toBe(200);
  });

  it('503 · a database that does not answer within two seconds counts as unavailable', async () => {
    const lock = await world.knex.transaction();
    await lock.raw('lock table knex_migrations in access exclusive mode');
    const begun = performance.now();
    const { status, body } = await world.request('GET', '/readyz');
    const took = performance.now() - begun;
    await lock.rollback();
    expect([status, body]).toEqual([503, { status: 'unready', database: 'unreachable' }]);
    expect(took).toBeGreaterThan(1_900);
    expect((await world.request('GET', '/readyz')).body).toEqual(ready);
  });

  it('503 · the database is unavailable; /livez stays 200', async () => {
    const gone = openDatabase({ connection: { host: '127.0.0.1', port: 1 }, retryForMs: 300 });
    try {
      const { status, body } = await world.request('GET', '/readyz');
      expect([status, body]).toEqual([503, { status: 'unready', database: 'unreachable' }]);
      expect((await world.request('GET', '/livez')).status).toBe(200);
    } finally {
      await gone.destroy();
      rebound = openDatabase({ connection: world.connection });
    }
    expect((await world.request('GET', '/readyz')).body).toEqual(ready);
  });
});

describe('GET /metrics', () => {
  it('200 · counts requests by surface, method, route and status, never by path, for the machine itself', async () => {
    const body = { name: 'Shop', repoFullName: 'acme/shop' };
    const { id } = (await world.rest('POST', '/projects', { token, body })).body;
    await world.rest('GET', `/projects/${id}`, { token });
    await world.request('GET', '/v1/nothing/here');
    await world.request('GET', '/wp-login.php');
    const { status, body: text, headers } = await world.request('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(
      /^http_requests_total\{surface="rest",method="GET",route="[^"]*projects\/\{projectId\}",status="200"\} \d+$/m,
    );
    expect(text).toMatch(
      /^http_request_duration_seconds_count\{surface="rest",method="POST",route="[^"]*projects",status="201"\} \d+$/m,
    );
    expect(text).toMatch(/^http_requests_total\{surface="none",method="GET",route="none",status="404"\} \d+$/m);
    // Work after the responses, such as the use of a token, may hold a connection for a moment.
    const metrics = async () => (await world.request('GET', '/metrics')).body;
    await expect.poll(metrics).toMatch(/^database_pool_connections\{state="used"\} 0$/m);
    expect(text).toMatch(/^database_pool_connections\{state="free"\} [1-9]/m);
    expect(text).toMatch(/^database_pool_connections\{state="waiting"\} 0$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    for (const raw of [id, 'wp-login', 'nothing/here']) expect(text).not.toContain(raw);
  });

  it('200 · reports missions, their queue, runtimes, model connectors and costs of all organizations', async () => {
    const figures = async () => {
      // Figures are read every five seconds.
      world.clock.turn(seconds(6));
      const { body: text } = await world.request('GET', '/metrics');
      const own = /^(?:runs?_|runtimes_|model_connectors|mission_)/;
      return Object.fromEntries(
        (text as string)
          .split('\n')
          .filter((line) => own.test(line))
          .map((line) => [line.replace(/ .*/, ''), Number(line.split(' ').at(-1))]),
      );
    };
    const idle = await figures();
    expect(idle).toEqual({
      'runs_open{status="dispatching"}': 0,
      'runs_open{status="running"}': 0,
      'runs_ended_last_hour{status="completed"}': 0,
      'runs_ended_last_hour{status="failed"}': 0,
      'runs_ended_last_hour{status="canceled"}': 0,
      runs_waiting_for_person: 0,
      run_queue_age_seconds: 0,
      runtimes_connected: 0,
      'model_connectors{credentials="accepted"}': 0,
      'model_connectors{credentials="rejected"}': 0,
      // A counter of the process, which other tests increase too.
      mission_cost_usd_total: expect.any(Number),
    });
    const costBefore = idle.mission_cost_usd_total!;
    const { id: projectId } = (
      await world.rest('POST', '/projects', { token, body: { name: 'Stall', repoFullName: 'acme/stall' } })
    ).body;
    await world.rest('POST', '/runs', { token, body: { projectId, prompt: 'Say hello.' } });
    world.clock.turn(seconds(90));
    expect(await figures()).toEqual({ ...idle, 'runs_open{status="dispatching"}': 1, run_queue_age_seconds: 96 });

    const service = await world.service();
    const report = async (name: string, input: object, selection = '{ ok }') => {
      const query = `mutation ($input: ${name}Request!) { said: ${name[0]!.toLowerCase()}${name.slice(1)}(input: $input) ${selection} }`;
      return (await world.graphql(query, { token: service, variables: { input } })).body.data.said;
    };
    const runtime = { runtime: 'Runtime', harnesses: ['claude-code'], modelVendors: ['anthropic'] };
    const held = await report('ClaimRun', runtime, '{ runId leaseId }');
    for (const _ of ['reported', 'repeated']) await report('ReportCost', { ...held, costId: 'cost-1', usd: 0.25 });
    const working = { ...idle, runtimes_connected: 1, mission_cost_usd_total: costBefore + 0.25 };
    expect(await figures()).toEqual({ ...working, 'runs_open{status="running"}': 1 });
    const box = { ...held, key: 'box', role: 'builder', harness: 'claude-code', instanceType: 'lite' };
    const { sandboxId } = await report('RegisterSandbox', box, '{ sandboxId }');
    const fragments = [{ kind: 'elicitation', t: 1, body: 'May I?' }];
    await report('AppendFragments', { sandboxId, leaseId: held.leaseId, seq: 0, fragments }, '{ nextSeq }');
    const asking = { ...working, 'runs_open{status="running"}': 1, runs_waiting_for_person: 1 };
    expect(await figures()).toEqual(asking);
    const answer = { token, body: { text: 'Yes' }, headers: { 'idempotency-key': 'yes' } };
    expect((await world.rest('POST', `/runs/${held.runId}/answer`, answer)).status).toBe(201);
    // An interrupted mission does not count as waiting: the person who interrupted it acts on it.
    expect((await world.rest('POST', `/runs/${held.runId}/interruption`, { token })).status).toBe(200);
    expect(await figures()).toEqual({ ...asking, runs_waiting_for_person: 0 });
    await report('FinishRun', { ...held, status: 'failed', error: 'no' });
    expect(await figures()).toEqual({ ...working, 'runs_ended_last_hour{status="failed"}': 1 });
    world.clock.turn(hours(1));
    expect(await figures()).toEqual({ ...working, runtimes_connected: 0 });
  });

  it('200 · has every metric of the example alerts', async () => {
    const { body: text } = await world.request('GET', '/metrics');
    const { groups } = parse(readFileSync(path.join(projectFolder, 'deploy/prometheus-alerts.yaml'), 'utf8'));
    const rules: { expr: string }[] = groups[0].rules;
    const names = rules.flatMap(({ expr }) => expr.replace(/\{.*?\}|\bby \(\w+\)/g, '').match(/\b[a-z]+_\w+\b(?!\()/g));
    expect(names.length).toBeGreaterThanOrEqual(rules.length);
    const there = [...(text as string).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(names.filter((name) => !there.includes(name!.replace(/_bucket$/, '')))).toEqual([]);
  });

  const forwarded = { 'x-forwarded-for': '203.0.113.9' };

  it('401 · a request through a proxy is not from the machine itself', async () => {
    for (const headers of [forwarded, { forwarded: 'for=203.0.113.9' }]) {
      const { status, body, headers: answered } = await world.request('GET', '/metrics', { headers });
      expect([status, body.code]).toEqual([401, 'unauthenticated']);
      expect(answered.get('www-authenticate')).toContain('resource_metadata=');
    }
    expect((await world.request('GET', '/metrics', { headers: forwarded, token: 'srv_wrong' })).status).toBe(401);
  });

  it('403 · a person’s token or session is refused; one organization’s runtime token is too', async () => {
    const session = await world.session(await world.person('Alice'), acme.id);
    const { token: runtime } = await createServiceToken({ name: 'Runtime', orgId: acme.id });
    for (const ask of [{ token }, { session }, { token: runtime }]) {
      const { status, body } = await world.request('GET', '/metrics', { headers: forwarded, ...ask });
      expect(status).toBe(403);
      expect(body.description).toBe(
        'Reading metrics requires a service token for every organization, or a request from this machine.',
      );
    }
  });

  it('200 · answers from anywhere with a service token', async () => {
    const answer = await world.request('GET', '/metrics', { headers: forwarded, token: await world.service() });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('http_requests_total');
  });
});
