// Calls with an Idempotency-Key take effect exactly once: whichever process or connection dies during a call, the call has taken
// effect or not, and its key is free or repeats the answer. KEYED_CALLS=<n> sets the number of random calls.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { days } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { atOnce } from '../support/at-once.ts';
import { createOwner } from '../support/callers.ts';
import { openRemoteMcp, type RemoteMcp } from '../support/fake-mcp-server.ts';
import { freePort, type ServiceProcess, startService } from '../support/processes.ts';
import { type Answer, requestsTo, type Session } from '../support/requests.ts';
import { noteArtifact, showFragments, startSandbox, writeSteps } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

const randomCalls = Number(process.env.KEYED_CALLS ?? 40);

let world: World;
let acme: Organization;
let alice: Person;
let token: string;
let session: Session;
let projectId: string;
/** A second connection: reads the service's rows, and ends the service's connections. */
let beside: Knex;
/** A remote MCP server, called during some calls, together with its authorization server. */
let remote: RemoteMcp;
let repositories: string;

beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme, token } = await createOwner(world, 'Alice', 'Acme'));
  await world.grant(acme, 10_000);
  await world.lift(acme);
  session = await world.session(alice, acme.id);
  beside = knexFactory({ client: 'pg', connection: world.connection, pool: { min: 0, max: 2 } });
  remote = await openRemoteMcp();
  openOutbound({ allowLoopback: true });
  repositories = await mkdtemp(path.join(tmpdir(), 'aep-keys-'));
  await declareServers();
  await connectIntegration({
    ...{ orgId: acme.id, vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: repositories },
  });
  projectId = (await write('/projects', { name: 'Home', repoFullName: 'acme/home' })).body.id;
  await beside.raw('create sequence deaths');
  // The trigger function ends its own connection, once after each reset of the sequence.
  await beside.raw(`create function die() returns trigger language plpgsql as $$ begin
    if nextval('deaths') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10); end if;
    return null;
  end $$`);
});
afterAll(async () => {
  await beside.destroy();
  await world.close();
  await remote.close();
  await rm(repositories, { recursive: true });
  openOutbound({ allowLoopback: false });
});

const serversDeclared = 50;
/** Declares as many servers in the project's repository as a file may have. */
async function declareServers(): Promise<void> {
  const folder = path.join(repositories, 'acme', 'home');
  const servers = Array.from({ length: serversDeclared }, (_, n) => [`s${n}`, { url: remote.url }]);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'service.yml'), JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'declare');
}

let bound = 0;
/** Binds another server of the project. */
async function bindServer(): Promise<{ at: string; id: string }> {
  const serverName = `s${bound++ % serversDeclared}`;
  const at = `/mcp/projects/${projectId}/servers/${serverName}`;
  await world.rest('DELETE', at, { token });
  const { status } = await world.rest('PUT', at, { token, body: { roles: ['builder'] } });
  expect(status).toBe(200);
  const [row] = await beside('mcp_bindings').where({ project_id: projectId, server_name: serverName }).select('id');
  return { at, id: row!.id };
}

const write = (path: string, body?: object, key?: string, ask: object = { token }) =>
  world.rest('POST', path, { ...ask, body, ...(key && { headers: { 'idempotency-key': key } }) });

let made = 0;
const unique = () => `n${++made}`;
const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];
const recurring = () => ({ projectId, name: unique(), prompt: 'Tidy up.', triggers });

/** A mission that waits for a runtime, with these column values. */
async function startRun(columns: object = {}): Promise<string> {
  const { id } = (await write('/runs', { projectId, prompt: unique() })).body;
  if (Object.keys(columns).length > 0) await beside('runs').where({ id }).update(columns);
  return id;
}

