// The gateway for missions: the runtime that holds a run reaches the MCP servers of its project with the official clients. The runtime sees
// the approved tools of its agent's role, and never a credential. Each call is recorded with the run.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { commitNextEffect } from '#domain/execution/outside-effects/commit.ts';
import { minutes } from '#foundation/clock.ts';
import { openRemoteMcp, type RemoteMcp, tool } from '../../support/fake-mcp-server.ts';
import { openEverything, type Peer } from '../../support/mcp-reference-servers.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../../support/mcp-world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: McpWorld;
let remote: RemoteMcp;
let everything: Peer;
beforeAll(async () => {
  [world, remote, everything] = await Promise.all([openMcpWorld(), openRemoteMcp(), openEverything()]);
});
afterAll(() => Promise.all([world.close(), remote.close(), everything.close()]));
const disturb = () => false;
beforeEach(() => {
  Object.assign(remote.settings, { token: null, disturb, result: null, tools: [tool('search'), tool('write')] });
  remote.asked.length = 0;
});

type Held = Awaited<ReturnType<McpWorld['run']>>;
const approvedTools = [{ name: 'search', attestedReadOnly: true }, { name: 'write' }];

/** A project with the remote server bound and reviewed. */
async function bound(body: object = {}): Promise<McpProject> {
  const project = await world.project();
  await project.declare({ issues: { url: remote.url, headers: { 'X-Key': `\${secret:KEY}` } } });
  const roles = ['builder', 'planner'];
  await project.put('issues', { roles, credentials: { KEY: 'key-of-acme' }, ...body });
  await project.refresh('issues');
  expect((await project.put('issues', { roles, approvedTools, ...body })).body.status).toBe('ready');
  remote.asked.length = 0;
  return project;
}

/** Connects to the gateway with the official client, as a harness does, and calls `work` with the client. */
async function within<T>(run: Held, server: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'harness', version: '1' });
  const headers = { authorization: `Bearer ${run.token}`, ...run.headers };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(world.url + run.at(server)), { requestInit: { headers } }),
  );
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
const names = (run: Held, server = 'issues') =>
  within(run, server, async (client) => (await client.listTools()).tools.map(({ name }) => name));
const call = (run: Held, name: string, args: object = {}, server = 'issues') =>
  within(run, server, (client) => client.callTool({ name, arguments: args as Record<string, unknown> }));
const list = (run: Held, more: object = {}) =>
  world.request('POST', run.at('issues'), {
    token: run.token,
    headers: { accept: 'application/json, text/event-stream', ...run.headers },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    ...more,
  });
const callsOf = async ({ runId }: Held, project: McpProject) => {
  const query = `{ run(runId: "${runId}") { mcpCalls { serverName tool outcome durationMs } } }`;
  return (await world.graphql(query, { session: project.session })).body.data.run.mcpCalls;
};

