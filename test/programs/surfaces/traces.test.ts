// Traces: the span trees that a collector receives for a request, a query, a job and a mission of a real runner, and the trace contexts of
// incoming and outgoing requests.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, system } from '#access/principal.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { savePushConfig, writePushNotifications } from '#domain/work/a2a/push.ts';
import { bindGenAiConventions } from '#domain/work/runs/gen-ai.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { openLog } from '#foundation/log.ts';
import { metricsText } from '#foundation/metrics.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { bindSlowStatements, type SlowStatement } from '#foundation/postgres/observed-statements.ts';
import { openTracing } from '#foundation/tracing/sdk.ts';
import { bindTracing, type Tracing, traced } from '#foundation/tracing/tracing.ts';
import { startScheduler } from '../../../src/surfaces/scheduler/surface.ts';
import { createProject } from '../../support/callers.ts';
import { openRemoteMcp, type RemoteMcp } from '../../support/fake-mcp-server.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import { createRuntime, type Held } from '../../support/runtime-client.ts';
import { type Node, type ReceivedSpan, startCollector } from '../../support/stand-in-collector.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let collector: Awaited<ReturnType<typeof startCollector>>;
let remote: RemoteMcp;
let tracing: Tracing;
const silent = openLog({ level: 'silent', destination: { write() {} } });
const counts = { ended: 0, sent: 0, lost: 0 };
const reports: string[] = [];

function trace(endpoint: string): void {
  const report = (line: string) => void reports.push(line);
  const count = (outcome: keyof typeof counts, spans: number) => {
    counts[outcome] += spans;
  };
  tracing = openTracing({ endpoint, version: '1.2.3', report, count, timeoutMs: 500, delayMs: 50 });
  bindTracing(tracing);
}

beforeAll(async () => {
  [missions, collector, remote] = await Promise.all([openMissionWorld(), startCollector(), openRemoteMcp()]);
  openOutbound({ allowLoopback: true });
  trace(collector.url);
});
afterAll(async () => {
  bindTracing(undefined);
  await tracing.close();
  await Promise.all([missions.close(), collector.close(), remote.close()]);
  expect(collector.invalid).toEqual([]);
});

/** Waits until the span `name`, which is the root of the trace, and the spans `others` have arrived. Returns the root with its descendants. */
async function treeOf(traceId: string, name: string, ...others: string[]): Promise<Node> {
  const names = () => collector.spans.filter((span) => span.traceId === traceId).map((span) => span.name);
  await expect.poll(names).toEqual(expect.arrayContaining([name, ...others]));
  return collector.tree(traceId).find((node) => node.name === name)!;
}
/** Lists the names of a node and of all its descendants, each indented by its depth in the tree. */
const outline = (node: Node, depth = ''): string[] => [
  `${depth}${node.name}`,
  ...(node.children ?? []).flatMap((child) => outline(child, `${depth}  `)),
];
const find = (node: Node, name: string): Node =>
  [node, ...(node.children ?? []).flatMap((child) => [child, ...(child.children ?? [])])].find(
    (one) => one.name === name,
  )!;

const owner = (): Caller => ({
  ...system,
  userId: missions.alice.person.id,
  orgId: missions.alice.organization.id,
  scopes: new Set(['runs:read', 'runs:write']) as never,
});

const callerTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpan = '00f067aa0ba902b7';
const traceparent = `00-${callerTrace}-${callerSpan}-01`;

