// Endpoints for operators: liveness, readiness and metrics.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { parkingLimits } from '#domain/work/runs/model.ts';
import { hours, seconds } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { projectFolder } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
let acme: Organization;
let token: string;
/** The database pool that one of the tests opens. From then on, the service uses this pool instead of the world’s pool. */
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

describe('Liveness', () => {
  it('200 · /livez answers while the process is alive', async () => {
    const { status, body, headers } = await world.request('GET', '/livez');
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'live', version: '0.0.0' });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('200 · HEAD on /livez returns only the headers', async () => {
    const { status, body, headers } = await world.request('HEAD', '/livez');
    expect([status, body, headers.get('content-length')]).toEqual([200, '', '35']);
  });

  it.each(['POST', 'DELETE', 'PUT'])('405 · health checks and metrics refuse %s', async (method) => {
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const { status, headers, body } = await world.request(method, path);
      expect([status, headers.get('allow'), body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
    }
  });

  it('404 · paths similar to /livez are not served', async () => {
    for (const path of ['/livez/', '/livezz', '/constructor', '/__proto__']) {
      expect((await world.request('GET', path)).status).toBe(404);
    }
  });
});

describe('Readiness', () => {
  it('200 · /readyz answers when the database is reachable and has the current schema', async () => {
    const { status, body } = await world.request('GET', '/readyz');
    expect([status, body]).toEqual([200, ready]);
  });

  it('503 · /readyz names the pending migrations of the database', async () => {
    const [last] = await world.knex('knex_migrations').orderBy('id', 'desc').limit(1);
    await world.knex('knex_migrations').where({ id: last.id }).delete();
    const { status, body } = await world.request('GET', '/readyz');
    expect(status).toBe(503);
    expect(body).toEqual({ status: 'unready', database: 'reachable', migrations: 'pending', pending: [last.name] });
    await world.knex('knex_migrations').insert(last);
    expect((await world.request('GET', '/readyz')).status).toBe(200);
  });

  it('503 · a database that does not answer /readyz within two seconds counts as unavailable', async () => {
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

  it('503 · /readyz fails while the database is unavailable, and /livez stays 200', async () => {
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

describe('Metrics', () => {
  it('200 · metrics count requests by the labels surface, method, route and status, never by path', async () => {
    const id = await createProject(world, { token }, 'Shop');
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
    // After a response, the service may need a connection for a moment, for example to record that a token was used.
    const metrics = async () => (await world.request('GET', '/metrics')).body;
    await expect.poll(metrics).toMatch(/^database_pool_connections\{state="used"\} 0$/m);
    expect(text).toMatch(/^database_pool_connections\{state="free"\} [1-9]/m);
    expect(text).toMatch(/^database_pool_connections\{state="waiting"\} 0$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    for (const raw of [id, 'wp-login', 'nothing/here']) expect(text).not.toContain(raw);
  });

  it('200 · metrics report missions, their queue, runtimes, model connectors and costs of all organizations', async () => {
    const figures = async () => {
      // Figures are read every five seconds.
      world.clock.turn(seconds(6));
      const { body: text } = await world.request('GET', '/metrics');
      const own =
        /^(?:runs?_|runtimes_|runtime_places|model_connectors|model_calls_(?:open|reserved)|inbound_|mission_)/;
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
      ...Object.fromEntries(parkingLimits.map((limit) => [`runs_parked{limit="${limit}"}`, 0])),
      ...{ model_calls_open: 0, model_calls_reserved_usd: 0 },
      ...{ 'inbound_events_waiting{for="place"}': 0, 'inbound_events_waiting{for="time"}': 0 },
      runs_waiting_for_person: 0,
      run_queue_age_seconds: 0,
      runtimes_connected: 0,
      'runtime_places{state="used"}': 0,
      'runtime_places{state="free"}': 0,
      'model_connectors{credentials="accepted"}': 0,
      'model_connectors{credentials="rejected"}': 0,
      // A counter of the process, which other tests increase too.
      mission_cost_usd_total: expect.any(Number),
    });
    const costBefore = idle.mission_cost_usd_total!;
    const projectId = await createProject(world, { token }, 'Stall');
    await world.rest('POST', '/runs', { token, body: { projectId, prompt: 'Say hello.' } });
    world.clock.turn(seconds(90));
    expect(await figures()).toEqual({
      ...idle,
      'runs_open{status="dispatching"}': 1,
      run_queue_age_seconds: 96,
      ...{ 'runs_waiting_for_runtime{labels="none"}': 1, 'runs_waiting_for_runtime_age_seconds{labels="none"}': 96 },
    });

    const service = await world.service();
    const report = async (name: string, input: object, selection = '{ ok }') => {
      const query = `mutation ($input: ${name}Request!) { said: ${name[0]!.toLowerCase()}${name.slice(1)}(input: $input) ${selection} }`;
      return (await world.graphql(query, { token: service, variables: { input } })).body.data.said;
    };
    const runtime = { runtime: 'Runtime', harnesses: ['claude-code'], modelVendors: ['anthropic'], places: 3 };
    const held = await report('ClaimRun', runtime, '{ runId leaseId }');
    for (const _ of ['reported', 'repeated']) await report('ReportCost', { ...held, costId: 'cost-1', usd: 0.25 });
    const working = {
      ...idle,
      runtimes_connected: 1,
      'runtime_places{state="used"}': 1,
      'runtime_places{state="free"}': 2,
      mission_cost_usd_total: costBefore + 0.25,
    };
    expect(await figures()).toEqual({ ...working, 'runs_open{status="running"}': 1 });
    const { runId } = held;
    const { knex } = world;
    await knex('runs').where({ id: runId }).update({ parkedBy: 'budget', parkedAt: 1 });
    await knex('model_calls').insert({
      runId,
      callId: 'c',
      orgId: acme.id,
      amount: 2_500_000,
      outputTokens: 1,
      createdAt: 1,
    });
    const reserved = { model_calls_open: 1, model_calls_reserved_usd: 2.5, 'runs_parked{limit="budget"}': 1 };
    // The run waits until a person raises the limit.
    Object.assign(reserved, { runs_waiting_for_person: 1 });
    expect(await figures()).toEqual({ ...working, 'runs_open{status="running"}': 1, ...reserved });
    await knex('model_calls').delete();
    await knex('runs').where({ id: runId }).update({ parkedBy: null, parkedAt: null });
    const box = { ...held, key: 'box', role: 'builder', harness: 'claude-code', instanceType: 'lite' };
    const { sandboxId } = await report('RegisterSandbox', box, '{ sandboxId }');
    const fragments = [{ kind: 'elicitation', t: 1, body: 'May I?' }];
    await report('AppendFragments', { sandboxId, leaseId: held.leaseId, seq: 0, fragments }, '{ nextSeq }');
    const asking = { ...working, 'runs_open{status="running"}': 1, runs_waiting_for_person: 1 };
    expect(await figures()).toEqual(asking);
    const answer = { token, body: { text: 'Yes' }, headers: { 'idempotency-key': 'yes' } };
    expect((await world.rest('POST', `/runs/${held.runId}/answer`, answer)).status).toBe(201);
    // An interrupted mission does not count as waiting, because the person who interrupted it decides how it continues.
    expect((await world.rest('POST', `/runs/${held.runId}/interruption`, { token })).status).toBe(200);
    expect(await figures()).toEqual({ ...asking, runs_waiting_for_person: 0 });
    await report('FinishRun', { ...held, status: 'failed', error: 'no' });
    const free = { 'runtime_places{state="used"}': 0, 'runtime_places{state="free"}': 3 };
    expect(await figures()).toEqual({ ...working, ...free, 'runs_ended_last_hour{status="failed"}': 1 });
    world.clock.turn(hours(1));
    const gone = { runtimes_connected: 0, 'runtime_places{state="free"}': 0 };
    expect(await figures()).toEqual({ ...working, ...free, ...gone });
  });

  it('200 · a label named like a property of every JavaScript object appears in the metrics', async () => {
    const labeled = { name: 'Labeled', labels: ['constructor'] };
    const template = (await world.rest('POST', '/sandbox-templates', { token, body: labeled })).body.id;
    const projectId = await createProject(world, { token }, 'A');
    const run = (await world.rest('POST', '/runs', { token, body: { projectId, prompt: 'Hello' } })).body;
    await world.knex('runs').where({ id: run.id }).update({ sandboxTemplateId: template });
    // Figures are read every five seconds.
    world.clock.turn(seconds(6));
    const { status, body } = await world.request('GET', '/metrics');
    expect([status, body]).toEqual([
      200,
      expect.stringContaining('runs_waiting_for_runtime{labels="constructor"} 1\n'),
    ]);
    await world.knex('runs').where({ id: run.id }).update({ status: 'canceled' });
  });

  const observability = (file: string) => readFileSync(path.join(projectFolder, 'deploy/observability', file), 'utf8');
  const rules = observability('prometheus-rules.yaml');
  const { panels } = JSON.parse(observability('grafana-dashboard.json'));
  const targets: { expr: string }[] = panels.flatMap((panel: { targets?: object[] }) => panel.targets ?? []);
  const shown = targets.map(({ expr }) => expr);

  it('200 · every metric of the alert rules and the dashboard exists, and each metric of the service is documented', async () => {
    const { body: text } = await world.request('GET', '/metrics');
    const alerts: string[] = parse(rules).groups[0].rules.map(({ expr }: { expr: string }) => expr);
    const namesIn = (expr: string): string[] =>
      expr.replace(/\{.*?\}|\[.*?\]|\bby \([\w, ]+\)|\b(and|or)\b/g, ' ').match(/\b([a-z]+_\w+|capacity)\b(?!\()/g) ??
      [];
    for (const expr of [...alerts, ...shown]) expect([expr, namesIn(expr).length]).not.toEqual([expr, 0]);
    const there = [...(text as string).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    const used = [...alerts, ...shown].flatMap(namesIn).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    expect(used.filter((name) => !there.includes(name))).toEqual([]);
    const documented = readFileSync(path.join(projectFolder, 'docs/observability.md'), 'utf8');
    const own = there.filter((name) => !/^(process|nodejs)_/.test(name));
    expect(text).toMatch(/^audit_changes_waiting [1-9]/m);
    expect(text).toMatch(/^capacity\{name="executions",state="limit"\} 128000$/m);
    expect(text).toMatch(/^background_job_age_seconds\{queue="mail"\} \d+$/m);
    expect(own.filter((name) => !documented.includes(`\`${name}`))).toEqual([]);
  });

  it('promtool accepts the alert rules and the queries of the dashboard', async ({ skip }) => {
    if (spawnSync('promtool', ['--version']).error) skip('promtool is not installed');
    const folder = await mkdtemp(path.join(tmpdir(), 'aep-rules-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const queries = shown.map((expr, i) => ({ record: `panel_${i}`, expr }));
    const files = { rules, queries: JSON.stringify({ groups: [{ name: 'dashboard', rules: queries }] }) };
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, `${name}.yaml`);
      await writeFile(file, text.replaceAll('$__rate_interval', '5m'));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
      expect([status, stderr], stdout).toEqual([0, '']);
    }
  });

  const forwarded = { 'x-forwarded-for': '203.0.113.9' };

  it('401 · a request for metrics through a proxy does not count as one from the machine itself', async () => {
    for (const headers of [forwarded, { forwarded: 'for=203.0.113.9' }]) {
      const { status, body, headers: answered } = await world.request('GET', '/metrics', { headers });
      expect([status, body.code]).toEqual([401, 'unauthenticated']);
      expect(answered.get('www-authenticate')).toContain('resource_metadata=');
    }
    expect((await world.request('GET', '/metrics', { headers: forwarded, token: 'srv_wrong' })).status).toBe(401);
  });

  it('403 · metrics are refused to a person’s token or session, and to the runtime token of an organization', async () => {
    const session = await world.session(await world.person('Alice'), acme.id);
    const { token: runtime } = await createServiceToken({ name: 'Runtime', orgId: acme.id });
    for (const ask of [{ token }, { session }, { token: runtime }]) {
      const { status, body } = await world.request('GET', '/metrics', { headers: forwarded, ...ask });
      expect(status).toBe(403);
      expect(body.description).toBe(
        'Reading metrics requires a service token for all organizations, or a request from this machine.',
      );
    }
  });

  it('200 · metrics are readable from anywhere with a service token', async () => {
    const answer = await world.request('GET', '/metrics', { headers: forwarded, token: await world.service() });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('http_requests_total');
  });
});