let webhook: { id: string; orgId: string } | undefined;
/** A webhook that was sent, and where its repetition is found. */
async function sentWebhook() {
  const body = { name: 'Sent', url: 'https://192.0.78.9/' };
  webhook ??= (await write('/webhook-endpoints', body, undefined, { session })).body.endpoint;
  await beside('webhook_deliveries').where({ endpoint_id: webhook!.id }).delete();
  const [id, at] = [newId('webhookDelivery'), present()];
  await beside('webhook_deliveries').insert({
    ...{ id, org_id: webhook!.orgId, endpoint_id: webhook!.id, number: 1, type: 'run.completed', body: '{}' },
    ...{ status: 'delivered', attempts: 1, created_at: at },
  });
  const again = { ask: { session }, table: 'webhook_deliveries', where: { resend_of: id } };
  return { endpoint: `/webhook-endpoints/${webhook!.id}`, id, again };
}

/** An event of another system that waits for an approval. */
async function waitingDelivery(): Promise<{ path: string; id: string }> {
  const { hook } = (await write('/inbound-hooks', { name: unique(), vendor: 'webhook' })).body;
  const [id, at] = [newId('inboundDelivery'), present()];
  await beside('inbound_deliveries').insert({
    ...{ id, org_id: hook.orgId, hook_id: hook.id, external_id: id, event: 'event', payload: '{}', status: 'waiting' },
    ...{ received_at: at, created_at: at },
  });
  return { path: `/inbound-hooks/${hook.id}/deliveries/${id}`, id };
}

interface Call {
  path: string;
  body?: object;
  ask?: object;
  /** Table of the written rows: one row per effect. */
  table: string;
  where: object;
  /** A call of the route that is refused; by default one with an invalid member of the body or an unknown id. */
  refused?: { path: string; body?: object };
}

