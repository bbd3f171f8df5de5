// A hostile remote MCP server gets a clear status, changes no other binding, and never receives data that is not meant for it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Disturb, openRemoteMcp, type RemoteMcp, tool } from '../support/fake-mcp-server.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../support/mcp-world.ts';

const secret = (name: string): string => `\${secret:${name}}`;
let world: McpWorld;
let remote: RemoteMcp;
let other: RemoteMcp;
beforeAll(async () => {
  [world, remote, other] = await Promise.all([openMcpWorld(), openRemoteMcp(), openRemoteMcp()]);
});
afterAll(async () => {
  await Promise.all([world.close(), remote.close(), other.close()]);
});
const usual = { tools: [tool('search'), tool('write')], disturb: () => false, token: null };
beforeEach(() => {
  Object.assign(remote.settings, usual);
  remote.asked.length = 0;
  other.asked.length = 0;
});
afterEach(() => vi.restoreAllMocks());

async function bound(url = remote.url, headers = {}, body = {}): Promise<McpProject> {
  const project = await world.project();
  await project.declare({ issues: { url, headers }, docs: { url: other.url } });
  expect((await project.put('issues', { roles: ['builder'], ...body })).status).toBe(200);
  expect((await project.put('docs', { roles: ['builder'] })).status).toBe(200);
  return project;
}

const onList =
  (disturb: Disturb): Disturb =>
  (asked, res) =>
    asked.body?.method === 'tools/list' && disturb(asked, res);
const result = (of: (id: unknown) => unknown): Disturb =>
  onList(({ body }, res) => {
    remote.json(res, 200, of(body.id));
    return true;
  });

const misdeeds: Record<string, [Disturb, words: string]> = {
  'answers with the status 500': [
    onList((_, res) => {
      res.writeHead(500).end('<h1>secret words of a stranger</h1>');
      return true;
    }),
    'status 500',
  ],
  'redirects to a private address': [
    (_, res) => {
      res.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
      return true;
    },
    '',
  ],
  'redirects to another server': [
    (_, res) => {
      res.writeHead(308, { location: other.url }).end();
      return true;
    },
    '',
  ],
  'answers 100 MB of JSON': [
    onList((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      flood(res);
      return true;
    }),
    'too large',
  ],
  'answers 100 MB of events': [
    onList((_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      flood(res);
      return true;
    }),
    '',
  ],
  'closes the connection': [
    onList(({ headers: _ }, res) => {
      res.destroy();
      return true;
    }),
    'cannot be reached',
  ],
  'ends its stream without an answer': [
    onList((_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
      return true;
    }),
    '',
  ],
  'answers with HTML': [
    onList((_, res) => {
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
      return true;
    }),
    'invalid response',
  ],
  'returns tools that are not a list': [
    result((id) => ({ jsonrpc: '2.0', id, result: { tools: 'all' } })),
    'invalid response',
  ],
  'refuses to list its tools': [
    result((id) => ({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'words of a stranger' } })),
    'refused to list its tools',
  ],
  'returns endless pages': [
    result((id) => ({ jsonrpc: '2.0', id, result: { tools: [], nextCursor: `${Math.random()}` } })),
    'more than 20 pages',
  ],
};

function flood(res: import('node:http').ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  let left = 100;
  const more = (): void => {
    while (left-- > 0) if (!res.write(chunk)) return void res.once('drain', more);
    res.end();
  };
  more();
}

