// Connecting an MCP server that requires OAuth. The tests use a third-party server, and a server that misbehaves on demand. A state can be used once,
// before it expires, and only by the person who started the connection. Tokens are stored sealed, refreshed when they are due, and sent to no other
// server.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { minutes, seconds } from '#foundation/clock.ts';
import { addresses, bindAddresses } from '#foundation/http/addresses.ts';
import { createMember } from '../../support/callers.ts';
import { openRemoteMcp, type RemoteMcp, tool } from '../../support/fake-mcp-server.ts';
import { openGuarded, type Peer } from '../../support/mcp-reference-servers.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../../support/mcp-world.ts';

let world: McpWorld;
let remote: RemoteMcp;
let guarded: Peer;
beforeAll(async () => {
  [world, remote, guarded] = await Promise.all([openMcpWorld(), openRemoteMcp(), openGuarded()]);
});
afterAll(() => Promise.all([world.close(), remote.close(), guarded.close()]));
beforeEach(() => {
  const disturb = () => false;
  Object.assign(remote.settings, { token: 'none yet', tokenError: null, metadata: {}, expiresIn: 3_600, disturb });
  remote.settings.tools = [tool('search')];
  remote.asked.length = 0;
});

async function bound(url: string, body: object = {}): Promise<McpProject> {
  const project = await world.project();
  await project.declare({ issues: { url } });
  await project.put('issues', { roles: ['builder'], ...body });
  return project;
}
const start = (project: McpProject, body: object = {}) => project.ask('POST', '/servers/issues/oauth/start', body);
const complete = (project: McpProject, body: object, session = project.session) =>
  world.rest('POST', '/mcp/oauth/complete', { session, body });

/** Parameters of the authorization request. */
async function left(project: McpProject): Promise<Record<string, string>> {
  const { status, body } = await start(project);
  expect(status).toBe(200);
  return Object.fromEntries(new URL(body.authorizeUrl).searchParams);
}

describe('connecting an MCP server with OAuth', () => {
  it('an MCP server that needs OAuth is connected through the console, and then its tools are read', async () => {
    const project = await bound(guarded.url);
    expect((await project.refresh('issues')).body).toMatchObject({ status: 'needs_auth', authKind: 'oauth' });
    const { body } = await start(project, { returnTo: `/console/projects/${project.id}` });
    const asked = new URL(body.authorizeUrl).searchParams;
    expect([asked.get('code_challenge_method'), asked.get('resource')]).toEqual(['S256', guarded.url]);
    // Like the person's browser, visits the authorization server, which approves the access and redirects to the console.
    const back = await fetch(body.authorizeUrl, { redirect: 'manual' });
    const callback = new URL(back.headers.get('location')!);
    expect(callback.origin + callback.pathname).toBe(`${world.url}/console/mcp/callback`);
    const page = await world.request('GET', callback.pathname + callback.search, { session: project.session });
    expect([page.status, page.headers.get('location')]).toEqual([303, `/console/projects/${project.id}`]);
    const refreshed = (await project.refresh('issues')).body;
    expect(refreshed).toMatchObject({ status: 'needs_review', authKind: 'oauth' });
    expect(refreshed.toolSnapshot.map(({ name }: { name: string }) => name)).toContain('greet');
    const again = await world.request('GET', callback.pathname + callback.search, { session: project.session });
    expect(again.status).toBe(404);
  });
});

describe('the client metadata document of the service', () => {
  it('200 · the client metadata document identifies this service, and its URL is the client id', async () => {
    const { status, body, headers } = await world.request('GET', '/console/mcp/client.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({
      client_id: `${world.url}/console/mcp/client.json`,
      redirect_uris: [`${world.url}/console/mcp/callback`],
      token_endpoint_auth_method: 'none',
    });
  });

  it('the client metadata document replaces registration if the authorization server supports it and the service uses https', async () => {
    remote.settings.metadata = { client_id_metadata_document_supported: true, registration_endpoint: undefined };
    const project = await bound(remote.url);
    expect((await start(project)).body.description).toContain('does not support client registration');
    const own = { ...addresses() };
    bindAddresses({ ...own, issuer: 'https://console.example' });
    try {
      // At an https URL the session cookie has another name.
      const token = await world.token(project.owner, project.organization);
      const route = `/mcp/projects/${project.id}/servers/issues/oauth/start`;
      const { body } = await world.rest('POST', route, { token, body: {} });
      const asked = Object.fromEntries(new URL(body.authorizeUrl).searchParams);
      expect([asked.client_id, asked.redirect_uri]).toEqual([
        'https://console.example/console/mcp/client.json',
        'https://console.example/console/mcp/callback',
      ]);
    } finally {
      bindAddresses(own);
    }
    expect(remote.asked.some(({ path }) => path === '/register')).toBe(false);
  });
});