/** A new call to each route that accepts a key. */
const routes: Record<string, () => Promise<Call>> = {
  async '/organizations'() {
    const name = unique();
    return { path: '/organizations', body: { name }, ask: { session }, table: 'organizations', where: { name } };
  },
  async '/organizations/{orgId}/memberships'() {
    const { id: userId } = await world.person(unique());
    const path = `/organizations/${acme.id}/memberships`;
    return {
      path,
      body: { userId, role: 'member' },
      ask: { session },
      table: 'memberships',
      where: { user_id: userId },
    };
  },
  async '/invites'() {
    const email = `${unique()}@example.com`;
    return { path: '/invites', body: { email, role: 'member' }, table: 'invites', where: { email } };
  },
  async '/projects'() {
    const name = unique();
    return { path: '/projects', body: { name, repoFullName: `acme/${name}` }, table: 'projects', where: { name } };
  },
  async '/tokens'() {
    const name = unique();
    const body = { name, scopes: ['projects:read'], expiresInDays: 1 };
    return { path: '/tokens', body, ask: { session }, table: 'tokens', where: { name } };
  },
  async '/scheduled-tasks'() {
    const body = recurring();
    return { path: '/scheduled-tasks', body, table: 'recurring_missions', where: { name: body.name } };
  },
  async '/automations'() {
    const body = recurring();
    return { path: '/automations', body, table: 'recurring_missions', where: { name: body.name } };
  },
  async '/agents'() {
    const name = unique();
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const body = { name, role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    return { path: '/agents', body, table: 'agents', where: { name } };
  },
  async '/sandbox-templates'() {
    const name = unique();
    return { path: '/sandbox-templates', body: { name }, table: 'sandbox_templates', where: { name } };
  },
  async '/inbound-hooks'() {
    const name = unique();
    return { path: '/inbound-hooks', body: { name, vendor: 'webhook' }, table: 'inbound_hooks', where: { name } };
  },
  async '/inbound-hooks/{hookId}/deliveries/{deliveryId}/redelivery'() {
    const { path, id } = await waitingDelivery();
    return { path: `${path}/redelivery`, table: 'inbound_deliveries', where: { redelivery_of: id } };
  },
  async '/inbound-hooks/{hookId}/deliveries/{deliveryId}/approval'() {
    const { path, id } = await waitingDelivery();
    return { path: `${path}/approval`, table: 'inbound_deliveries', where: { id, status: 'received' } };
  },
  async '/inbound-hooks/{hookId}/deliveries/{deliveryId}/dismissal'() {
    const { path, id } = await waitingDelivery();
    return { path: `${path}/dismissal`, table: 'inbound_deliveries', where: { id, status: 'ignored' } };
  },
  async '/webhook-endpoints'() {
    const name = unique();
    const body = { name, url: 'https://192.0.78.9/' };
    return { path: '/webhook-endpoints', body, ask: { session }, table: 'webhook_endpoints', where: { name } };
  },
  async '/webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}/resend'() {
    const { endpoint, id, again } = await sentWebhook();
    return { path: `${endpoint}/deliveries/${id}/resend`, ...again };
  },
  async '/webhook-endpoints/{endpointId}/resend'() {
    const { endpoint, again } = await sentWebhook();
    const path = `${endpoint}/resend`;
    return { path, body: { createdFrom: 0 }, refused: { path, body: { createdFrom: -1 } }, ...again };
  },
  async '/secrets'() {
    const name = `NAME_${unique().replace(/\W/g, '_')}`;
    const body = { scope: 'project', projectId, kind: 'variable', name, value: 'value' };
    return { path: '/secrets', body, ask: { session }, table: 'secrets', where: { name } };
  },
  async '/budgets'() {
    const { id: userId } = await world.person(unique());
    await world.rest('POST', `/organizations/${acme.id}/memberships`, { session, body: { userId, role: 'member' } });
    const body = { subject: 'person', userId, period: 'month', amountUsd: 10 };
    const refused = { path: '/budgets', body: { ...body, amountUsd: 0 } };
    return { path: '/budgets', body, ask: { session }, table: 'budgets', where: { user_id: userId }, refused };
  },
  async '/scheduled-tasks/{id}/run'() {
    const { id } = (await write('/scheduled-tasks', recurring())).body;
    return { path: `/scheduled-tasks/${id}/run`, table: 'runs', where: { recurring_id: id } };
  },
  async '/automations/{automationId}/run'() {
    const { id } = (await write('/automations', recurring())).body;
    return { path: `/automations/${id}/run`, table: 'runs', where: { recurring_id: id } };
  },
  async '/runs/{runId}/cancel'() {
    const { id: taskId } = (await write('/scheduled-tasks', recurring())).body;
    const { runId: id } = (await write(`/scheduled-tasks/${taskId}/run`)).body;
    return { path: `/runs/${id}/cancel`, table: 'runs', where: { id, status: 'canceled' } };
  },
  async '/runs'() {
    const prompt = unique();
    const refused = { path: '/runs', body: { projectId, prompt: 7 } };
    return { path: '/runs', body: { projectId, prompt }, table: 'runs', where: { prompt }, refused };
  },
  async '/runs/{runId}/messages'() {
    const path = `/runs/${await startRun()}/messages`;
    const text = unique();
    return { path, body: { text }, table: 'run_messages', where: { text }, refused: { path, body: { text: 7 } } };
  },
  async '/runs/{runId}/answer'() {
    const runId = await startRun();
    const sandbox = await startSandbox({ orgId: acme.id, projectId: projectId as never }, { runId });
    await showFragments(sandbox, [{ kind: 'elicitation', body: 'May I?' }]);
    const path = `/runs/${runId}/answer`;
    const where = { run_id: runId, kind: 'answer' };
    return { path, body: { text: 'Yes.' }, table: 'run_messages', where, refused: { path, body: { text: 7 } } };
  },
  async '/runs/{runId}/approval'() {
    const id = await startRun({ awaits_approval: true });
    return { path: `/runs/${id}/approval`, table: 'run_messages', where: { run_id: id, kind: 'approval' } };
  },
  async '/runs/{runId}/rerun'() {
    const prompt = unique();
    const id = await startRun({ status: 'failed', prompt });
    return { path: `/runs/${id}/rerun`, table: 'runs', where: { prompt, status: 'dispatching' } };
  },
  async '/runs/{runId}/interruption'() {
    const id = await startRun();
    return { path: `/runs/${id}/interruption`, table: 'run_messages', where: { run_id: id, kind: 'interrupt' } };
  },
  async '/runs/{runId}/resumption'() {
    const id = await startRun({ interrupted_at: present() });
    return { path: `/runs/${id}/resumption`, table: 'run_messages', where: { run_id: id, kind: 'resume' } };
  },
  async '/runs/{runId}/allowed-hosts'() {
    const closed = { name: unique(), agentNetwork: { mode: 'custom', hosts: [] } };
    const { id } = (await write('/sandbox-templates', closed)).body;
    const runId = await startRun();
    const body = { host: 'api.example.com', port: 443, phase: 'agent' };
    await beside('connections').insert({
      ...{ ...body, run_id: runId, org_id: acme.id, project_id: projectId, template_id: id, verdict: 'blocked' },
      ...{ count: 1, sent_bytes: 0, received_bytes: 0, report_id: 'one', created_at: present(), updated_at: present() },
    });
    const where = { id, agent_network: JSON.stringify({ mode: 'custom', hosts: [body.host] }) };
    const path = `/runs/${runId}/allowed-hosts`;
    return { path, body, table: 'sandbox_templates', where, refused: { path, body: { ...body, port: 0 } } };
  },
  async '/runs/{runId}/continuation'() {
    const team = [{ name: 'Builder', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5' }];
    const id = await startRun({ status: 'completed', team: JSON.stringify(team) });
    const place = { orgId: acme.id, projectId: projectId as never };
    await writeSteps(place, id, [{}]);
    const [step] = await beside('run_steps').where({ run_id: id });
    const artifact = await noteArtifact(place, { caption: 'Checkpoint' });
    await beside('checkpoints').insert({
      ...{ step_id: step.id, run_id: id, org_id: acme.id, project_id: projectId, artifact_id: artifact.id },
      ...{ commit_sha: 'b'.repeat(40), created_at: present() },
    });
    const path = `/runs/${id}/continuation`;
    const refused = { path, body: { prompt: 7 } };
    return { path, body: { prompt: 'Go on.' }, table: 'runs', where: { continues_step_id: step.id }, refused };
  },
  async '/notices/{noticeId}/dismissal'() {
    const body = { name: unique(), scopes: ['projects:read'], expiresInDays: 5 };
    const { id } = (await write('/tokens', body, '', { session })).body;
    await beside('tokens')
      .where({ id })
      .update({ created_at: present() - days(30) });
    const noticeId = `token_expiring:${id}:7`;
    return {
      ...{ path: `/notices/${encodeURIComponent(noticeId)}/dismissal`, ask: { session } },
      ...{ table: 'notice_dismissals', where: { notice_id: noticeId } },
    };
  },
  async '/organizations/{orgId}/closure'() {
    const { id, slug } = await world.found(alice, unique());
    const path = `/organizations/${id}/closure`;
    return {
      ...{ path, body: { confirmSlug: slug }, ask: { session: await world.session(alice, id) } },
      ...{ table: 'org_closures', where: { org_id: id }, refused: { path, body: { confirmSlug: 'other' } } },
    };
  },
  async '/billing/credit-requests'() {
    const org = await world.found(alice, unique());
    const path = '/billing/credit-requests';
    return {
      ...{ path, body: { message: unique() }, ask: { session: await world.session(alice, org.id) } },
      ...{ table: 'credit_requests', where: { org_id: org.id }, refused: { path, body: { message: 7 } } },
    };
  },
  async '/billing/checkout-sessions'() {
    const org = await world.found(alice, unique());
    const path = '/billing/checkout-sessions';
    return {
      ...{ path, body: { offer: 'pack', startNowConsent: true }, ask: { session: await world.session(alice, org.id) } },
      ...{ table: 'billing_checkouts', where: { org_id: org.id }, refused: { path, body: { offer: 7 } } },
    };
  },
  async '/billing/orders/{orderId}/withdrawal'() {
    const org = await world.found(alice, unique());
    const ask = { session: await world.session(alice, org.id) };
    const { checkoutId } = (
      await write('/billing/checkout-sessions', { offer: 'pack', startNowConsent: true }, '', ask)
    ).body;
    await world.request('POST', `/console/o/${org.slug}/checkout/${checkoutId}`, {
      ...ask,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: world.url },
      body: `csrf_token=${ask.session.csrf}`,
    });
    const { id } = (await world.rest('GET', '/billing/orders', ask)).body.orders[0];
    const refused = { path: '/billing/orders/unknown/withdrawal', body: {} };
    return {
      ...{ path: `/billing/orders/${id}/withdrawal`, body: {}, ask },
      ...{ table: 'billing_orders', where: { id, status: 'withdrawn' }, refused },
    };
  },
  async '/sandboxes/{sandboxId}/kill'() {
    const { id } = await startSandbox({ orgId: acme.id, projectId: projectId as never });
    return { path: `/sandboxes/${id}/kill`, table: 'sandboxes', where: { id, termination_reason: 'killed' } };
  },
  async '/mcp/projects/{projectId}/servers/{serverName}/tools/refresh'() {
    const { at, id } = await bindServer();
    const where = (binding: Knex.QueryBuilder) => binding.where({ id }).whereNotNull('tools_refreshed_at');
    const refused = { path: at.replace(/[^/]+$/, 'unknown/tools/refresh') };
    return { path: `${at}/tools/refresh`, table: 'mcp_bindings', where, refused };
  },
  async '/mcp/projects/{projectId}/servers/{serverName}/oauth/start'() {
    const { at, id } = await bindServer();
    const path = `${at}/oauth/start`;
    const refused = { path, body: { returnTo: 7 } };
    return { path, body: {}, table: 'mcp_authorizations', where: { binding_id: id }, refused };
  },
  async '/mcp/oauth/complete'() {
    const { at, id } = await bindServer();
    const { authorizeUrl } = (await write(`${at}/oauth/start`, {})).body;
    const body = { code: 'code', state: new URL(authorizeUrl).searchParams.get('state')! };
    const path = '/mcp/oauth/complete';
    const refused = { path, body: { code: 7 } };
    return { path, body, table: 'mcp_grants', where: { binding_id: id }, refused };
  },
};

const count = async ({ table, where }: Call): Promise<number> => {
  const [row] = await beside(table)
    .where(where as object)
    .count();
  return Number(row!.count);
};
const outcome = ({ status, body }: Answer) => ({ status, body });

it('every route that accepts an Idempotency-Key is tested in this file', async () => {
  const { paths } = (await world.request('GET', '/v1/openapi.json')).body;
  const keyed = Object.keys(paths).filter((path) =>
    paths[path].post?.parameters?.some(({ name }: { name?: string }) => name === 'Idempotency-Key'),
  );
  expect(Object.keys(routes).sort()).toEqual(keyed.sort());
});

describe.each(Object.keys(routes))('POST %s', (route) => {
  let call: Call;
  beforeEach(async () => {
    call = await routes[route]!();
  });
  const send = (key?: string) => write(call.path, call.body, key, call.ask);

  it('2xx · takes effect once with an Idempotency-Key, and the answer is repeated', async () => {
    const first = await send(unique());
    expect(first.status).toBeLessThan(300);
    const key = unique();
    // A second key gets the same answer as a call without a key.
    expect((await send(key)).status).toBe((await send()).status);
    const again = await routes[route]!();
    const repeat = () => write(again.path, again.body, `repeat ${key}`, again.ask);
    const answers = [await repeat(), await repeat()];
    expect(outcome(answers[1]!)).toEqual(outcome(answers[0]!));
    expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true');
    expect(await count(again)).toBe(1);
  });

  it('4xx · a problem is the same with and without a key, writes nothing, and leaves the key free', async () => {
    const key = unique();
    const { refused } = call;
    const wrong = refused
      ? () => write(refused.path, refused.body, key, call.ask)
      : call.body
        ? () => write(call.path, { ...call.body, name: 7, role: 7 }, key, call.ask)
        : () => write(`${call.path.replace(/[^/]+(?=\/\w+$)/, 'unknown')}`, undefined, key, call.ask);
    const { status } = await wrong();
    expect([400, 404]).toContain(status);
    expect(await count(call)).toBe(0);
    expect((await send(key)).status).toBeLessThan(300);
  });

  describe.each([
    ['where it does its work', () => `after insert or update on ${call.table}`],
    ['where it records its answer', () => 'after update of status on idempotency_keys'],
  ])('when its process dies %s', (_, when) => {
    it.each(['at once', 'at the commit'])('%s · the call is repeated immediately and takes effect once', async (at) => {
      await beside.raw("select setval('deaths', 1, false)");
      const [constraint, deferred] = at === 'at once' ? ['', ''] : ['constraint', 'deferrable initially deferred'];
      await beside.raw(`create ${constraint} trigger dying ${when()} ${deferred} for each row execute function die()`);
      try {
        const key = unique();
        let answer = await send(key);
        expect([503, 200, 201]).toContain(answer.status);
        // The database may need a moment to notice that the call's connection has ended.
        while (answer.status === 503 || isStillRunning(answer)) answer = await send(key);
        expect(answer.status).toBeLessThan(300);
        expect(outcome(await send(key))).toEqual(outcome(answer));
        expect(await count(call)).toBe(1);
        expect(Number((await beside.raw('select last_value from deaths')).rows[0].last_value)).toBeGreaterThan(0);
      } finally {
        await beside.raw(`drop trigger dying on ${when().split(' on ')[1]}`);
      }
    });
  });
});

const isStillRunning = ({ status, body }: Answer): boolean =>
  status === 409 && body.description.includes('still running');

type Send = (call: Call, key: string) => Promise<Answer>;

/**
 * Repeats a call with its key until it has a final answer, like a patient client: after a lost connection as soon as the service is
 * back, after a 409 or 503 a moment later.
 */
const repeating =
  (request: ReturnType<typeof requestsTo>, isUp: () => Promise<void> = async () => {}): Send =>
  async (call, key) => {
    for (;;) {
      await isUp();
      const ask = { ...(call.ask ?? { token }), body: call.body, headers: { 'idempotency-key': key } };
      const answer = await request('POST', `/v1${call.path}`, ask).catch(() => null);
      if (answer && !isStillRunning(answer) && answer.status !== 503) return answer;
      await wait(50);
    }
  };

const busy = ['/projects', '/tokens', '/invites', '/scheduled-tasks', '/scheduled-tasks/{id}/run', '/agents'];

async function prepare(): Promise<Call[]> {
  const calls: Call[] = [];
  const numbers = Array.from({ length: randomCalls }, (_, n) => n);
  await atOnce(8, numbers, async (n) => calls.push(await routes[busy[n % busy.length]!]!()));
  return calls;
}

/** Sends the calls eight at a time, each with a key; `between` receives the number of answered ones. */
async function sendAll(send: Send, todo: Call[], between: (answered: number) => Promise<unknown> = async () => {}) {
  const calls: { call: Call; key: string; answer: Answer }[] = [];
  await atOnce(8, todo, async (call) => {
    const key = unique();
    calls.push({ call, key, answer: await send(call, key) });
    await between(calls.length);
  });
  expect(calls).toHaveLength(randomCalls);
  return calls;
}

async function expectEachOnce(send: Send, calls: Awaited<ReturnType<typeof sendAll>>) {
  await atOnce(8, calls, async ({ call, key, answer }) => {
    const told = `${call.path} ${JSON.stringify(call.where)}`;
    expect([told, answer.status < 300, await count(call)]).toEqual([told, true, 1]);
    expect(outcome(await send(call, key))).toEqual(outcome(answer));
  });
}

describe('A GraphQL mutation with an Idempotency-Key', () => {
  const start = `mutation ($projectId: String!, $prompt: String!) {
    startMission(projectId: $projectId, prompt: $prompt) { id prompt }
  }`;
  const send = (key: string, variables: object, query = start) =>
    world.request('POST', '/graphql', { token, headers: { 'idempotency-key': key }, body: { query, variables } });

  it('takes effect once · a repeat gets the same answer, another operation with the key gets 422', async () => {
    const variables = { projectId, prompt: 'Update the readme.' };
    const first = await send('graph-1', variables);
    expect([first.status, first.body.data.startMission.prompt]).toEqual([200, 'Update the readme.']);
    const again = await send('graph-1', variables);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    const other = await send('graph-1', { ...variables, prompt: 'Another.' });
    expect(other.body.errors[0].extensions.problem.description).toBe('Idempotency-Key: was used for another request.');
    expect(await beside('runs').where({ prompt: 'Update the readme.' })).toHaveLength(1);
  });

  it('leaves the key unused after an error; a query ignores the key', async () => {
    const refused = await send('graph-2', { projectId: 'prj_none', prompt: 'Look.' });
    expect(refused.body.errors[0].extensions.code).toBe('not_found');
    expect((await send('graph-2', { projectId, prompt: 'Look.' })).body.errors).toBeUndefined();
    const query = 'query { me { userId } }';
    for (const _ of [1, 2]) {
      const read = await send('graph-3', {}, query);
      expect([read.status, read.headers.get('idempotency-replayed')]).toEqual([200, null]);
    }
    const wrong = await send('', { projectId, prompt: 'Look.' });
    expect(wrong.body.errors[0].message).toContain('Idempotency-Key: must be');
    const headers = { 'idempotency-key': 'graph-4', accept: 'text/event-stream' };
    const body = { query: 'mutation { deleteProject(projectId: "prj_none") { id } }' };
    const events = await world.request('POST', '/graphql', { token, headers, body });
    expect([events.status, JSON.stringify(events.body)]).toEqual([400, expect.stringContaining('Accept: must name')]);
  });
});

describe('Many calls with an Idempotency-Key', () => {
  it('each takes effect once · connections are killed at random', { timeout: 600_000 }, async () => {
    const send = repeating(requestsTo(world.url));
    const todo = await prepare();
    let [over, ended] = [false, 0];
    const calls = sendAll(send, todo).finally(() => (over = true));
    while (!over) {
      const { rows } = await beside.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = '' and backend_type = 'client backend'
            and pid <> pg_backend_pid() and (state = 'active' or state like 'idle in%') order by random() limit 1`,
      );
      ended += rows.length;
      await beside.raw('select pg_sleep(0.02 + random() / 10)');
    }
    expect(ended).toBeGreaterThan(0);
    console.log(`${randomCalls} calls, ${ended} connections ended`);
    await expectEachOnce(send, await calls);
  });

  describe('of a process that is killed', () => {
    let service: ServiceProcess;
    afterEach(() => service.process.kill('SIGKILL'));

    it('each takes effect once · the process is killed at random', { timeout: 600_000 }, async () => {
      // The process uses the real clock, not the test's.
      await beside('tokens').update({ expires_at: Date.now() + days(30) });
      const port = await freePort();
      const start = () => {
        service = startService(world.connection, port, {
          REQUESTS_PER_MINUTE: '1000000',
          REQUESTS_PER_MINUTE_ORGANIZATION: '1000000',
          INVITES_PER_DAY: '100000',
          TOKENS_PER_PERSON: '10000',
        });
      };
      const todo = await prepare();
      start();
      const send = repeating(requestsTo(service!.url), () => service.ready);
      let killed = 0;
      const calls = await sendAll(send, todo, async (answered) => {
        if (answered < ((killed + 1) * randomCalls) / 4 || killed === 3) return;
        killed++;
        const dead = once(service.process, 'exit');
        service.process.kill('SIGKILL');
        await dead;
        start();
      });
      expect(killed).toBe(3);
      await expectEachOnce(send, calls);
    });
  });
});