it('a mutation over REST continues the trace of its caller, down to the SQL statements, and its audit event names the trace', async () => {
  const { world, alice } = missions;
  const headers = { traceparent, tracestate: 'vendor=1', 'x-request-id': 'req-traces-1' };
  const body = { subject: 'organization', period: 'day', amountUsd: 5 };
  const answer = await world.rest('POST', '/budgets', { token: alice.token, headers, body });
  expect(answer.status).toBe(201);
  const root = await treeOf(callerTrace, 'POST /budgets');
  expect(outline(root)).toMatchInlineSnapshot(`
    [
      "POST /budgets",
      "  SELECT tokens",
      "  mutation createBudget",
      "    BEGIN",
      "    SELECT organizations",
      "    SELECT budgets",
      "    INSERT budgets",
      "    COMMIT",
      "    load budgetUses",
      "      SELECT budgets",
    ]
  `);
  expect(root).toMatchObject({
    kind: 'server',
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/budgets',
      'http.response.status_code': 201,
      'aep.surface': 'rest',
      'aep.request_id': 'req-traces-1',
      'aep.organization_id': alice.organization.id,
    },
  });
  expect(find(root, 'mutation createBudget')).toMatchObject({
    kind: 'internal',
    attributes: { 'graphql.operation.type': 'mutation' },
  });
  const insert = find(root, 'INSERT budgets');
  expect(insert).toMatchObject({
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': 'INSERT budgets' },
  });
  expect(insert.attributes['db.query.text']).toMatch(/^insert into "?budgets/);
  const span = collector.spans.find(({ name }) => name === 'POST /budgets')!;
  expect(span).toMatchObject({ parentSpanId: callerSpan, traceState: 'vendor=1' });
  expect(JSON.stringify(collector.spans)).not.toMatch(/Acme|SET LOCAL/);
  await numberAllChanges();
  const session = await world.session(alice.person, alice.organization.id);
  const { data } = (await world.rest('GET', `/audit-events?targetId=${answer.body.id}`, { session })).body;
  expect(data).toMatchObject([{ action: 'budget.created', requestId: 'req-traces-1', traceId: callerTrace }]);
  expect(collector.resources[0]).toMatchObject({
    'service.name': 'agent-engineering-platform',
    'service.version': '1.2.3',
  });
});

it('a GraphQL query has spans of its loaders below the span of the operation, in every GraphQL executor', async () => {
  const { world, alice } = missions;
  await createProject(world, alice, 'Second', { repoFullName: 'acme/second' });
  const query = 'query Shops { projects { data { name organization { name } } } }';
  const ask = async (headers: Record<string, string> = {}) => {
    const { body } = await world.graphql(query, { token: alice.token, headers });
    expect(body.data.projects.data).toHaveLength(2);
  };
  const traces = ['a'.repeat(32), 'b'.repeat(32)];
  for (const trace of traces) await ask({ traceparent: `00-${trace}-${callerSpan}-01` });
  for (const trace of traces) {
    const root = await treeOf(trace, 'POST /graphql');
    expect(outline(root)).toEqual([
      'POST /graphql',
      '  SELECT tokens',
      '  query Shops',
      '    SELECT projects',
      '    load Organization.id',
      '      SELECT organizations',
    ]);
    expect(find(root, 'load Organization.id').attributes).toEqual({ 'aep.batch_size': 1 });
  }
  await world.graphql(query, { token: alice.token, headers: { traceparent: `00-${'c'.repeat(32)}-${callerSpan}-00` } });
  await world.graphql(query, { token: alice.token, headers: { traceparent: 'nonsense' } });
  await vi.waitUntil(() => collector.spans.some(({ name, parentSpanId }) => name === 'POST /graphql' && !parentSpanId));
  expect(collector.tree('c'.repeat(32))).toEqual([]);
});

