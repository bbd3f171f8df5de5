// The authorization server's documents and its registration endpoint over real HTTP (RFC 8414, RFC 9728, RFC 7591;
// docs/contract.md#client-registration).
import { Ajv2020 } from 'ajv/dist/2020.js';
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { rotateSigningKey, signJwt } from '#domain/identity/oauth/keys.ts';
import { oauthPaths, oauthSchemas } from '../../src/surfaces/oauth/openapi.ts';
import { claimGrantType, type OAuthWorld, openOAuthWorld } from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

let world: OAuthWorld;
beforeAll(async () => {
  world = await openOAuthWorld();
});
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
});

const scopes = catalog.map(({ scope }) => scope);
const get = (path: string) => world.request('GET', path);

describe('OAuth discovery', () => {
  it('RFC 8414 · the metadata names every endpoint, the exact issuer and what agents need', async () => {
    const { status, headers, body } = await get('/.well-known/oauth-authorization-server');
    const { url } = world;
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(body).toEqual({
      issuer: url,
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/v1/oauth2/token`,
      revocation_endpoint: `${url}/v1/oauth2/revoke`,
      registration_endpoint: `${url}/v1/oauth2/register`,
      jwks_uri: `${url}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        claimGrantType,
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: [...scopes, 'offline_access'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [url, `${url}/mcp`, `${url}/a2a`],
      service_documentation: `${url}/auth.md`,
      agent_auth: {
        skill: `${url}/auth.md`,
        identity_endpoint: `${url}/v1/agent/identity`,
        claim_endpoint: `${url}/v1/agent/identity/claim`,
        events_endpoint: `${url}/v1/agent/event/notify`,
        identity_types_supported: ['anonymous', 'identity_assertion', 'service_auth'],
        identity_assertion: {
          assertion_types_supported: ['urn:ietf:params:oauth:token-type:id-jag'],
          trusted_issuers: ['https://provider.example'],
        },
        events_supported: ['https://schemas.workos.com/events/agent/auth/identity/assertion/revoked'],
      },
    });
  });

  it('404 · there is no OpenID configuration, because the service is not an OpenID provider', async () => {
    expect((await get('/.well-known/openid-configuration')).status).toBe(404);
  });

  it.each([
    ['the API', '', '', ' API', '/reference'],
    ['the API by its base address', '/v1', '/v1', ' API', '/reference'],
    ['the MCP server', '/mcp', '/mcp', ' MCP server', '/auth.md'],
    ['the agent-to-agent endpoint', '/a2a', '/a2a', ' agent-to-agent endpoint', '/auth.md'],
  ])(
    'RFC 9728 · the metadata of %s names the resource from which its URL was built',
    async (_, at, path, name, doc) => {
      const { status, headers, body } = await get(`/.well-known/oauth-protected-resource${at}`);
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('public, max-age=300');
      expect(body).toEqual({
        resource: `${world.url}${path}`,
        resource_name: `Agent Engineering Platform${name}`,
        authorization_servers: [world.url],
        scopes_supported: scopes,
        bearer_methods_supported: ['header'],
        resource_documentation: `${world.url}${doc}`,
      });
    },
  );

  it('RFC 7517 · the key set has only public members, names keys by thumbprint, and verifies tokens of the service', async () => {
    const { issuer } = (await get('/.well-known/oauth-authorization-server')).body;
    const at = Math.floor(present() / 1_000);
    const jwt = await signJwt({ iss: issuer, aud: issuer, sub: 'reg_1', iat: at, exp: at + 60 }, { typ: 'test+jwt' });
    await rotateSigningKey();
    const { status, headers, body } = await get('/.well-known/jwks.json');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(body.keys).toHaveLength(2);
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
      expect(key.kid).toBe(await calculateJwkThumbprint(key));
    }
    const { protectedHeader } = await jwtVerify(jwt, createLocalJWKSet(body), { currentDate: new Date(present()) });
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: body.keys[1].kid, typ: 'test+jwt' });
  });

  it.each(['/auth.md', '/AUTH.md'])('GET %s describes the metadata in prose, in six ordered steps', async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    const headings = [...body.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
    expect(headings).toEqual([
      '# auth.md',
      '## Step 1 — Discover',
      '## Step 2 — Pick a method',
      '## Step 3 — Register',
      '## Step 4 — Claim ceremony',
      '## Step 5 — Exchange the assertion',
      '## Step 6 — Use the access_token',
      '## Errors',
      '## Revocation',
    ]);
    const blocks = [...body.matchAll(/```(\w*)\n([\s\S]*?)\n```/g)].map(([, kind, text]) => ({ kind, text }));
    expect(new Set(blocks.map(({ kind }) => kind))).toEqual(new Set(['json', 'http']));
    const documents = blocks.filter(({ kind }) => kind === 'json').map(({ text }) => JSON.parse(text));
    expect(documents).toContainEqual((await get('/.well-known/oauth-authorization-server')).body);
    expect(documents).toContainEqual((await get('/.well-known/oauth-protected-resource')).body);
    for (const endpoint of ['/agent/identity', '/agent/identity/claim', '/oauth2/token', '/oauth2/revoke']) {
      expect(body).toContain(`POST /v1${endpoint} HTTP/1.1`);
      expect(body).toContain(`POST ${endpoint}`);
    }
    expect(body).toContain('| Code | Where | What to do |');
    expect(body).not.toMatch(/\{\{|<your|\[YOUR|undefined|NaN|\[object/);
  });

  it('405 · OAuth documents accept only GET, endpoints only POST, and Allow says so', async () => {
    const documents = await Promise.all(
      ['/.well-known/jwks.json', '/auth.md'].map((path) => world.request('POST', path, { body: {} })),
    );
    for (const { status, headers } of documents)
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      for (const name of ['token', 'revoke', 'register']) {
        const { status, headers } = await world.request(method, `/v1/oauth2/${name}`);
        expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
        expect(headers.get('cache-control')).toBe('no-store');
      }
    }
    const head = await world.request('HEAD', '/.well-known/jwks.json');
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('RFC 9700 §2.6 · pages of any origin may call the OAuth endpoints without credentials, but not the authorization page', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    for (const name of ['token', 'revoke', 'register']) {
      const answer = await world.request('OPTIONS', `/v1/oauth2/${name}`, { headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
      expect(answer.headers.get('access-control-allow-headers')).toContain('content-type');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
    const page = await world.request('OPTIONS', '/oauth/authorize', { headers });
    expect(page.status).toBe(405);
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('RFC 9728 · 401 · the challenge links to the metadata, and names the error when the token is invalid', async () => {
    const metadata = `resource_metadata="${world.url}/.well-known/oauth-protected-resource"`;
    const none = await get('/v1/projects');
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
    const bad = await world.request('GET', '/v1/projects', { token: 'x' });
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata}`,
    ]);
    const inQuery = await get('/v1/projects?access_token=x');
    expect([inQuery.status, inQuery.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
  });
});

describe('Client registration (RFC 7591)', () => {
  const register = (body: unknown) => world.request('POST', '/v1/oauth2/register', { body });
  const good = { redirect_uris: ['http://127.0.0.1/callback'] };

  it('201 · a registered client gets its own id, times in seconds, and no secret', async () => {
    const { status, headers, body } = await register({ ...good, client_name: 'X', scope: 'a b', contacts: ['x'] });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(body).toEqual({
      client_id: expect.stringMatching(/^mcp_[0-9a-f]{32}$/),
      client_id_issued_at: Math.floor(present() / 1_000),
      client_name: 'X',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('201 · a registration keeps other metadata unchanged, and replaces unsupported values', async () => {
    const { body } = await register({
      redirect_uris: ['https://app.example/cb?x=1', 'cursor://anysphere.cursor-mcp/oauth/callback'],
      client_uri: 'https://app.example',
      logo_uri: 'https://app.example/logo.png',
      application_type: 'native',
      grant_types: ['authorization_code', 'password'],
      response_types: ['code', 'token'],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    expect(body).toEqual({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      redirect_uris: ['https://app.example/cb?x=1', 'cursor://anysphere.cursor-mcp/oauth/callback'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      client_uri: 'https://app.example',
      logo_uri: 'https://app.example/logo.png',
      application_type: 'native',
    });
  });

  it.each([
    ['missing', {}],
    ['empty', { redirect_uris: [] }],
    ['not an array', { redirect_uris: 'http://127.0.0.1/cb' }],
    ['entries that are not all text', { redirect_uris: ['http://127.0.0.1/cb', 1] }],
    ['too many', { redirect_uris: Array.from({ length: 21 }, (_, i) => `http://127.0.0.1/${i}`) }],
    ['one invalid URI among valid ones', { redirect_uris: ['http://127.0.0.1/cb', 'http://example.com/cb'] }],
    ['a URI with a fragment', { redirect_uris: ['https://example.com/cb#x'] }],
    ['a URI that is a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['a URI with a NUL', { redirect_uris: ['https://example.com/\0'] }],
  ])('400 · a registration with invalid redirect_uris is refused: %s', async (_, body) => {
    const answer = await register(body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      error: 'invalid_redirect_uri',
      error_description: expect.stringMatching(/^redirect_uris/),
    });
  });

  it.each([
    ['client_name', { client_name: 'x'.repeat(201) }],
    ['client_name', { client_name: 7 }],
    ['client_name', { client_name: 'a\0b' }],
    ['client_uri', { client_uri: 'javascript:alert(1)' }],
    ['logo_uri', { logo_uri: 'data:image/png;base64,AAAA' }],
    ['grant_types', { grant_types: ['client_credentials'] }],
    ['grant_types', { grant_types: ['refresh_token'] }],
    ['grant_types', { grant_types: [] }],
    ['grant_types', { grant_types: 'authorization_code' }],
    ['response_types', { response_types: ['token'] }],
  ])('400 · a registration is refused, and the error names the invalid %s: %j', async (field, more) => {
    const answer = await register({ ...good, ...more });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: 'invalid_client_metadata',
      error_description: expect.stringMatching(new RegExp(`^${field}`)),
    });
  });

  it('201 · a client name may have 200 characters', async () => {
    const name = 'x'.repeat(200);
    expect((await register({ ...good, client_name: name })).body.client_name).toBe(name);
  });

  it.each(['a\u202Eb', 'a\u0007c', 'a\nb', 'a\u200Bb', ' '])(
    '400 · the client name %j is refused',
    async (client_name) => {
      const answer = await register({ ...good, client_name });
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_client_metadata']);
      expect(answer.body.error_description).toMatch(/^client_name: must/);
    },
  );

  it.each([
    ['not JSON', '{', 'application/json'],
    ['a list', '[]', 'application/json'],
    ['a JSON string', '"x"', 'application/json'],
    ['empty', '', 'application/json'],
    ['too large', JSON.stringify({ client_name: 'x'.repeat(70_000) }), 'application/json'],
    ['a form', 'redirect_uris=http://127.0.0.1/cb', 'application/x-www-form-urlencoded'],
  ])('4xx · a registration is refused when its body is %s', async (_, body, type) => {
    const answer = await world.request('POST', '/v1/oauth2/register', { body, headers: { 'content-type': type } });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.body).toMatchObject({
      error: expect.stringMatching(/^invalid_/),
      error_description: expect.any(String),
    });
  });
});

describe('Grants of agents at the token endpoint', () => {
  const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  it.each([
    ['the published claim grant and an unknown claim token', claimGrantType, { claim_token: 'clm_x' }, 'invalid_grant'],
    [
      'another vendor’s claim grant and an unknown claim token',
      'urn:acme:agent-auth:grant-type:claim',
      { claim_token: 'clm_x' },
      'invalid_grant',
    ],
    ['the claim grant and no claim token', 'urn:acme:agent-auth:grant-type:claim', {}, 'invalid_request'],
    [
      'the claim grant and a claim token that is too long',
      claimGrantType,
      { claim_token: 'x'.repeat(201) },
      'invalid_request',
    ],
    [
      'a grant type similar to the claim grant',
      'urn:acme:agent-auth:grant-type:claims',
      { claim_token: 'clm_x' },
      'unsupported_grant_type',
    ],
    ['the grant jwt-bearer and an invalid assertion', jwtBearer, { assertion: 'x' }, 'invalid_grant'],
    ['the grant jwt-bearer and no assertion', jwtBearer, {}, 'invalid_request'],
    [
      'the grant jwt-bearer and an assertion that is too long',
      jwtBearer,
      { assertion: 'x'.repeat(16_385) },
      'invalid_request',
    ],
  ])('400 · a token request with %s is refused', async (_, grant_type, more, error) => {
    const { status, body } = await world.token({ grant_type, ...more });
    expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
  });
});

describe('OAuth in the OpenAPI document', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: 'openapi', components: { schemas: oauthSchemas }, paths: oauthPaths }, 'openapi');
  const errorsOf = (pointer: string, value: unknown): string => {
    const validate = ajv.compile({ $ref: `openapi#${pointer}` });
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };

  it.each([
    ['/oauth2/register', 'application/json', { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'X' }, 201],
    ['/oauth2/register', 'application/json', { redirect_uris: ['http://example.com/cb'] }, 400],
    ['/oauth2/token', 'application/json', { grant_type: 'password' }, 400],
    ['/oauth2/token', 'application/json', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x' }, 401],
    ['/oauth2/revoke', 'application/json', { token: 'x' }, 200],
  ])('POST %s as %s: %j is answered as the document says, with %i', async (path, type, body, expected) => {
    const at = `/paths/${path.replaceAll('/', '~1')}/post`;
    expect(errorsOf(`${at}/requestBody/content/${type.replace('/', '~1')}/schema`, body)).toBe('');
    const answer = await world.request('POST', `/v1${path}`, { body });
    expect(answer.status).toBe(expected);
    if (answer.body !== '') {
      expect(errorsOf(`${at}/responses/${expected}/content/application~1json/schema`, answer.body)).toBe('');
    }
  });
});

describe('Rate of client registrations', () => {
  it('429 · registrations beyond the hourly limit of a network are refused with Retry-After, and write nothing', async () => {
    const flooded = await openOAuthWorld({ registrationsPerHour: 3 });
    for (let i = 0; i < 3; i++) await flooded.register();
    const answer = await flooded.request('POST', '/v1/oauth2/register', {
      body: { redirect_uris: ['http://127.0.0.1/cb'] },
    });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.body).toEqual({
      error: 'rate_limited',
      error_description: expect.any(String),
      category: 'rate_limit',
      title: 'Too many requests',
      description: expect.any(String),
      retryable: true,
      code: 'rate_limited',
    });
    expect(await flooded.knex('oauthClients').count().first()).toEqual({ count: 3 });
    await flooded.close();
  });
});
