// The MCP server over real HTTP: its protocol, the credentials that it accepts, and calls of tools.
import { request } from 'node:http';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, describe, expect, test } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { bytes, mcp } from '#limits.ts';
import { createOwner } from '../support/callers.ts';
import { connectMcp, visibleTools } from '../support/mcp-client.ts';
import { type Ask, openWorld } from '../support/world.ts';

const world = await openWorld();
const owner = await createOwner(world, 'Alice', 'Acme');
const { token } = owner;
afterAll(() => world.close());

const connect = (bearer: string) => connectMcp(world, bearer);

const accept = 'application/json, text/event-stream';
const post = (body: unknown, ask: Ask = {}) =>
  world.request('POST', '/mcp', { token, ...ask, body, headers: { accept, ...ask.headers } });
const message = (method: string, params?: unknown, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params ? { params } : {}),
});
const record = (value: unknown) => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});
const refusal = (body: unknown) => ({ ...record(body), isError: true });

test.each([
  ['a record', 'get_me', {}],
  ['a page', 'list_projects', { limit: 5 }],
  ['no arguments', 'list_organizations', undefined],
  ['an unknown record', 'get_project', { projectId: 'prj_none' }],
  ['a missing argument', 'get_project', {}],
  ['an unknown argument', 'get_me', { other: true }],
  ['an unknown tool', 'get_nothing', {}],
])('a tool call that the service handles without the SDK is answered as the SDK would · %s', async (_, name, args) => {
  const answers = await Promise.all(
    // The SDK ignores members that it does not know.
    [undefined, { progressToken: 'a' }, { 'example.com/other': 1 }].map((_meta) =>
      post(message('tools/call', { name, ...(args && { arguments: args }), ...(_meta && { _meta }) })),
    ),
  );
  const written = answers.map(({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries([...headers].filter(([of]) => !/^(date|ratelimit|x-request-id)$/.test(of))),
    body,
  }));
  expect(written[0]).toEqual(written[2]);
  expect(written[1]).toEqual(written[2]);
});

test.each([
  ['a message without `jsonrpc`', { id: 1, method: 'tools/call', params: { name: 'get_me' } }, {}, 400],
  ['no name', message('tools/call', { arguments: {} }), {}, 200],
  ['arguments that are not an object', message('tools/call', { name: 'get_me', arguments: 1 }), {}, 200],
  ['an unknown version', message('tools/call', { name: 'get_me' }), { 'mcp-protocol-version': '1999-01-01' }, 400],
  ['an Accept header without events', message('tools/call', { name: 'get_me' }), { accept: 'application/json' }, 406],
])('a tool call that the service leaves to the SDK is refused by the SDK · %s', async (_, body, headers, status) => {
  const answer = await post(body, { headers });
  expect(answer.status).toBe(status);
  expect(answer.body.error).toBeDefined();
});