describe('starting an OAuth authorization for an MCP server', () => {
  it('200 · the authorization URL has client, PKCE, resource and state; the database does not contain the state', async () => {
    const project = await bound(remote.url);
    const { body } = await start(project);
    const { origin, searchParams } = new URL(body.authorizeUrl);
    expect(origin).toBe(remote.origin);
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: expect.stringMatching(/^client-/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      redirect_uri: `${world.url}/console/mcp/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'tools',
      resource: remote.url,
    });
    const [row] = await world.knex('mcp_authorizations').orderBy('expiresAt', 'desc');
    expect(body.expiresAt).toBe(row.expiresAt);
    expect(JSON.stringify(row)).not.toContain(searchParams.get('state'));
    const registered = remote.asked.find(({ path }) => path === '/register')!.body;
    expect([registered.redirect_uris, registered.token_endpoint_auth_method]).toEqual([
      [`${world.url}/console/mcp/callback`],
      'none',
    ]);
  });

  it.each([
    ['https://evil.example/'],
    ['//evil.example'],
    ['/sign-out'],
    ['/console/../sign-out'],
    ['/console\\evil'],
    ['/consolevil'],
    ['console'],
    [''],
  ])(
    '400 · an OAuth authorization is not started with the returnTo %j, which is not a path of the console',
    async (returnTo) => {
      const project = await bound(remote.url);
      const { status, body } = await start(project, { returnTo });
      expect([status, body.description]).toEqual([400, expect.stringContaining('returnTo')]);
      expect(remote.asked).toEqual([]);
    },
  );

  it.each([
    ['no PKCE', { code_challenge_methods_supported: ['plain'] }, 409, 'PKCE'],
    ['no registration', { registration_endpoint: undefined }, 409, 'client registration'],
    ['another issuer', { issuer: 'https://evil.example' }, 409, 'different issuer'],
    [
      'a host that is not allowed',
      { registration_endpoint: 'https://evil.example/register' },
      409,
      'allowedEgressHosts',
    ],
    ['a javascript: URL', { authorization_endpoint: 'javascript:alert(1)' }, 502, 'returned an invalid response'],
  ])(
    'an OAuth authorization is not started when the authorization server has %s',
    async (_, metadata, status, words) => {
      const project = await bound(remote.url);
      remote.settings.metadata = metadata;
      const answer = await start(project);
      expect([answer.status, answer.body.description]).toEqual([status, expect.stringContaining(words)]);
    },
  );

  it('409, 502, 404 · an OAuth authorization is not started for another resource, or for a server that is unavailable or not bound', async () => {
    const project = await bound(remote.url);
    remote.settings.disturb = ({ path }, res) => {
      if (!path.startsWith('/.well-known/oauth-protected')) return false;
      remote.json(res, 200, { resource: 'https://other.example/', authorization_servers: [remote.origin] });
      return true;
    };
    expect((await start(project)).body.description).toContain('a different resource');
    expect((await start(await bound('http://127.0.0.1:9/mcp'))).status).toBe(502);
    expect((await start(await world.project())).status).toBe(404);
  });
});

describe('finishing an OAuth authorization for an MCP server', () => {
  it('200 · the OAuth callback exchanges the code once, sends the verifier and the resource with it, and stores the tokens sealed', async () => {
    const project = await bound(remote.url);
    const { state, client_id, resource } = await left(project);
    const done = await complete(project, { code: 'c0de', state, iss: remote.origin });
    expect([done.status, done.body]).toEqual([
      200,
      {
        projectId: project.id,
        serverName: 'issues',
        returnTo: expect.stringMatching(`^/console/o/acme-\\d+/projects/${project.id}$`),
      },
    ]);
    expect(remote.asked.at(-1)!.body).toEqual({
      grant_type: 'authorization_code',
      code: 'c0de',
      code_verifier: expect.stringMatching(/^[\w.~-]{43,128}$/),
      redirect_uri: `${world.url}/console/mcp/callback`,
      client_id,
      resource,
    });
    const rows = JSON.stringify([await world.knex('mcp_grants'), await world.knex('mcp_bindings')]);
    expect(rows).not.toContain(remote.settings.token);
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
    const replayed = await complete(project, { code: 'c0de', state });
    expect([replayed.status, replayed.body.code]).toEqual([404, 'not_found']);
  });

  it('404 · the OAuth callback refuses an expired or made-up state, and a state of another person or organization, and sends nothing', async () => {
    const project = await bound(remote.url);
    const { state } = await left(project);
    const { person: colleague } = await createMember(world, project.organization, 'Colleague', 'owner');
    const strangers = [await world.session(colleague, project.organization.id), (await world.project()).session];
    remote.asked.length = 0;
    for (const session of strangers) expect((await complete(project, { code: 'c', state }, session)).status).toBe(404);
    expect((await complete(project, { code: 'c', state: `${state}x` })).status).toBe(404);
    world.clock.turn(minutes(10));
    expect((await complete(project, { code: 'c', state })).status).toBe(404);
    expect(remote.asked).toEqual([]);
  });

  it('400 · the OAuth callback refuses a wrong issuer, and a missing issuer if the metadata announces one; the state is then used up', async () => {
    const project = await bound(remote.url);
    const first = await left(project);
    remote.asked.length = 0;
    const wrong = await complete(project, { code: 'c', state: first.state, iss: 'https://evil.example' });
    expect([wrong.status, wrong.body.description]).toEqual([400, expect.stringContaining('iss: ')]);
    expect((await complete(project, { code: 'c', state: first.state, iss: remote.origin })).status).toBe(404);
    remote.settings.metadata = { authorization_response_iss_parameter_supported: true };
    const second = await left(project);
    remote.asked.length = 0;
    expect((await complete(project, { code: 'c', state: second.state })).status).toBe(400);
    expect(remote.asked).toEqual([]);
  });

  it('400, 502 · the OAuth callback fails for a rejected code and for an invalid token response; the binding is unchanged', async () => {
    const project = await bound(remote.url);
    const answers: [object, number][] = [
      [{ status: 400, body: { error: 'invalid_grant', error_description: 'words of a stranger' } }, 400],
      [{ status: 500, body: 'oops' }, 502],
      [{ status: 200, body: { access_token: 5 } }, 502],
    ];
    for (const [tokenError, status] of answers) {
      Object.assign(remote.settings, { tokenError });
      const { state } = await left(project);
      const answer = await complete(project, { code: 'c', state });
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.not.stringContaining('stranger')]);
    }
    expect((await project.server('issues')).binding.authKind).toBe('none');
  });

  it('409 · the OAuth callback is refused when the server has been bound to another URL in the meantime', async () => {
    const project = await bound(remote.url);
    const { state } = await left(project);
    await project.declare({ issues: { url: 'http://127.0.0.1:9/mcp' } });
    await project.put('issues', { roles: ['builder'] });
    remote.asked.length = 0;
    expect((await complete(project, { code: 'c', state })).status).toBe(409);
    expect(remote.asked).toEqual([]);
  });

  it('400 · the OAuth callback page does not show the error text of the authorization server', async () => {
    const project = await bound(remote.url);
    const search = '?error=access_denied&error_description=Call+this+number';
    const page = await world.request('GET', `/console/mcp/callback${search}`, { session: project.session });
    expect([page.status, page.body]).toEqual([400, expect.not.stringContaining('Call this number')]);
    const visitor = await world.request('GET', '/console/mcp/callback?code=c&state=s');
    expect([visitor.status, visitor.headers.get('location')]).toEqual([303, expect.stringContaining('/sign-in')]);
  });
});

describe('OAuth tokens for MCP servers', () => {
  async function connected(): Promise<McpProject> {
    const project = await bound(remote.url);
    const { state } = await left(project);
    expect((await complete(project, { code: 'c', state })).status).toBe(200);
    return project;
  }
  const refreshes = () => remote.asked.filter(({ body }) => body?.grant_type === 'refresh_token');

  it('an OAuth token that is due is refreshed once for concurrent requests', async () => {
    const project = await connected();
    world.clock.turn(seconds(3_600));
    const answers = await Promise.all(Array.from({ length: 5 }, () => project.refresh('issues')));
    expect(answers.map(({ body }) => body.status)).toEqual(Array(5).fill('needs_review'));
    expect(refreshes()).toHaveLength(1);
    expect(refreshes()[0]!.body).toMatchObject({ resource: remote.url, refresh_token: expect.stringMatching(/^rt-/) });
  });

  it('an MCP server needs authorization again when its refresh token is rejected; a new authorization restores it', async () => {
    const project = await connected();
    world.clock.turn(seconds(3_600));
    remote.settings.tokenError = { status: 400, body: { error: 'invalid_grant' } };
    remote.asked.length = 0;
    const { body } = await project.refresh('issues');
    expect([body.status, body.statusDetail]).toEqual(['needs_auth', expect.stringContaining('Connect it with OAuth')]);
    // The service has no valid token, so it sends no request to the MCP server. It has asked only the authorization server.
    expect(remote.methods()).toEqual([]);
    remote.settings.tokenError = null;
    const { state } = await left(project);
    await complete(project, { code: 'c', state });
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
  });

  it('an OAuth token that the server rejects before it expires is refreshed once, and the request succeeds', async () => {
    const project = await connected();
    remote.settings.token = 'revoked early';
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
    expect(refreshes()).toHaveLength(1);
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
    expect(refreshes()).toHaveLength(1);
  });

  it('an OAuth token that the server rejects even after a refresh is not refreshed again', async () => {
    const project = await connected();
    const disturb = ({ path }: { path: string }, res: ServerResponse) => {
      if (path === '/token' || path.includes('well-known')) return false;
      remote.json(res, 401, { error: 'invalid_token' });
      return true;
    };
    Object.assign(remote.settings, { disturb });
    const { body } = await project.refresh('issues');
    expect([body.status, body.authKind]).toEqual(['needs_auth', 'oauth']);
    expect(refreshes()).toHaveLength(1);
  });

  it('an OAuth token is kept while the authorization server is unavailable', async () => {
    const project = await connected();
    world.clock.turn(seconds(3_600));
    remote.settings.tokenError = { status: 503, body: { error: 'temporarily_unavailable' } };
    expect((await project.refresh('issues')).body.status).toBe('error');
    remote.settings.tokenError = null;
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
  });

  it('an OAuth token stays usable while one process refreshes it, because its row is not locked', async () => {
    const project = await connected();
    world.clock.turn(seconds(3_600 - 30));
    const hanging: ServerResponse[] = [];
    remote.settings.disturb = ({ path }, res) => path === '/token' && hanging.push(res) > 0;
    const first = project.refresh('issues');
    await expect.poll(() => hanging.length).toBe(1);
    // The process that refreshes the token holds no lock on its row, so this update of the row does not wait. The next request uses the old token,
    // which is valid for thirty more seconds.
    await world.knex('mcp_grants').update({ updatedAt: 1 }).timeout(5_000);
    expect((await project.refresh('issues')).body.status).toBe('needs_review');
    expect(hanging.length).toBe(1);
    remote.settings.token = 'at-new';
    const tokens = { access_token: 'at-new', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'rt-new' };
    remote.json(hanging[0]!, 200, tokens);
    expect((await first).body.status).toBe('needs_review');
  });

  it('an expired OAuth token is refreshed once for concurrent requests', async () => {
    const project = await connected();
    world.clock.turn(seconds(3_601));
    remote.asked.length = 0;
    const all = await Promise.all([1, 2, 3].map(() => project.refresh('issues')));
    expect(all.map(({ body }) => body.status)).toEqual(['needs_review', 'needs_review', 'needs_review']);
    expect(remote.asked.filter(({ path }) => path === '/token').length).toBe(1);
  });

  it('an OAuth token is deleted when the URL of its server changes', async () => {
    const project = await connected();
    await project.declare({ issues: { url: `${remote.origin}/other` } });
    await project.put('issues', { roles: ['builder'] });
    const [{ id }] = await world.knex('mcp_bindings').where({ projectId: project.id });
    expect(await world.knex('mcp_grants').where({ bindingId: id })).toEqual([]);
  });
});