it('an MCP tool call continues the trace whose context is in its _meta field, and links to the trace of the HTTP request', async () => {
  const { world, alice } = missions;
  const _meta = { traceparent: `00-${'9'.repeat(32)}-${callerSpan}-01` };
  const params = { name: 'list_budgets', arguments: {}, _meta };
  const answer = await world.request('POST', '/mcp', {
    token: await world.token(alice.person, alice.organization),
    headers: { accept: 'application/json, text/event-stream', traceparent: `00-${'8'.repeat(32)}-${callerSpan}-01` },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  expect(answer.status).toBe(200);
  const call = await treeOf('9'.repeat(32), 'tools/call list_budgets');
  expect(outline(call)).toEqual([
    'tools/call list_budgets',
    '  query budgets',
    '    SELECT budgets',
    '    load budgetUses',
    expect.anything(),
  ]);
  const request = await treeOf('8'.repeat(32), 'POST /mcp list_budgets');
  const { spanId } = collector.spans.find(({ name }) => name === request.name)!;
  expect(call.links).toEqual([`${'8'.repeat(32)} ${spanId}`]);
});

it('a background job belongs to the trace of the change that caused it, and its outgoing requests carry the trace context', async () => {
  const { world, alice } = missions;
  const { token } = alice;
  const headers = { traceparent: `00-${'d'.repeat(32)}-${callerSpan}-01` };
  await world.rest('POST', '/invites', { token, headers, body: { email: 'bob@example.com', role: 'viewer' } });
  await world.delivered();
  const invited = await treeOf('d'.repeat(32), 'POST /invites', 'process mail');
  const job = find(invited, 'process mail');
  expect(find(invited, 'mutation createInvite').children).toContain(job);
  expect(job).toEqual({
    name: 'process mail',
    kind: 'consumer',
    attributes: { 'aep.queue': 'mail', 'aep.job_id': expect.any(String), 'aep.attempt': 1 },
  });

  const runId = await missions.mission('Wait.');
  remote.settings.disturb = (_, res) => Boolean(res.writeHead(200).end());
  await savePushConfig(owner(), {
    runId,
    url: `${new URL(remote.url).origin}/push`,
    token: null,
    authentication: null,
  });
  await missions.steer('cancelRun', runId);
  await traced(() => ({ name: 'notify', parent: {} }), writePushNotifications);
  await world.delivered();
  remote.settings.disturb = () => false;
  const [pushed] = remote.asked.splice(0);
  const [, trace, span] = /^00-(\w{32})-(\w{16})-01$/.exec(pushed!.headers.traceparent as string)!;
  const notified = await treeOf(trace!, 'notify', 'process a2a push');
  expect(outline(find(notified, 'process a2a push'))).toMatchInlineSnapshot(`
    [
      "process a2a push",
      "  SELECT a2a_push_configs",
      "  SELECT runs",
      "  SELECT memberships",
      "  SELECT a2a_messages",
      "  SELECT signing_keys",
      "  INSERT signing_keys",
      "  SELECT signing_keys",
      "  POST",
    ]
  `);
  expect(collector.spans.find(({ spanId }) => spanId === span)).toMatchObject({
    name: 'POST',
    kind: 3,
    attributes: { 'http.request.method': 'POST', 'server.address': '127.0.0.1', 'http.response.status_code': 200 },
  });
});

it('a periodic job leaves a trace if it adds rows or fails, not if it finds nothing', async () => {
  const job = (name: string, run: () => Promise<unknown>) => ({ name, intervalMs: 1, run });
  const ran = new Map<string, number>();
  const counted = (name: string, run: () => Promise<unknown>) =>
    job(name, async () => {
      ran.set(name, (ran.get(name) ?? 0) + 1);
      // Only the first run of each job does its work.
      if (ran.get(name) === 1) await run();
      else await sql('select 1');
    });
  const write = () =>
    transaction((trx) => enqueue(trx, 'mail', { sealed: 'nothing' })).then(() =>
      missions.world.knex('background.job').delete(),
    );
  const fail = () => Promise.reject(new Error('secret-words'));
  const scheduler = startScheduler(
    [counted('idle', async () => {}), counted('writing', write), counted('failing', fail)],
    silent,
  );
  await vi.waitUntil(() => ['idle', 'writing', 'failing'].every((name) => (ran.get(name) ?? 0) > 3));
  await scheduler.stop();
  const msOf = (span: ReceivedSpan) => Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6;
  // Slow runs of the idle job are left out, because the service records a trace of every slow run even if the run finds nothing.
  const kept = () =>
    collector.spans.filter((span) => 'aep.job' in span.attributes && (span.name !== 'idle' || msOf(span) < 250));
  const names = () => [...new Set(kept().map(({ name }) => name))].sort();
  await expect.poll(names).toEqual(['failing', 'writing']);
  expect(collector.spans.find(({ name }) => name === 'failing')).toMatchObject({
    attributes: { 'error.type': 'Error' },
    status: { code: 2 },
  });
});

it('a mission is a separate trace of plan, steps, model calls and tool calls; the calls pass the context of the trace to models and MCP servers', async () => {
  const { world, alice, folder, models } = missions;
  const repository = path.join(folder, 'acme/traced');
  await mkdir(repository, { recursive: true });
  await writeFile(
    path.join(repository, 'service.yml'),
    JSON.stringify({ mcpServers: { issues: { url: remote.url } } }),
  );
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: repository });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'first');
  const connection = { orgId: alice.organization.id, vendor: 'builtin' as const, vendorKind: 'scm' as const };
  await connectIntegration({ ...connection, displayName: 'Code', externalOrgId: folder });
  const project = await createProject(world, alice, 'Traced', { repoFullName: 'acme/traced' });
  const { token } = alice;
  const server = `/mcp/projects/${project}/servers/issues`;
  await world.rest('PUT', server, { token, body: { roles: ['builder'] } });
  await world.rest('POST', `${server}/tools/refresh`, { token });
  const approvedTools = [{ name: 'search', attestedReadOnly: true }];
  const bound = await world.rest('PUT', server, { token, body: { roles: ['builder'], approvedTools } });
  expect(bound.body.status).toBe('ready');
  await missions.team('claude-code', 'builder');
  remote.asked.length = 0;
  missions.startRunner();
  onTestFinished(missions.killRunners);
  const headers = { traceparent: `00-${'e'.repeat(32)}-${callerSpan}-01` };
  const body = { projectId: project, prompt: '[use:issues.search {"what":"secret-words"}] Build it.' };
  const { id: runId } = (await world.rest('POST', '/runs', { token, headers, body })).body;
  const ended = await missions.ended(runId);
  expect([ended.status, ended.lastError]).toEqual(['completed', null]);

  const started = await treeOf('e'.repeat(32), 'POST /runs');
  const [link] = find(started, 'mutation startMission').links!;
  const [trace, root] = link!.split(' ') as [string, string];
  const mission = await treeOf(trace, 'invoke_agent mission', 'invoke_agent builder');
  expect(collector.spans.find(({ spanId }) => spanId === root)?.name).toBe('invoke_agent mission');
  const ofMission = { 'gen_ai.conversation.id': runId };
  const usage = { 'gen_ai.usage.input_tokens': 1_400, 'gen_ai.usage.output_tokens': 50 };
  const model = { 'gen_ai.request.model': 'claude-sonnet-4-5' };
  const tool = {
    name: 'execute_tool search',
    kind: 'internal',
    attributes: {
      ...{ ...ofMission, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' },
      ...{ 'gen_ai.tool.type': 'extension', 'mcp.method.name': 'tools/call', 'aep.mcp_server': 'issues' },
    },
    links: [expect.any(String)],
    children: expect.any(Array),
  };
  const chat = {
    name: 'chat claude-sonnet-4-5',
    kind: 'client',
    attributes: {
      ...{ ...ofMission, ...model, ...usage, 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'anthropic' },
      'http.response.status_code': 200,
    },
  };
  const step = {
    name: 'invoke_agent builder',
    kind: 'internal',
    attributes: {
      ...{ ...ofMission, ...model, ...usage, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'builder' },
      ...{ 'gen_ai.agent.id': expect.any(String), 'gen_ai.agent.version': '1', 'aep.step_id': ended.steps[0].id },
      ...{ 'aep.role': 'builder', 'aep.harness': 'claude-code', 'aep.status': 'completed' },
    },
    children: [chat, tool],
  };
  expect(mission).toEqual({
    name: 'invoke_agent mission',
    kind: 'internal',
    attributes: {
      ...{ ...ofMission, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'mission' },
      ...{ 'aep.organization_id': alice.organization.id, 'aep.project_id': project },
      ...{ 'aep.kind': 'manual', 'aep.status': 'completed' },
    },
    children: [step],
  });
  const called = find(mission.children![0]!, 'execute_tool search');
  expect(called.children!.map(({ name }) => name)).toContain('POST');

  // The request to the model names the span of the model call as its parent span. The message to the MCP server names the span of the tool
  // call.
  const idOf = (name: string) => collector.spans.find((one) => one.traceId === trace && one.name === name)!.spanId;
  const asked = models.seen.find(({ path: at }) => at.endsWith('/messages'))!;
  expect(asked.headers).toMatchObject({ traceparent: `00-${trace}-${idOf(chat.name)}-01` });
  const { body: message, headers: sent } = remote.asked.find((one) => one.body?.method === 'tools/call')!;
  expect(message.params._meta).toMatchObject({ traceparent: `00-${trace}-${idOf(tool.name)}-01` });
  expect(sent.traceparent).toMatch(new RegExp(`^00-${trace}-`));
  expect(JSON.stringify(collector.spans)).not.toMatch(/secret-words|Build it|did search|Say something/);
});