describe('faulty MCP servers', () => {
  it.each(Object.entries(misdeeds))(
    'an MCP server that %s gets the status error, and no other server is affected',
    async (_, [disturb, words]) => {
      vi.spyOn(AbortSignal, 'timeout').mockImplementation(shortly);
      const project = await bound();
      await project.refresh('docs');
      remote.settings.disturb = disturb;
      other.asked.length = 0;
      const { status, body } = await project.refresh('issues');
      expect([status, body.status, body.statusDetail]).toEqual([200, 'error', expect.stringContaining(words)]);
      expect(body.statusDetail).not.toMatch(/stranger|169\.254/);
      expect(body.toolSnapshot).toEqual([]);
      // The other server got no request, and its binding is unchanged.
      expect(other.asked).toEqual([]);
      expect((await project.server('docs')).binding).toMatchObject({
        status: 'needs_review',
        statusDetail: expect.any(String),
      });
      remote.settings.disturb = () => false;
      expect((await project.refresh('issues')).body.status).toBe('needs_review');
    },
  );

  it('an MCP server that does not answer within 20 seconds gets the status error', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(shortly);
    const project = await bound();
    remote.settings.disturb = () => true;
    const { body } = await project.refresh('issues');
    expect([body.status, body.statusDetail]).toEqual(['error', 'The server did not answer within 20 seconds.']);
  });

  it('an MCP server that cannot be reached gets the status error', async () => {
    const project = await bound('http://127.0.0.1:9/mcp');
    const { body } = await project.refresh('issues');
    expect([body.status, body.statusDetail]).toEqual(['error', 'The server cannot be reached.']);
  });

  it.each(['http://10.0.0.1/mcp', 'https://[::1]:1/mcp', 'http://169.254.169.254/mcp', 'http://example.com/mcp'])(
    'an MCP server at %s is not contacted, and gets the status error',
    async (url) => {
      const project = await bound(url);
      const { body } = await project.refresh('issues');
      expect([body.status, body.statusDetail]).toEqual(['error', 'The server cannot be reached.']);
    },
  );

  it.each([
    ['10,000 tools', Array.from({ length: 10_000 }, (_, i) => tool(`t${i}`)), 'more than 500 tools'],
    ['a schema that is not an object', [tool('search', { inputSchema: { type: 'string' } })], 'invalid'],
    ['no schema at all', [tool('search', { inputSchema: undefined })], 'invalid'],
    ['a name of 129 characters', [tool('x'.repeat(129))], 'an invalid definition'],
    ['a name with a line break', [tool('a\nb')], 'an invalid definition'],
    [
      'a description of 8,001 characters',
      [tool('search', { description: 'x'.repeat(8_001) })],
      'an invalid definition',
    ],
    ['characters that cannot be stored', [tool('search', { description: 'a\0b' })], 'an invalid definition'],
    [
      'a definition of 100 KiB',
      [tool('search', { inputSchema: { type: 'object', x: 'x'.repeat(100_000) } })],
      'an invalid definition',
    ],
    ['a duplicate tool', [tool('search'), tool('search')], 'twice'],
  ])('an MCP server with %s gets the status error', async (_, tools, words) => {
    const project = await bound();
    remote.settings.tools = tools;
    const { body } = await project.refresh('issues');
    expect([body.status, body.statusDetail]).toEqual(['error', expect.stringContaining(words)]);
    expect(body.toolSnapshot).toEqual([]);
  });
});

/** Time limits run in real time, so the tests shorten them. */
const { timeout: real } = AbortSignal;
const shortly = () => real.call(AbortSignal, 700);