describe('MCP tool calls', () => {
  test('a tool answers like REST, as text and as structured content', async () => {
    // The client knows the list, so it checks every structured result against the schema of its tool.
    const { call, names } = await connect(token);
    await names();
    const created = await call('create_project', { name: 'Alpha', repoFullName: 'acme/alpha' });
    const { id } = created.structuredContent as { id: string };
    const viaRest = await world.rest('GET', `/projects/${id}`, { token });
    expect(created).toEqual(record(viaRest.body));
    expect(viaRest.body.missingConnectorKinds).toEqual(['scm', 'llm']);
    expect(await call('get_project', { projectId: id })).toEqual(record(viaRest.body));
    expect(await call('list_projects', { limit: 1, cursor: null })).toEqual(
      record((await world.rest('GET', '/projects?limit=1', { token })).body),
    );
    expect(await call('get_me')).toEqual(record((await world.rest('GET', '/me', { token })).body));
    expect(await call('list_scopes')).toEqual(record((await world.rest('GET', '/scopes', { token })).body));
  });

  test('a field that REST omits is omitted over MCP too, and not sent as null', async () => {
    const { organization, token: doras } = await createOwner(world, 'Dora', 'Doras');
    const orgId = organization.id;
    for (const [vendor, vendorKind] of [
      ['builtin', 'tracker'],
      ['github', 'scm'],
      ['anthropic', 'llm'],
    ] as const) {
      await connectIntegration({ orgId, displayName: vendor, vendor, vendorKind });
    }
    const { call, names } = await connect(doras);
    await names();
    const created = await call('create_project', { name: 'Whole', repoFullName: 'doras/whole' });
    expect(Object.keys(created.structuredContent as object)).not.toContain('missingConnectorKinds');
    const page = (await call('list_projects')).structuredContent as { data: object[] };
    expect(page.data).toEqual([created.structuredContent]);
  });

  test('an update over MCP keeps a field that the call omits, and clears a field that is null; a project deleted over MCP is deleted for REST too', async () => {
    const { call } = await connect(token);
    const created = await call('create_project', { name: 'Beta', repoFullName: 'acme/beta', issueCode: 'BET' });
    const { id } = created.structuredContent as { id: string };
    const renamed = await call('update_project', { projectId: id, name: 'Gamma' });
    expect(renamed.structuredContent).toMatchObject({ name: 'Gamma', issueCode: 'BET' });
    const cleared = await call('update_project', { projectId: id, issueCode: null });
    expect(cleared.structuredContent).toMatchObject({ name: 'Gamma', issueCode: null });
    expect(await call('delete_project', { projectId: id })).toEqual(record({ ok: true, id }));
    expect((await world.rest('GET', `/projects/${id}`, { token })).status).toBe(404);
  });

  test('a problem is a tool error with the error body of REST', async () => {
    const { call, names } = await connect(token);
    await names();
    const unknown = await world.rest('GET', '/projects/prj_nothing', { token });
    expect(await call('get_project', { projectId: 'prj_nothing' })).toEqual(refusal(unknown.body));

    const input = { name: 'Twin', repoFullName: 'acme/twin' };
    await call('create_project', input);
    const twin = await world.rest('POST', '/projects', { token, body: input });
    expect(twin.status).toBe(409);
    expect(await call('create_project', input)).toEqual(
      refusal({
        ...twin.body,
        code: 'conflict',
        fields: [
          { path: 'repoFullName', message: `the project ${twin.body.conflictingProjectId} already uses acme/twin` },
        ],
      }),
    );
  });

  test('a call with invalid arguments gets a tool error that names each of them, and writes nothing', async () => {
    const { call } = await connect(token);
    const before = await world.knex('projects').count();
    const bad = [
      [
        { name: '', repoFullName: 'acme' },
        'name: must be at least 1 character; repoFullName: must be <owner>/<repo>: two parts without white space, one slash.',
      ],
      [{ name: 'A' }, 'repoFullName: is required.'],
      [{ name: 'A', repoFullName: 'acme/a', colour: 'red' }, 'has no field "colour".'],
      [
        { name: 'A', repoFullName: 'acme/a', tracker: 'paper' },
        'tracker: must be one of "builtin", "linear", "github", "gitlab".',
      ],
      [{ name: ['A'], repoFullName: 'acme/a' }, 'name: must be a string.'],
    ] as const;
    for (const [args, description] of bad) {
      const body = {
        category: 'validation',
        title: 'Invalid request',
        description,
        retryable: false,
        code: 'invalid_request',
      };
      expect(await call('create_project', args)).toMatchObject({ isError: true, structuredContent: body });
    }
    expect((await call('create_project', { name: 'A' })).structuredContent).toMatchObject({
      fields: [{ path: 'repoFullName', message: 'is required' }],
    });
    const page = await call('list_projects', { limit: 101 });
    expect(page.structuredContent).toMatchObject({ description: 'limit: must be at most 100.' });
    expect(await world.knex('projects').count()).toEqual(before);
  });

  test('a call of a tool beyond the token’s scopes gets a tool error that names the missing scope, even if the arguments are invalid too', async () => {
    const narrow = await world.token(owner.person, owner.organization, { scopes: ['projects:read'] });
    const { call } = await connect(narrow);
    const viaRest = await world.rest('POST', '/projects', { token: narrow, body: {} });
    expect(viaRest.body.description).toContain('missing-scope:projects:write');
    expect(await call('create_project')).toEqual(refusal({ ...viaRest.body, missingScopes: ['projects:write'] }));
  });

  test('a token bound to a project reads every project over MCP, and creates none', async () => {
    const { call } = await connect(token);
    const input = { name: 'Bound', repoFullName: 'acme/bound' };
    const bound = (await call('create_project', input)).structuredContent as { id: string };
    const narrow = await world.token(owner.person, owner.organization, { projectId: bound.id });
    const held = await connect(narrow);
    expect((await held.call('get_me')).structuredContent).toMatchObject({ projectId: bound.id });
    expect(await held.call('list_projects')).toEqual(record((await world.rest('GET', '/projects', { token })).body));
    const viaRest = await world.rest('POST', '/projects', {
      token: narrow,
      body: { name: 'N', repoFullName: 'acme/n' },
    });
    expect(viaRest.status).toBe(403);
    expect(await held.call('create_project', { name: 'N', repoFullName: 'acme/n' })).toEqual(refusal(viaRest.body));
  });

  test('a record of another organization is not found over MCP', async () => {
    const other = await connect((await createOwner(world, 'Carol', 'Carols')).token);
    const { data } = (await world.rest('GET', '/projects', { token })).body;
    const answer = await other.call('get_project', { projectId: data[0].id });
    expect(answer.structuredContent).toMatchObject({ code: 'not_found' });
  });
});

