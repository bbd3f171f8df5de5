// MCP servers in sandboxes, from the platform's side: the runtime that holds a run is told what to start, reports tools, and asks before
// each call. test/programs/runner/mcp-servers.test.ts runs real ones.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type McpWorld, openMcpWorld } from '../support/mcp-world.ts';

let world: McpWorld;
beforeAll(async () => {
  world = await openMcpWorld();
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const env = { TOKEN: '${secret:TOKEN}' };
const files = { command: 'npx', args: ['-y', 'files@1.0.0', '--all'], env };
const tool = (name: string, description = name) => ({ name, description, inputSchema: { type: 'object' } });

async function open(role = 'builder') {
  const project = await world.project();
  await project.declare({ files, own: { command: 'node', args: ['server.js'] } });
  const bind = (body: object = {}) => project.put('files', { roles: [role], ...body });
  await bind({ credentials: { TOKEN: 'secret value' } });
  const { runId, leaseId, token } = await world.run(project, role);
  const graphql = async (text: string, variables: Json): Promise<Json> => {
    const { body } = await world.graphql(text, { token, variables });
    return body.errors ? body.errors[0].extensions.problem : Object.values(body.data)[0];
  };
  const send = (field: string, type: string, fields: string, input: object) =>
    graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { ${fields} } }`, {
      input: { runId, leaseId, serverName: 'files', ...input },
    });
  return {
    project,
    bind,
    runId,
    commands: (lease = leaseId) =>
      graphql(
        `query ($r: String!, $l: String!) { runMcpCommands(runId: $r, leaseId: $l) { serverName packages program args
          env { name value } credentials { name value } packageIntegrity refusal } }`,
        { r: runId, l: lease },
      ),
    report: (tools: unknown, more: object = {}) =>
      send('reportMcpTools', 'ReportMcpToolsRequest', 'tools refusal', {
        tools: typeof tools === 'string' ? tools : JSON.stringify(tools),
        packageIntegrity: 'sha512-one',
        ...more,
      }),
    admit: (name: string, more: object = {}) =>
      send('admitMcpCall', 'AdmitMcpCallRequest', 'needsPerson', { tool: name, ...more }),
    called: (name: string, outcome: string) =>
      send('reportMcpCall', 'ReportMcpCallRequest', 'ok', { tool: name, outcome, durationMs: 5 }),
    status: async () => {
      const { binding } = await project.server('files');
      return [binding.status, binding.statusDetail];
    },
  };
}

it('only the runtime with the lease gets the commands and credentials of MCP servers, but it gets neither for a server whose declaration has changed', async () => {
  const { commands, project, bind } = await open();
  const command = {
    ...{ serverName: 'files', packages: ['files@1.0.0'], program: null, args: ['--all'] },
    env: [{ name: 'TOKEN', value: env.TOKEN }],
    credentials: [{ name: 'TOKEN', value: 'secret value' }],
    ...{ packageIntegrity: null, refusal: null },
  };
  expect(await commands()).toEqual([command]);
  expect((await commands('lse_other')).code).toBe('lease_lost');
  await project.put('own', { roles: ['builder', 'reviewer'] });
  expect(await commands()).toMatchObject([
    command,
    { serverName: 'own', packages: [], program: 'node', args: ['server.js'] },
  ]);
  await project.put('own', { roles: ['reviewer'] });
  await project.declare({ files: { ...files, args: ['-y', 'files@1.0.1'] } });
  const nothing = { packages: [], program: null, args: [], env: [], credentials: [] };
  const refusal = 'The declaration has changed. Nothing is sent until the server is bound again.';
  expect(await commands()).toEqual([{ ...nothing, serverName: 'files', packageIntegrity: null, refusal }]);
  await bind({ enabled: false });
  expect(await commands()).toEqual([]);
});

it('tools of an MCP server in a sandbox are stored for the review, and only approved unchanged ones are returned', async () => {
  const { report, bind, status } = await open();
  expect(await status()).toEqual([
    'needs_review',
    'Its tools are read when the next mission with one of its roles starts the server.',
  ]);
  expect(await report([tool('a'), tool('b')])).toEqual({ tools: [], refusal: null });
  expect(await status()).toEqual(['needs_review', 'New or changed tools: a, b.']);
  await bind({ approvedTools: [{ name: 'a', attestedReadOnly: true }] });
  expect(await report([tool('a'), tool('b')])).toEqual({ tools: ['a'], refusal: null });
  expect(await report([tool('a', 'other'), tool('b')])).toEqual({ tools: [], refusal: null });
  expect(await status()).toEqual(['needs_review', 'New or changed tools: a.']);
});

it('a package whose checksum has changed since its first run is refused until its MCP server is bound again', async () => {
  const { report, project, bind, status } = await open();
  await report([tool('a')]);
  const refusal = 'The package has a different checksum than at its first run.';
  expect(await report([tool('a')], { packageIntegrity: 'sha512-two' })).toEqual({ tools: [], refusal });
  expect(await status()).toEqual(['error', refusal]);
  expect(await report([tool('a')])).toMatchObject({ refusal: null });
  await project.ask('DELETE', '/servers/files');
  await bind();
  expect(await report([tool('a')], { packageIntegrity: 'sha512-two' })).toMatchObject({ refusal: null });
});

it.each([
  [[{ name: 'no schema' }], 'The server returned an invalid definition of a tool with an unusual name.'],
  [[tool('a'), tool('a')], 'The server defines the tool a twice.'],
  [[null], 'The server returned an invalid definition of a tool with an unusual name.'],
  [Array.from({ length: 501 }, (_, i) => tool(`t${i}`)), 'The server has more than 500 tools.'],
])(
  'tools that violate the protocol are not stored, and the reason is returned and shown: case %#',
  async (tools, refusal) => {
    const { report, status } = await open();
    expect(await report(tools)).toEqual({ tools: [], refusal });
    expect(await status()).toEqual(['error', refusal]);
  },
);

it('400, 404 · a report of tools is refused when it is not a list, or when the MCP server is bound to another role', async () => {
  const { report, bind } = await open();
  expect(await report('{}')).toMatchObject({ code: 'invalid_request' });
  expect(await report('nothing')).toMatchObject({ code: 'invalid_request' });
  expect(await report(null, { tools: undefined, error: 'It did not start.' })).toEqual({
    tools: [],
    refusal: 'It did not start.',
  });
  await bind({ roles: ['qa'] });
  expect(await report([])).toMatchObject({ code: 'not_found' });
});

it('a call of an approved tool is admitted, after a person’s decision if one is required, and recorded', async () => {
  const { report, bind, admit, called, runId } = await open();
  await report([tool('a'), tool('b'), tool('c')]);
  const approved = (name: string, alwaysAsk = false) => ({ name, attestedReadOnly: false, alwaysAsk });
  await bind({ approvedTools: [approved('a'), approved('b', true)] });
  expect(await admit('a')).toEqual({ needsPerson: false });
  expect(await called('a', 'ok')).toEqual({ ok: true });
  expect(await admit('b')).toEqual({ needsPerson: true });
  expect(await admit('b', { questionId: 'never-asked', arguments: '{}' })).toMatchObject({ code: 'forbidden' });
  expect(await admit('c')).toMatchObject({ code: 'not_found' });
  // A call that waits for a person's approval must get it during the step, because the MCP server in the sandbox ends with the step.
  const policy = (allowedTools: string[]) =>
    world.knex('projects').update({ effectPolicy: JSON.stringify({ waits: ['mcp_call'], allowedTools }) });
  await policy([]);
  expect(await admit('a')).toEqual({ needsPerson: true });
  await policy(['files.a']);
  expect(await admit('a')).toEqual({ needsPerson: false });
  const calls = await world.knex('mcp_calls').where({ runId }).orderBy('tool').select('tool', 'outcome');
  expect(calls.map(({ tool: name, outcome }) => [name, outcome])).toEqual([
    ['a', 'ok'],
    ['b', 'refused'],
    ['c', 'refused'],
  ]);
});
