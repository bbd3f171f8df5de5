// A new call to each route that accepts an Idempotency-Key, with the records that it needs, and the rows by which its effects are counted.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { expect } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { days } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { createOwner } from './callers.ts';
import { openRemoteMcp } from './fake-mcp-server.ts';
import { recordedLines, writeRecording } from './recorded-run.ts';
import { noteArtifact, showFragments, startSandbox, writeSteps } from './runtime-records.ts';
import { openWorld, present } from './world.ts';

const serversDeclared = 50;
const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];

export interface Call {
  path: string;
  body?: object;
  ask?: object;
  /** Table of the written rows: one row per effect. */
  table: string;
  where: object;
  /**
   * A request to the same route that the service refuses. If it is absent, the test puts invalid fields into `body`, or, if there is no body,
   * an unknown id into `path`.
   */
  refused?: { path: string; body?: object };
}

export async function openKeyedCalls() {
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
  const world = await openWorld();
  const { person: alice, organization: acme, token } = await createOwner(world, 'Alice', 'Acme');
  await world.grant(acme, 10_000);
  await world.lift(acme);
  const session = await world.session(alice, acme.id);
  // A second connection: reads the service's rows, and ends the service's connections.
  const beside = knexFactory({ client: 'pg', connection: world.connection, pool: { min: 0, max: 2 } });
  // A remote MCP server with its authorization server. The service sends requests to it during some of the calls that are tested here.
  const remote = await openRemoteMcp();
  openOutbound({ allowLoopback: true });
  const repositories = await mkdtemp(path.join(tmpdir(), 'aep-keys-'));
  await declareServers();
  const code = { displayName: 'Code', externalOrgId: repositories };
  await connectIntegration({ orgId: acme.id, vendor: 'builtin', vendorKind: 'scm', ...code });
  const projectId = (await write('/projects', { name: 'Home', repoFullName: 'acme/home' })).body.id;
  await beside.raw('create sequence deaths');
  // The trigger function ends its own connection, once after each reset of the sequence.
  await beside.raw(`create function die() returns trigger language plpgsql as $$ begin
    if nextval('deaths') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10); end if;
    return null;
  end $$`);

  let made = 0;
  const unique = () => `n${++made}`;
  const recurring = () => ({ projectId, name: unique(), prompt: 'Tidy up.', triggers });

  /** A mission that waits for a runtime, with these column values. */
  async function startRun(columns: object = {}): Promise<string> {
    const { id } = (await write('/runs', { projectId, prompt: unique() })).body;
    if (Object.keys(columns).length > 0) await beside('runs').where({ id }).update(columns);
    return id;
  }
  let webhook: { id: string; orgId: string } | undefined;
  /**
   * Stores a webhook delivery as already sent. Returns the id of the delivery and the path of the webhook endpoint. `again` is for a test
   * that resends the delivery: it contains the session for the call, and the table and the condition by which the test finds the new
   * delivery.
   */
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
      ...{
        id,
        org_id: hook.orgId,
        hook_id: hook.id,
        external_id: id,
        event: 'event',
        payload: '{}',
        status: 'waiting',
      },
      ...{ received_at: at, created_at: at },
    });
    return { path: `/inbound-hooks/${hook.id}/deliveries/${id}`, id };
  }

  /** For each route that accepts an idempotency key, a function that prepares a new call of the route. */
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
    async '/webhook-endpoints/{endpointId}/test'() {
      const { endpoint, again } = await sentWebhook();
      await beside('webhook_endpoints').update({ url: 'http://127.0.0.1:9/' });
      const where = { endpoint_id: webhook!.id, type: 'webhook_endpoint.tested' };
      return { path: `${endpoint}/test`, ...again, where };
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
        ...{
          count: 1,
          sent_bytes: 0,
          received_bytes: 0,
          report_id: 'one',
          created_at: present(),
          updated_at: present(),
        },
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
    async '/runs/{runId}/fork'() {
      const team = [{ name: 'Builder', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5' }];
      const id = await startRun({ status: 'completed', team: JSON.stringify(team), prompt: unique() });
      const place = { orgId: acme.id, projectId: projectId as never };
      await writeSteps(place, id, [{}]);
      const [step] = await beside('run_steps').where({ run_id: id });
      await world.field('mutation { setRecordingSettings(isEnabled: true, days: 30) { days } }', { token });
      await writeRecording({ ...place, runId: id as never }, recordedLines(step.id, 2));
      const at = `/runs/${id}/fork`;
      const body = { stepId: step.id, call: 2 };
      return {
        path: at,
        body,
        table: 'run_forks',
        where: { source_run_id: id },
        refused: { path: at, body: { call: 7 } },
      };
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
        ...{
          path,
          body: { offer: 'pack', startNowConsent: true },
          ask: { session: await world.session(alice, org.id) },
        },
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
  return {
    world,
    token,
    projectId,
    beside,
    write,
    unique,
    routes,
    count,
    async close(): Promise<void> {
      await beside.destroy();
      await world.close();
      await remote.close();
      await rm(repositories, { recursive: true });
      openOutbound({ allowLoopback: false });
    },
  };
}