describe('The MCP protocol', () => {
  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'the MCP server supports version %s',
    async (protocolVersion) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const { status, headers, body } = await post(message('initialize', params));
      expect([status, headers.get('content-type'), headers.get('mcp-session-id')]).toEqual([
        200,
        'application/json',
        null,
      ]);
      expect(body.result.protocolVersion).toBe(protocolVersion);
      const version = { headers: { 'mcp-protocol-version': protocolVersion } };
      const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
      expect((await post(initialized, version)).status).toBe(202);
      expect((await post(message('ping'), version)).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    },
  );

  test('a client that initializes with an unknown MCP version is offered version 2025-11-25', async () => {
    const params = { protocolVersion: '2199-01-01', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    expect((await post(message('initialize', params))).body.result.protocolVersion).toBe('2025-11-25');
  });

  test('the MCP server supports version 2026-07-28, where each request identifies its sender', async () => {
    const version = '2026-07-28';
    const asked = (method: string, params: Record<string, unknown> = {}, more: Ask = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method };
      if (typeof params.name === 'string') headers['mcp-name'] = params.name;
      return post(message(method, { ...params, _meta }), { ...more, headers });
    };
    const discovered = await asked('server/discover');
    expect(discovered.body.result).toMatchObject({ supportedVersions: [version], capabilities: { tools: {} } });
    expect((await asked('tools/list')).body.result.tools.length).toBe(visibleTools().length);
    const me = (await world.rest('GET', '/me', { token })).body;
    expect((await asked('tools/call', { name: 'get_me', arguments: {} })).body.result).toMatchObject(record(me));
    const listened = await asked('subscriptions/listen', { notifications: {} }, { firstEvent: true });
    expect(listened.body).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  });

  test('an unknown tool, a call without a name and an unknown method are MCP protocol errors', async () => {
    const codes = [];
    for (const [method, params] of [
      ['tools/call', { name: 'launch_rocket', arguments: {} }],
      ['tools/call', {}],
      ['tools/call', { name: 'get_me', arguments: [] }],
      ['resources/subscribe', { uri: 'aep://runs/run_1' }],
    ] as const) {
      const { status, body } = await post(message(method, params));
      codes.push([status, body.error.code]);
    }
    expect(codes).toEqual([
      [200, -32602],
      [200, -32602],
      [200, -32602],
      [200, -32601],
    ]);
    const { call } = await connect(token);
    await expect(call('launch_rocket')).rejects.toThrow('Unknown tool: launch_rocket');
  });

  test('400 · invalid JSON and invalid MCP messages are refused', async () => {
    expect(await post('{').then(({ status, body }) => [status, body.error.code])).toEqual([400, -32700]);
    for (const body of [{ hello: 'world' }, 'null', '5', []]) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      expect(await post(text).then(({ status, body: { error } }) => [status, error.code])).toEqual([400, -32600]);
    }
  });

  test('an MCP batch is answered whole, even if it cancels one of its requests; a batch that is too long is refused', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
    const call = message('tools/call', { name: 'get_me', arguments: {} }, 2);
    const { status, body } = await post([message('ping'), call, cancel]);
    expect([status, body.map(({ id }: { id: number }) => id).sort()]).toEqual([200, [1, 2]]);
    const long = Array.from({ length: mcp.messagesPerBatch + 1 }, (_, id) => message('ping', undefined, id));
    expect((await post(long)).status).toBe(400);
  });

  test('405 · MCP streams cannot be opened or ended, because the server has no sessions', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await world.request(method, '/mcp', {
        token,
        headers: { accept: 'text/event-stream' },
      });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('413 and 415 · an MCP body that is too large or not JSON is refused', async () => {
    expect((await post(' '.repeat(bytes.jsonBody + 1))).status).toBe(413);
    expect((await post('hello', { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });
});

describe('Authentication at the MCP server', () => {
  const metadata = () => `resource_metadata="${world.url}/.well-known/oauth-protected-resource/mcp"`;

  test('401 · without a token, the challenge links to the metadata of the MCP server', async () => {
    const { status, headers, body } = await world.request('POST', '/mcp', { body: message('ping') });
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata()}`]);
    expect(body).toMatchObject({ category: 'auth', code: 'unauthenticated' });
    expect((await world.request('GET', '/mcp')).status).toBe(401);
  });

  test('401 · an unknown token, a service token, and a credential outside the Authorization header are refused over MCP', async () => {
    for (const bad of ['pat_nothing', await world.service()]) {
      const { status, headers } = await post(message('ping'), { token: bad });
      expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer error="invalid_token", ${metadata()}`]);
    }
    const session = await world.session(owner.person, owner.organization.id);
    expect((await world.request('POST', '/mcp', { session, body: message('ping') })).status).toBe(401);
    expect((await world.request('POST', `/mcp?access_token=${token}`, { body: message('ping') })).status).toBe(401);
    await expect(connect('pat_nothing')).rejects.toThrow(StreamableHTTPError);
  });

  test('403, 421 · MCP requests from another site, or under a foreign name that resolves to this machine, are refused', async () => {
    const from = (origin: string) => post(message('ping'), { headers: { origin } }).then(({ status }) => status);
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(await from(world.url)).toBe(200);
    expect(await from('http://localhost:6274')).toBe(200);

    const named = (host: string) =>
      new Promise((resolve) => {
        const headers = { host, authorization: `Bearer ${token}` };
        request(`${world.url}/mcp`, { method: 'POST', headers }, (res) => resolve(res.resume().statusCode)).end();
      });
    expect(await named('evil.example:4000')).toBe(421);
    expect(await named('localhost:4000')).toBe(415);
  });

  test('429 · each message of an MCP batch counts, and the refusal has Retry-After', async () => {
    const narrow = await openWorld({ requestsPerMinute: 5 });
    try {
      const { token: credential } = await createOwner(narrow, 'Alice', 'Acme');
      const batch = (size: number) =>
        narrow.request('POST', '/mcp', {
          token: credential,
          headers: { accept },
          body: Array.from({ length: size }, (_, id) => message('ping', undefined, id)),
        });
      const first = await batch(4);
      expect([first.status, first.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=1;')]);
      const second = await batch(2);
      expect([second.status, second.body.code]).toEqual([429, 'rate_limited']);
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await narrow.close();
    }
  });
});