it('requests of an MCP server for sampling and elicitation are refused, and its tools are still read', async () => {
  const project = await bound();
  const answers: unknown[] = [];
  remote.settings.disturb = ({ body, path }, res) => {
    if (path === '/mcp' && body && !body.method) {
      answers.push(body.error?.code);
      res.writeHead(202).end();
      return true;
    }
    if (body?.method !== 'tools/list') return false;
    const ask = (id: string, method: string) =>
      `data: ${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n\n`;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(ask('s', 'sampling/createMessage') + ask('e', 'elicitation/create') + ask('r', 'roots/list'));
    res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: body.id, result: { tools: [tool('search')] } })}\n\n`);
    return true;
  };
  const { body } = await project.refresh('issues');
  expect([body.status, body.toolSnapshot.length]).toEqual(['needs_review', 1]);
  expect(answers.every((code) => code === -32_601)).toBe(true);
});

describe('credentials for MCP servers', () => {
  const key = 'key-of-acme-and-nobody-else';
  const headers = { Authorization: `Bearer ${secret('API_KEY')}`, 'X-Tenant': secret('TENANT') };

  it('an MCP server receives nothing while its credentials are missing; credentials are stored encrypted and never returned', async () => {
    const project = await bound(remote.url, headers, { credentials: { TENANT: 'acme-tenant' } });
    const missing = (await project.refresh('issues')).body;
    expect([missing.status, missing.statusDetail]).toEqual(['needs_auth', 'Credentials are missing: API_KEY.']);
    expect(remote.asked).toEqual([]);
    const given = (await project.put('issues', { roles: ['builder'], credentials: { API_KEY: key } })).body;
    expect([given.authKind, given.credentialFields]).toEqual(['bearer', ['API_KEY', 'TENANT']]);
    // A server that echoes its request does not reveal the key to anyone.
    remote.settings.tools = [tool('search', { description: `Your key is ${key}.` })];
    const { body } = await project.refresh('issues');
    expect(remote.asked.every(({ headers }) => headers.authorization === `Bearer ${key}`)).toBe(true);
    expect(remote.asked.every(({ headers }) => headers['x-tenant'] === 'acme-tenant')).toBe(true);
    expect(body.toolSnapshot[0].description).toBe('Your key is [redacted].');
    const { rows } = await world.knex.raw('select b::text from mcp_bindings b');
    expect(JSON.stringify([rows, await project.view(), body, given])).not.toMatch(/key-of-acme|acme-tenant/);
    // Null deletes a credential; omitted ones are kept.
    const forgot = (await project.put('issues', { roles: ['builder'], credentials: { TENANT: null } })).body;
    expect([forgot.credentialFields, forgot.status]).toEqual([['API_KEY'], 'needs_auth']);
  });

  it('an MCP server that rejects its credentials gets the status needs_auth', async () => {
    const project = await bound(
      remote.url,
      { Authorization: `Bearer ${secret('API_KEY')}` },
      { credentials: { API_KEY: key } },
    );
    remote.settings.token = 'another';
    const { body } = await project.refresh('issues');
    expect([body.status, body.statusDetail]).toEqual([
      'needs_auth',
      expect.stringContaining('does not accept the credentials'),
    ]);
    remote.settings.token = key;
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
  });

  it.each([
    [{ '1A': 'x' }, 'credentials'],
    [{ A: '' }, 'credentials.A'],
    [{ A: 'x\r\nHost: evil' }, 'credentials.A'],
    [{ A: 'x'.repeat(8_193) }, 'credentials.A'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`A${i}`, 'x'])), 'credentials'],
  ])('400 · invalid credentials for an MCP server are refused: %j', async (credentials, words) => {
    const project = await world.project();
    const { status, body } = await project.put('issues', { roles: [], credentials });
    expect([status, body.description]).toEqual([400, expect.stringContaining(words)]);
    expect((await project.view()).servers).toEqual([]);
  });
});

describe('changed declarations of MCP servers', () => {
  it('the new URL of an MCP server gets no request before a person binds it, and never the credentials of the old URL', async () => {
    const headers = { 'X-Key': secret('KEY') };
    const project = await bound(remote.url, headers, { credentials: { KEY: 'for-the-first-alone' } });
    await project.refresh('issues');
    expect(remote.asked.length).toBeGreaterThan(0);
    await project.declare({ issues: { url: other.url, headers } });
    const drifted = (await project.refresh('issues')).body;
    expect([drifted.status, drifted.pinnedUrl]).toEqual(['needs_review', remote.url]);
    expect(drifted.statusDetail).toContain('URL has changed');
    expect(other.asked).toEqual([]);
    const again = (await project.put('issues', { roles: ['builder'] })).body;
    expect(again).toMatchObject({
      pinnedUrl: other.url,
      status: 'needs_auth',
      statusDetail: 'Credentials are missing: KEY.',
      credentialFields: [],
      toolSnapshot: [],
    });
    await project.refresh('issues');
    expect(other.asked).toEqual([]);
  });

  it('an MCP server that returns to its bound URL needs no review', async () => {
    const project = await bound();
    await project.declare({ issues: { url: other.url }, docs: { url: other.url } });
    expect((await project.server('issues')).binding.status).toBe('needs_review');
    await project.declare({ issues: { url: remote.url }, docs: { url: other.url } });
    expect((await project.server('issues')).binding.status).toBe('ready');
  });

  it('409 · an MCP server with a forbidden command cannot be bound; a refresh is refused for an MCP server that runs in a sandbox', async () => {
    const project = await world.project();
    await project.declare({ py: { command: 'python3', args: ['x.py'] }, files: { command: 'npx', args: ['f@1.0.0'] } });
    const refused = await project.put('py', { roles: ['builder'] });
    expect([refused.status, refused.body.description]).toEqual([409, 'The server py is not allowed to run: python.']);
    const files = (await project.put('files', { roles: ['builder'] })).body;
    expect(files).toMatchObject({ transport: 'sandbox', packageSpec: 'f@1.0.0', pinnedUrl: null });
    expect((await project.refresh('files')).status).toBe(409);
    await project.declare({ files: { command: 'npx', args: ['f@1.0.1'] } });
    expect((await project.server('files')).binding).toMatchObject({ status: 'needs_review', packageSpec: 'f@1.0.0' });
  });
});

it('a disabled MCP server is not contacted, and is ready again when it is enabled', async () => {
  const project = await bound();
  expect((await project.put('issues', { roles: ['builder'], enabled: false })).body.status).toBe('disabled');
  expect((await project.refresh('issues')).status).toBe(409);
  expect(remote.asked).toEqual([]);
  expect((await project.put('issues', { roles: ['builder'], enabled: true })).body.status).toBe('ready');
});

it('200, 404 · the binding of an MCP server is deleted once; its tools can then no longer be refreshed', async () => {
  const project = await bound();
  expect((await project.ask('DELETE', '/servers/issues')).body).toEqual({ deleted: true });
  expect((await project.ask('DELETE', '/servers/issues')).status).toBe(404);
  expect((await project.refresh('issues')).status).toBe(404);
  expect((await project.server('issues')).binding).toBe(null);
});

it('409 · a project has at most 50 bound MCP servers', async () => {
  const project = await world.project();
  await project.put('s0', { roles: [] });
  await world.knex.raw(
    `insert into mcp_bindings select (jsonb_populate_record(b, jsonb_build_object('id', id || n, 'server_name', 's' || n))).*
      from mcp_bindings b, generate_series(1, 47) n where project_id = ?`,
    [project.id],
  );
  const answers = await Promise.all([48, 49, 50, 51].map((n) => project.put(`s${n}`, { roles: [] })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
});