describe('The MCP gateway for a run', () => {
  it('ok · a builder sees all approved tools, a planner only those attested as read-only; each call is recorded', async () => {
    const [project, other] = [await bound(), await bound()];
    const [builder, planner] = [await world.run(project, 'builder'), await world.run(other, 'planner')];
    expect(await names(builder)).toEqual(['search', 'write']);
    expect(await names(planner)).toEqual(['search']);
    // The gateway returns the definitions of the tools that were reviewed, without a request to the MCP server.
    expect(remote.asked).toEqual([]);
    expect((await call(builder, 'write')).content).toEqual([{ type: 'text', text: 'did write' }]);
    await expect(call(planner, 'write')).rejects.toThrow('No such tool that is approved for this run');
    expect(remote.methods().filter((method) => method === 'tools/call')).toHaveLength(1);
    expect(await callsOf(builder, project)).toEqual([
      { serverName: 'issues', tool: 'write', outcome: 'ok', durationMs: 0 },
    ]);
    expect(await callsOf(planner, other)).toEqual([
      { serverName: 'issues', tool: 'write', outcome: 'refused', durationMs: 0 },
    ]);
  });

  it('ok · the MCP server gets its credential and no data of the platform; the run never sees the credential', async () => {
    const project = await bound();
    const run = await world.run(project);
    remote.settings.result = { content: [{ type: 'text', text: 'you sent key-of-acme' }], isError: true };
    expect(await call(run, 'search')).toMatchObject({ content: [{ text: 'you sent [redacted]' }], isError: true });
    expect(remote.asked.every(({ headers }) => headers['x-key'] === 'key-of-acme')).toBe(true);
    expect(JSON.stringify(remote.asked)).not.toMatch(new RegExp(`${run.token}|${run.leaseId}|${run.runId}`));
    expect((await callsOf(run, project))[0].outcome).toBe('tool_error');
  });

  it('403 · a tool that needs approval is called once for each approval, with the approved arguments', async () => {
    const project = await bound();
    const alwaysAsk = [
      { name: 'search', attestedReadOnly: true },
      { name: 'write', alwaysAsk: true },
    ];
    await project.put('issues', { roles: ['builder'], approvedTools: alwaysAsk });
    // A client that does not know the field `alwaysAsk` leaves it out, and its stored value does not change.
    await project.put('issues', { roles: ['builder'], approvedTools });
    const run = await world.run(project);
    const query = `{ runMcpServers(runId: "${run.runId}", leaseId: "${run.leaseId}") { alwaysAsk } }`;
    expect((await world.graphql(query, { token: run.token })).body.data.runMcpServers).toEqual([
      { alwaysAsk: ['write'] },
    ]);
    const sandboxId = await run.runtime.register(run);
    const parameter = '{"to":"live"}';
    const fragment = { kind: 'elicitation', t: 1, body: 'May I?', action: 'issues.write', parameter, toolUseId: 'q1' };
    await run.runtime.report(
      'appendFragments',
      { sandboxId, leaseId: run.leaseId, seq: 0, fragments: [fragment] },
      '{ nextSeq }',
    );
    const asked = { ...run, headers: { ...run.headers, 'x-question-id': 'q1' } };
    const refused = "Each call of write needs a person's approval, and nobody has approved this call.";
    await expect(call(asked, 'write', { to: 'live' })).rejects.toThrow(refused);
    const body = { approve: true, text: '' };
    const answered = await world.rest('POST', `/runs/${run.runId}/answer`, { session: project.session, body });
    expect([answered.status, answered.body.approved]).toEqual([201, true]);
    await expect(call(run, 'write', { to: 'live' })).rejects.toThrow(refused);
    await expect(call(asked, 'write', { to: 'dead' })).rejects.toThrow(refused);
    expect((await call(asked, 'write', { to: 'live' })).content).toEqual([{ type: 'text', text: 'did write' }]);
    await expect(call(asked, 'write', { to: 'live' })).rejects.toThrow(refused);
    expect((await call(run, 'search')).content).toEqual([{ type: 'text', text: 'did search' }]);
    expect(remote.methods().filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  it('ok · a query returns the gateway URL of each MCP server of the run', async () => {
    const project = await bound();
    await project.put('later', { roles: ['reviewer'] });
    const run = await world.run(project);
    const query = `{ runMcpServers(runId: "${run.runId}", leaseId: "${run.leaseId}") { serverName url } }`;
    const { data } = (await world.graphql(query, { token: run.token })).body;
    expect(data.runMcpServers).toEqual([{ serverName: 'issues', url: world.url + run.at('issues') }]);
  });

  it('ok · a tool that has changed is left out of the next list, and the other tools are kept', async () => {
    const project = await bound();
    const run = await world.run(project);
    remote.settings.tools = [tool('search', { description: 'Another.' }), tool('write'), tool('more')];
    expect(await names(run)).toEqual(['search', 'write']);
    world.clock.turn(minutes(10));
    const later = await world.run(project);
    expect(await names(later)).toEqual(['write']);
    await expect(call(later, 'search')).rejects.toThrow('No such tool');
    expect((await project.server('issues')).binding.statusDetail).toBe('New or changed tools: search, more.');
  });

  it('error · a failing MCP server is reported to the agent in the platform’s own words, and recorded', async () => {
    const project = await bound();
    const run = await world.run(project);
    remote.settings.disturb = ({ body }, res) => {
      if (body?.method !== 'tools/call') return false;
      res.writeHead(500).end('words of a stranger');
      return true;
    };
    await expect(call(run, 'search')).rejects.toThrow(
      'The MCP server issues failed: The server answered with status 500.',
    );
    expect((await callsOf(run, project))[0].outcome).toBe('failed');
    remote.settings.token = 'changed';
    remote.settings.disturb = disturb;
    await expect(call(run, 'search')).rejects.toThrow('requires credentials');
    expect((await project.server('issues')).binding.status).toBe('needs_auth');
  });

  it.each([
    ['disabled', { enabled: false }],
    ['without its credential', { credentials: { KEY: null } }],
  ])('error · an MCP server that is %s is not contacted', async (_, change) => {
    const project = await bound();
    const run = await world.run(project);
    await project.put('issues', { roles: ['builder'], ...change });
    await expect(call(run, 'search')).rejects.toThrow('cannot be used');
    await expect(names(run)).rejects.toThrow('cannot be used');
    expect(remote.asked).toEqual([]);
  });

  it('error · an MCP server whose URL has changed is contacted at neither URL', async () => {
    const project = await bound();
    const run = await world.run(project);
    await project.declare({ issues: { url: 'http://127.0.0.1:9/mcp' } });
    await project.view();
    await expect(call(run, 'search')).rejects.toThrow('URL has changed');
    expect(remote.asked).toEqual([]);
  });
});

describe('Leases at the MCP gateway', () => {
  it('409 · a lease that has ended or belongs to another run is refused, and nothing is sent to the MCP server', async () => {
    const project = await bound();
    const run = await world.run(project);
    const wrong = await list(run, { headers: { ...run.headers, 'x-lease-id': 'lse_another' } });
    expect([wrong.status, wrong.body.code]).toEqual([409, 'lease_lost']);
    world.clock.turn(minutes(1));
    const over = await list(run);
    expect([over.status, over.body.code]).toEqual([409, 'lease_lost']);
    expect(remote.asked).toEqual([]);
  });

  it('409 · the lease of a canceled run is refused by the gateway', async () => {
    const project = await bound();
    const run = await world.run(project);
    await world.graphql(`mutation { cancelRun(runId: "${run.runId}") { id } }`, { session: project.session });
    expect((await list(run)).status).toBe(409);
  });

  it('400, 401, 403, 404, 405 · gateway calls without a lease, without a service token, or to other paths are refused', async () => {
    const project = await bound();
    const run = await world.run(project);
    const headers = { accept: 'application/json, text/event-stream' };
    expect((await list(run, { headers })).body.description).toContain('X-Lease-Id');
    expect((await list(run, { token: undefined })).status).toBe(401);
    const token = await world.token(project.owner, project.organization);
    expect((await list(run, { token })).body.code).toBe('missing_scope');
    expect((await list(run, { token: undefined, session: project.session })).body.code).toBe('missing_scope');
    expect((await list({ ...run, at: () => run.at('unknown') })).status).toBe(404);
    expect((await list({ ...run, at: () => '/mcp/runs/run_none/issues' })).status).toBe(404);
    for (const path of ['/mcp/runs/', `/mcp/runs/${run.runId}`, `${run.at('issues')}/more`, run.at('a%2Fb')]) {
      expect([path, (await list({ ...run, at: () => path })).status]).toEqual([path, 404]);
    }
    expect((await world.request('GET', run.at('issues'), { token: run.token, headers: run.headers })).status).toBe(405);
    const other = await world.run(await bound());
    expect((await list({ ...run, at: other.at })).status).toBe(409);
  });

  it('404 · an MCP server for other roles is hidden from a run', async () => {
    const project = await bound();
    const reviewer = await world.run(project, 'reviewer');
    expect((await list(reviewer)).status).toBe(404);
  });
});

it('ok · the tools of a third-party MCP server are reviewed, and called by a run', async () => {
  const project = await world.project();
  await project.declare({ all: { url: everything.url } });
  await project.put('all', { roles: ['builder'] });
  const { body } = await project.refresh('all');
  const offered = body.toolSnapshot.map(({ name }: { name: string }) => name);
  expect(offered).toEqual(expect.arrayContaining(['echo', 'get-sum']));
  const approved = await project.put('all', { roles: ['builder'], approvedTools: [{ name: 'echo' }] });
  expect([approved.body.status, approved.body.effectiveToolCounts.builder]).toEqual(['ready', 1]);
  const run = await world.run(project);
  expect(await names(run, 'all')).toEqual(['echo']);
  expect((await call(run, 'echo', { message: 'hello' }, 'all')).content).toEqual([
    { type: 'text', text: 'Echo: hello' },
  ]);
  await expect(call(run, 'get-sum', { a: 1, b: 2 }, 'all')).rejects.toThrow('No such tool');
  const bad = await call(run, 'echo', { message: 5 }, 'all').catch((error) => ({ isError: true, error }));
  expect(bad.isError).toBe(true);
});

describe('MCP calls that wait for approval', () => {
  const calls = () => remote.methods().filter((method) => method === 'tools/call');
  const textOf = async (answer: ReturnType<typeof call>) => ((await answer) as Json).content[0].text as string;
  /**
   * Approves or rejects effects of a run, and returns all effects of the run.
   * @param ids The effects that are approved or rejected; by default all that wait, and none if the list is empty
   */
  const decide = async (decision: 'approve' | 'reject', { runId }: Held, { session }: McpProject, ids?: string[]) => {
    const query = `mutation ($ids: [String!]) { ${decision}OutsideEffects(runId: "${runId}", effectIds: $ids) { id } }`;
    if (ids?.length !== 0) await world.graphql(query, { session, variables: { ids: ids ?? null } });
    await world.delivered();
    const all = `{ outsideEffects(runId: "${runId}") { data { id kind state title text error } } }`;
    return (await world.graphql(all, { session })).body.data.outsideEffects.data;
  };
  /** Returns a project whose MCP calls wait for approval, and a claimed run of the project. */
  async function waiting(allowedTools: string[] = []): Promise<[McpProject, Held]> {
    const project = await bound();
    const query = `mutation ($id: String!, $policy: EffectPolicyInput) { setProjectEffectPolicy(projectId: $id, policy: $policy) { id } }`;
    const variables = { id: project.id, policy: { waits: ['mcp_call'], allowedTools } };
    await world.graphql(query, { session: project.session, variables });
    return [project, await world.run(project)];
  }

  it('a call that changes something is staged, and sent once after approval; a read-only call is sent at once', async () => {
    remote.settings.tools[1].outputSchema = { type: 'object' };
    const [project, run] = await waiting();
    const tools = await within(run, 'issues', async (client) => (await client.listTools()).tools);
    const { description, outputSchema } = tools.find(({ name }) => name === 'write')!;
    expect([description, outputSchema]).toEqual([expect.stringContaining('Calls of this tool wait'), undefined]);
    expect(await textOf(call(run, 'search'))).toBe('did search');
    const first = await textOf(call(run, 'write', { what: 'a' }));
    expect(first).toMatch(/^The call of write is staged as eff_\w+: it has had no effect yet/);
    expect(await textOf(call(run, 'write', { what: 'a' }))).toBe(first);
    world.clock.turn(1);
    await textOf(call(run, 'write', { what: 'b' }));
    expect(await textOf(call(run, 'write', { what: 'x'.repeat(70_000) }))).toContain('at most 65536 characters');
    expect(calls()).toHaveLength(1);

    await Promise.all([decide('approve', run, project), decide('approve', run, project)]);
    expect(await decide('approve', run, project, [])).toMatchObject([
      { kind: 'mcp_call', state: 'committed', title: 'Call write of issues', text: '{\n  "what": "a"\n}' },
      { state: 'committed' },
    ]);
    expect(calls()).toHaveLength(3);
    const { messages } = await run.runtime.beat(run, {}, '{ messages { author text } }');
    expect(messages).toMatchObject([
      {
        text: expect.stringMatching(
          /^The call of write that was staged as eff_\w+ was approved and made[\s\S]*did write$/,
        ),
      },
      {},
    ]);
  });

  it('a call that the policy allows is sent at once; a rejected call is never sent', async () => {
    const [, free] = await waiting(['issues.write']);
    expect(await textOf(call(free, 'write'))).toBe('did write');
    expect(calls()).toHaveLength(1);
    const [project, run] = await waiting();
    await call(run, 'write');
    expect(await decide('reject', run, project)).toMatchObject([{ state: 'rejected' }]);
    expect(await textOf(call(run, 'write'))).toBe('A person has rejected this call.');
    expect(calls()).toEqual([]);
  });

  it('an approved call whose process dies is not repeated without a person, and says why it failed', async () => {
    const [project, run] = await waiting();
    await call(run, 'write');
    world.clock.turn(1);
    await call(run, 'write', { what: 'later' });
    let lost = () => {};
    remote.settings.disturb = ({ body }, res) => {
      if (body?.method === 'tools/call') lost = () => void res.destroy();
      return body?.method === 'tools/call';
    };
    const [{ id }] = await decide('approve', run, project, []);
    const { session } = project;
    const query = `mutation { approveOutsideEffects(runId: "${run.runId}", effectIds: ["${id}"]) { id } }`;
    await world.graphql(query, { session });
    const dying = commitNextEffect({ runId: run.runId });
    await vi.waitFor(() => expect(calls()).toHaveLength(1));
    remote.settings.disturb = disturb;
    world.clock.turn(minutes(7));
    await world.delivered();
    lost();
    await dying;
    const lostOne = { state: 'failed', error: expect.stringContaining('which may have been made') };
    expect(await decide('approve', run, project, [])).toMatchObject([lostOne, { state: 'staged' }]);
    expect(calls()).toHaveLength(1);
    expect(await decide('approve', run, project, [id])).toMatchObject([{ state: 'committed' }, { state: 'staged' }]);
    expect(calls()).toHaveLength(2);

    await project.ask('DELETE', '/servers/issues');
    expect(await decide('approve', run, project)).toMatchObject([
      { state: 'committed' },
      { state: 'failed', error: 'The project no longer has the MCP server issues.' },
    ]);
  });
});