it('spans of the latest conventions for generative AI name the workflow and the plan, count cached tokens, and mark failed calls and canceled missions', async () => {
  const { world, alice } = missions;
  bindGenAiConventions('latest');
  onTestFinished(() => bindGenAiConventions('stable'));
  await missions.team('claude-code', 'planner');
  const runtime = await createRuntime(world, alice.organization);
  const runId = await missions.mission('Plan it.');
  const held: Held & { step: { stepId: string; traceparent: string } } = await runtime.claim(
    {},
    '{ runId leaseId step { stepId traceparent } }',
  );
  expect(held.runId).toBe(runId);
  const lease = { runId, leaseId: held.leaseId };
  const { stepId } = held.step;
  const model = 'claude-sonnet-4-5';
  const tokens = { inputTokens: 10, cachedInputTokens: 20, cacheWriteTokens: 30, outputTokens: 5 };
  const none = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  for (const [callId, status, used] of [
    ['one', 200, tokens],
    ['two', 529, none],
  ] as const) {
    const reserved = { ...lease, callId, model, inputTokens: 100, outputTokens: 100 };
    await runtime.report('reserveModelCall', reserved, '{ outputTokens }');
    const usage = {
      ...lease,
      stepId,
      usageId: callId,
      callId,
      model,
      ...used,
      answer: { vendor: 'anthropic', status },
    };
    await runtime.report('reportUsage', usage);
  }
  await missions.steer('cancelRun', runId);
  const [, trace] = /^00-(\w{32})-\w{16}-01$/.exec(held.step.traceparent)!;
  const mission = await treeOf(trace!, 'invoke_workflow mission', 'plan planner');
  expect(mission).toMatchObject({
    attributes: { 'gen_ai.operation.name': 'invoke_workflow', 'aep.status': 'canceled' },
    children: [
      {
        name: 'plan planner',
        attributes: {
          'gen_ai.usage.input_tokens': 60,
          'gen_ai.usage.cache_read.input_tokens': 20,
          'aep.status': 'canceled',
        },
        children: [
          {
            name: `chat ${model}`,
            attributes: { 'gen_ai.provider.name': 'anthropic', 'gen_ai.usage.cache_write.input_tokens': 30 },
          },
          {
            name: `chat ${model}`,
            failed: true,
            attributes: { 'error.type': '529', 'http.response.status_code': 529 },
          },
        ],
      },
    ],
  });
  expect(await metricsText()).toContain(
    'gen_ai_client_inference_usage_input_tokens_total{gen_ai_operation_name="chat",gen_ai_provider_name="anthropic"} 60',
  );
});

