// A program without a client secret gets access to the MCP server. The official client discovers the authorization server, registers, sends
// the person there, exchanges the code and refreshes its tokens, all by itself (docs/contract.md#authorization-code-flow). The test acts as
// the person's browser over HTTP.
import { Client as NewestClient, StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/client';
import { auth, type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { hours } from '#foundation/clock.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { hiddenRequest, locationOf } from '../support/oauth-world.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let alice: Awaited<ReturnType<World['person']>>;
let acme: Awaited<ReturnType<World['found']>>;
let session: Session;
let serverUrl: URL;

beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme'));
  session = await world.session(alice, acme.id);
  serverUrl = new URL(`${world.url}/mcp`);
});
afterAll(() => world.close());

const accept = 'application/json, text/event-stream';
const redirectUrl = 'http://127.0.0.1:33418/callback';

/** A client program that stores its registration, its verifier, its tokens, and the last URL to which it sent the person. */
function program() {
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; sentTo?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Editor',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a state',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (sentTo) => void Object.assign(kept, { sentTo }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier!,
    invalidateCredentials: (what) => {
      if (what === 'tokens' || what === 'all') delete kept.tokens;
    },
  };
  const connect = async () => {
    const client = new Client({ name: 'editor', version: '1' });
    const sent: Promise<unknown>[] = [];
    const asked: typeof fetch = (...request) => {
      const response = fetch(...request);
      sent.push(response);
      return response;
    };
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider, fetch: asked }));
    // Along with its first call, the client tries to open a stream, and the service refuses the stream. The test waits for this response,
    // so that it does not arrive during a later step.
    await client.ping();
    await Promise.allSettled(sent);
    return client;
  };
  return { kept, provider, connect };
}

/** Submits the person's answer on the page that the program opened. Returns the parameters for the program. */
async function answer(sentTo: URL, fields: Record<string, string>, scopes: string[] = []): Promise<URLSearchParams> {
  const page = await world.request('GET', sentTo.pathname + sentTo.search, { session });
  expect(page.status).toBe(200);
  expect(page.body).toContain('Editor');
  const form = new URLSearchParams({
    csrf_token: session.csrf,
    request: hiddenRequest(page),
    org_id: acme.id,
    project_id: '',
    expires_in_days: '30',
    ...fields,
  });
  for (const scope of scopes) form.append('scopes', scope);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await world.request('POST', '/oauth/authorize', { session, headers, body: form.toString() });
  expect([sent.status, `${locationOf(sent).origin}${locationOf(sent).pathname}`]).toEqual([303, redirectUrl]);
  return locationOf(sent).searchParams;
}

const approve = (sentTo: URL, scopes: string[], fields: Record<string, string> = {}) =>
  answer(sentTo, { decision: 'approve', ...fields }, scopes);

/** A program that has been granted these scopes. */
async function admitted(scopes: string[], fields: Record<string, string> = {}) {
  const { kept, provider, connect } = program();
  await auth(provider, { serverUrl, scope: `${scopes.join(' ')} offline_access` });
  const authorizationCode = (await approve(kept.sentTo!, scopes, fields)).get('code')!;
  expect(await auth(provider, { serverUrl, authorizationCode })).toBe('AUTHORIZED');
  return { kept, connect };
}

const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test('an MCP client that knows only the URL of the server gets access with the scopes that the person chose', async () => {
  const { kept, provider, connect } = program();
  await expect(connect()).rejects.toThrow(UnauthorizedError);
  const asked = Object.fromEntries(kept.sentTo!.searchParams);
  expect(`${kept.sentTo!.origin}${kept.sentTo!.pathname}`).toBe(`${world.url}/oauth/authorize`);
  expect(asked).toEqual({
    response_type: 'code',
    client_id: (kept.client as { client_id: string }).client_id,
    code_challenge: expect.any(String),
    code_challenge_method: 'S256',
    redirect_uri: redirectUrl,
    state: 'a state',
    scope: catalog.map(({ scope }) => scope).join(' '),
    resource: `${world.url}/mcp`,
  });

  const back = await approve(kept.sentTo!, ['projects:read', 'projects:write']);
  expect(Object.fromEntries(back)).toEqual({ code: expect.any(String), state: 'a state', iss: world.url });
  const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider: provider });
  await transport.finishAuth(back.get('code')!);
  expect(kept.tokens).toEqual({
    access_token: expect.stringMatching(/^oat_/),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'projects:read projects:write',
    // The service does not send this field. The MCP client library adds it to the tokens.
    issuer: expect.any(String),
  });

  const client = await connect();
  expect(await names(client)).toEqual([
    'list_projects',
    'get_project',
    'get_me',
    'list_scopes',
    'create_project',
    'update_project',
    'delete_project',
    'set_project_effect_policy',
    'set_pull_request_loop',
    'set_project_team',
    'set_project_connectors',
  ]);
  const me = await client.callTool({ name: 'get_me', arguments: {} });
  expect(me.structuredContent).toMatchObject({
    principalType: 'user',
    userId: alice.id,
    orgId: acme.id,
    scopes: ['projects:read', 'projects:write'],
    projectId: null,
  });
});