it('spans for an unreachable collector are dropped and reported once; requests are answered, and the queue is limited', async () => {
  const { world, alice } = missions;
  const first = tracing;
  const away = await startCollector();
  await away.close();
  Object.assign(counts, { ended: 0, sent: 0, lost: 0 });
  await first.close();
  trace(away.url);
  const ask = () => world.rest('GET', '/budgets', { token: alice.token });
  expect((await ask()).status).toBe(200);
  for (let i = 0; i < 10_000; i++) tracing.begin({ name: 'load', parent: {} }).end();
  expect((await ask()).status).toBe(200);
  await vi.waitUntil(() => counts.lost > 0);
  expect(reports).toEqual([expect.stringContaining('spans are lost')]);
  expect(counts.ended).toBeGreaterThan(10_000);
  await tracing.close();
  bindTracing(undefined);
  expect((await ask()).status).toBe(200);
});

it('slow SQL statements are reported with their trace and request, and without values', async () => {
  const { world, alice } = missions;
  const slow: SlowStatement[] = [];
  bindSlowStatements(0, (statement) => void slow.push(statement));
  await world.rest('PATCH', `/organizations/${alice.organization.id}`, {
    token: alice.token,
    headers: { traceparent, 'x-request-id': 'req-traces-2' },
    body: { name: 'Unusual name' },
  });
  bindSlowStatements(Number.POSITIVE_INFINITY, () => {});
  expect(slow).toContainEqual({
    ...{ ms: expect.any(Number), statement: expect.stringMatching(/^update "organizations" set/), statements: 1 },
    ...{ traceId: undefined, requestId: 'req-traces-2' },
  });
  expect(JSON.stringify(slow)).not.toContain('Unusual');
});