const form = (path: string, parameters: Record<string, string>) =>
  world.request('POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  });

/** Sends a request with the token to REST, to MCP and to A2A, and returns the HTTP status of each response. */
async function statuses(token: string) {
  const ping = { token, body: { jsonrpc: '2.0', id: 1, method: 'ping' }, headers: { accept } };
  const [api, mcp, a2a] = await Promise.all([
    world.rest('GET', '/me', { token }),
    world.request('POST', '/mcp', ping),
    world.request('POST', '/a2a', ping),
  ]);
  return { api: api.status, mcp: mcp.status, a2a: a2a.status };
}

test('401 · an OAuth token works only for the resource that it was issued for; a personal access token works for REST, MCP and A2A', async () => {
  const made = async (resource: string | null) => {
    const { provider, kept } = program();
    await auth(provider, { serverUrl, scope: 'projects:read' });
    const { sentTo, verifier, client } = kept;
    sentTo!.searchParams.delete('resource');
    if (resource) sentTo!.searchParams.set('resource', resource);
    const { body } = await form('/v1/oauth2/token', {
      grant_type: 'authorization_code',
      code: (await approve(sentTo!, ['projects:read'])).get('code')!,
      code_verifier: verifier!,
      redirect_uri: redirectUrl,
      client_id: (client as { client_id: string }).client_id,
    });
    return body.access_token as string;
  };
  expect(await statuses(await made(`${world.url}/mcp`))).toEqual({ api: 401, mcp: 200, a2a: 401 });
  expect(await statuses(await made(`${world.url}/a2a`))).toEqual({ api: 401, mcp: 401, a2a: 200 });
  expect(await statuses(await made(null))).toEqual({ api: 200, mcp: 401, a2a: 401 });
  expect(await statuses(await world.token(alice, acme))).toEqual({ api: 200, mcp: 200, a2a: 200 });
});

test('an MCP client refreshes its token after an hour by itself, and the old refresh token can no longer be used', async () => {
  const { kept, connect } = await admitted(['projects:read']);
  const client = await connect();
  const first = { ...kept.tokens! };
  expect(first.refresh_token).toEqual(expect.any(String));
  world.clock.turn(hours(1) + 1);
  expect(await names(client)).toContain('list_projects');
  expect(kept.tokens!.access_token).not.toBe(first.access_token);
  expect(kept.tokens!.scope).toBe(first.scope);
  const again = { grant_type: 'refresh_token', refresh_token: first.refresh_token! };
  expect((await form('/v1/oauth2/token', again)).body.error).toBe('invalid_grant');
});

test('an MCP client must ask the person again when their sign-in is revoked', async () => {
  const { kept, connect } = await admitted(['projects:read']);
  const client = await connect();
  delete kept.sentTo;
  expect((await form('/v1/oauth2/revoke', { token: kept.tokens!.refresh_token! })).status).toBe(200);
  await expect(names(client)).rejects.toThrow(UnauthorizedError);
  expect(kept.sentTo).toBeInstanceOf(URL);
});

test('access that an MCP client was granted for one project is limited to that project', async () => {
  const token = await world.token(alice, acme);
  const projectId = await createProject(world, { token }, 'Alpha');
  const { connect } = await admitted(['projects:read', 'projects:write'], { project_id: projectId });
  const client = await connect();
  const me = await client.callTool({ name: 'get_me', arguments: {} });
  expect(me.structuredContent).toMatchObject({ projectId });
  const beyond = await client.callTool({ name: 'create_project', arguments: { name: 'B', repoFullName: 'acme/b' } });
  expect(beyond.structuredContent).toMatchObject({ category: 'auth', code: 'forbidden' });
});

/** The official client of the newest protocol, with its store. */
function newestProgram() {
  const { kept, provider } = program();
  const transport = () => new NewestTransport(serverUrl, { authProvider: provider as never });
  return { kept, transport, client: () => new NewestClient({ name: 'editor', version: '2' }) };
}

test('403 · when an MCP tool needs more scopes, the client asks the person for them, and then the call succeeds', async () => {
  const { kept, transport, client } = newestProgram();
  await expect(client().connect(transport())).rejects.toThrow('Unauthorized');
  // The client adds the scope by itself, because the authorization server's metadata lists it.
  expect(kept.sentTo!.searchParams.get('scope')!.split(' ')).toContain('offline_access');
  const back = await approve(kept.sentTo!, ['projects:read']);
  await transport().finishAuth(back.get('code')!, back.get('iss')!);
  expect(kept.tokens).toMatchObject({ scope: 'projects:read offline_access', refresh_token: expect.any(String) });

  const held = client();
  const first = transport();
  await held.connect(first);
  const call = (by: NewestClient) =>
    by.callTool({ name: 'create_project', arguments: { name: 'Stepped', repoFullName: 'acme/stepped' } });
  await expect(call(held)).rejects.toThrow('Unauthorized');
  expect(kept.sentTo!.searchParams.get('scope')!.split(' ').sort()).toEqual([
    'offline_access',
    'projects:read',
    'projects:write',
  ]);
  const wider = await approve(kept.sentTo!, ['projects:read', 'projects:write']);
  await first.finishAuth(wider.get('code')!, wider.get('iss')!);
  expect((await call(held)).structuredContent).toMatchObject({ name: 'Stepped' });
  await held.close();
});

test('403 · insufficient_scope names the required scopes and the metadata URL; a batch or a personal token gets the error as a tool result', async () => {
  const { kept } = await admitted(['projects:read']);
  const ask = (token: string, method: string, params: object, isBatch = false) => {
    const message = { jsonrpc: '2.0', id: 1, method, params };
    return world.request('POST', '/mcp', { token, headers: { accept }, body: isBatch ? [message] : message });
  };
  const call = { name: 'create_project', arguments: {} };
  const token = kept.tokens!.access_token;
  const refused = await ask(token, 'tools/call', call);
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="projects:read projects:write", ' +
      `resource_metadata="${world.url}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  expect(refused.body.description).toContain('missing-scope:projects:write');
  expect((await ask(token, 'resources/read', { uri: 'aep://runs/run_1' })).headers.get('www-authenticate')).toContain(
    'scope="projects:read missions:read"',
  );
  const inBatch = (await ask(token, 'tools/call', call, true)).body;
  expect(inBatch.result.isError).toBe(true);
  const own = await world.token(alice, acme, { scopes: ['projects:read'] });
  expect((await ask(own, 'tools/call', call)).body.result.isError).toBe(true);
});

test('an MCP client gets the error access_denied when the person denies access', async () => {
  const { kept, provider } = program();
  await auth(provider, { serverUrl });
  const back = await answer(kept.sentTo!, { decision: 'deny' });
  expect(Object.fromEntries(back)).toMatchObject({ error: 'access_denied', state: 'a state', iss: world.url });
});

/** An agent that registered itself, and the response to its registration. */
const register = async () => (await world.request('POST', '/v1/agent/identity', { body: { type: 'anonymous' } })).body;
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

test('401 · an unclaimed agent gets no token for the MCP server, which also refuses the agent’s token for the API', async () => {
  const { identity_assertion: assertion } = await register();
  const refused = await form('/v1/oauth2/token', { grant_type: jwtBearer, assertion, resource: `${world.url}/mcp` });
  expect([refused.status, refused.body.error]).toEqual([400, 'invalid_target']);
  const { body } = await form('/v1/oauth2/token', { grant_type: jwtBearer, assertion });
  expect(body.access_token).toMatch(/^agt_/);
  expect(await statuses(body.access_token)).toEqual({ api: 200, mcp: 401, a2a: 401 });
});

test('an agent that a person has claimed sees what they granted, until they revoke it', async () => {
  const { claim_token } = await register();
  const claim = await world.request('POST', '/v1/agent/identity/claim', {
    body: { claim_token, email: 'alice@example.com' },
  });
  const { verification_uri, user_code } = claim.body.claim_attempt;
  const lent = new URLSearchParams({
    csrf_token: session.csrf,
    claim_attempt_token: new URL(verification_uri).searchParams.get('claim_attempt_token')!,
    decision: 'approve',
    user_code,
    org_id: acme.id,
    project_id: '',
    expires_in_days: '30',
    scopes: 'projects:read',
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const said = await world.request('POST', '/claim/complete', { session, headers, body: lent.toString() });
  expect(said.status).toBe(200);

  const { body } = await form('/v1/oauth2/token', {
    grant_type: 'urn:workos:agent-auth:grant-type:claim',
    claim_token,
    resource: `${world.url}/mcp`,
  });
  const token = body.access_token;
  expect(await statuses(token)).toEqual({ api: 401, mcp: 200, a2a: 401 });
  const client = new Client({ name: 'agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(serverUrl, { requestInit }));
  expect(await names(client)).toEqual(['list_projects', 'get_project', 'get_me', 'list_scopes']);

  const { data } = (await world.rest('GET', '/agent-delegations', { session })).body;
  const [delegation] = data.filter((one: { registrationType: string }) => one.registrationType === 'anonymous');
  expect((await world.rest('DELETE', `/agent-delegations/${delegation.id}`, { session })).status).toBe(200);
  await expect(names(client)).rejects.toThrow('Unauthenticated');
});
