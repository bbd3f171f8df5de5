// The authorization code flow over real HTTP: from the page to tokens, the exchange, and what the tokens give access to (RFC 6749 §4.1, RFC 7636,
// RFC 8707, RFC 9207; docs/contract.md#authorization-code-flow).
import { afterAll, describe, expect, it } from 'vitest';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import { defaultScopes } from '#domain/identity/oauth/authorization-request.ts';
import { days, hours, seconds } from '#foundation/clock.ts';
import {
  authorizationRequest,
  hiddenRequest,
  locationOf,
  oauthError,
  openOAuthWorld,
  pkce,
  redirectUri,
} from '../support/oauth-world.ts';

const world = await openOAuthWorld();
const ada = await world.visitor('ada');
const client = await world.register();
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
});

describe('The authorization code flow', () => {
  it('RFC 6749 §4.1, RFC 9207 · the redirect is a 303 with code, state and iss; the code is exchanged for tokens that open the API', async () => {
    const { verifier, parameters } = authorizationRequest(client);
    const answer = await world.authorize(ada, parameters, { scopes: ['missions:read'] });
    expect(answer.status).toBe(303);
    const location = locationOf(answer);
    expect(location.origin + location.pathname).toBe(redirectUri);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      code: expect.stringMatching(/^oac_[\w-]{43}$/),
      state: 'a state',
      iss: world.url,
    });
    const { status, headers, body } = await world.exchange(client, location.searchParams.get('code')!, verifier);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^oat_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      // The scopes that the person chose, fewer than requested.
      scope: 'missions:read offline_access',
      refresh_token: expect.stringMatching(/^ort_[\w-]{43}$/),
    });
    expect(await world.opens(body.access_token, 'api')).toBe(true);
  });

  it('a sign-in without offline_access has no refresh token, and ends with its access token', async () => {
    world.clock.turn(1);
    const { verifier, parameters } = authorizationRequest(client, { scope: 'missions:read' });
    const { body } = await world.exchange(client, await world.code(ada, parameters), verifier);
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'missions:read',
    });
    const [signIn] = await world.knex('signIns').orderBy('createdAt', 'desc').limit(1);
    expect(signIn.expiresAt - signIn.createdAt).toBe(hours(1));
  });

  it('an access token is valid for exactly 3600 seconds, however long the exchange takes', async () => {
    const { verifier, parameters } = authorizationRequest(client, { scope: 'missions:read' });
    const code = await world.code(ada, parameters);
    world.clock.tick(1);
    const { body } = await world.exchange(client, code, verifier);
    world.clock.tick(0);
    expect(body.expires_in).toBe(3600);
  });

  it('an authorization request requires sign-in first, and returns to the same request afterwards', async () => {
    const { parameters } = authorizationRequest(client);
    const answer = await world.openPage(parameters);
    expect(answer.status).toBe(303);
    const signIn = new URL(answer.headers.get('location')!, world.url);
    expect(signIn.pathname).toBe('/sign-in');
    const back = await world.request('GET', signIn.searchParams.get('return_to')!, { session: ada.session });
    expect(back.status).toBe(200);
    expect(Object.fromEntries(new URLSearchParams(hiddenRequest(back)))).toEqual(parameters);
  });

  it('the token endpoint accepts a JSON body as well', async () => {
    const { verifier, parameters } = authorizationRequest(client);
    const code = await world.code(ada, parameters);
    const body = {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      client_id: client,
      redirect_uri: '',
    };
    expect((await world.request('POST', '/v1/oauth2/token', { body })).status).toBe(200);
  });

  it('a client that names no scopes is offered the default ones; unknown scopes of a request are left out', async () => {
    const offered = async (scope: string | undefined) => {
      const page = await world.openPage(authorizationRequest(client, { scope }).parameters, ada.session);
      return [...page.body.matchAll(/name="scopes" value="([^"]+)"/g)].map(([, value]) => value).sort();
    };
    expect(await offered(undefined)).toEqual([...defaultScopes].sort());
    expect(await offered('offline_access')).toEqual([...defaultScopes].sort());
    expect(await offered('missions:read made:up openid')).toEqual(['missions:read']);
  });

  it('a redirect keeps the query of its registered URI, and can open an application by its own URI scheme', async () => {
    const own = await world.register(['https://app.example/cb?x=1&y=2', 'com.example.app:/cb']);
    const web = authorizationRequest(own, { redirect_uri: 'https://app.example/cb?x=1&y=2' });
    const location = (await world.authorize(ada, web.parameters)).headers.get('location')!;
    expect(location).toMatch(/^https:\/\/app\.example\/cb\?x=1&y=2&code=oac_[\w-]+&state=a\+state&iss=/);
    const app = authorizationRequest(own, { redirect_uri: 'com.example.app:/cb', state: undefined });
    const page = await world.openPage(app.parameters, ada.session);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' com.example.app:;");
    const answer = await world.decide(ada, page);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^com\.example\.app:\/cb\?code=oac_[\w-]+&iss=/);
    expect(answer.body).toContain('<a href="com.example.app:/cb?code=');
  });
});

describe('Exchange of an authorization code (RFC 6749 §5.2, RFC 7636 §4.6)', () => {
  const coded = async (more: Record<string, string | undefined> = {}) => {
    const { verifier, parameters } = authorizationRequest(client, more);
    return { verifier, code: await world.code(ada, parameters) };
  };

  it.each([
    ['invalid_grant', 400, 'another verifier', { code_verifier: pkce().verifier }],
    ['invalid_grant', 400, 'a short verifier', { code_verifier: 'x'.repeat(42) }],
    ['invalid_grant', 400, 'a long verifier', { code_verifier: 'x'.repeat(129) }],
    ['invalid_grant', 400, 'a verifier of other characters', { code_verifier: '!'.repeat(43) }],
    ['invalid_grant', 400, 'another redirect URI', { redirect_uri: 'http://127.0.0.1/other' }],
    ['invalid_grant', 400, 'another port', { redirect_uri: 'http://127.0.0.1:1/callback' }],
  ])('%s %i · an exchange with %s is refused, and the code is used up', async (error, status, _, more) => {
    const { verifier, code } = await coded();
    const answer = await world.exchange(client, code, verifier, more);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual(oauthError(error));
    expect((await world.exchange(client, code, verifier)).body).toEqual(oauthError('invalid_grant'));
  });

  it('invalid_target · an exchange for a resource that the person did not approve is refused, and the code is used up', async () => {
    const { verifier, code } = await coded();
    const answer = await world.exchange(client, code, verifier, { resource: `${world.url}/mcp` });
    expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_target')]);
    expect((await world.exchange(client, code, verifier)).body).toEqual(oauthError('invalid_grant'));
  });

  it('invalid_grant · a client cannot exchange another client’s code', async () => {
    const { verifier, code } = await coded();
    const other = await world.register();
    expect((await world.exchange(client, code, verifier, { client_id: other })).body).toEqual(
      oauthError('invalid_grant'),
    );
  });

  it.each([
    ['invalid_request', 400, 'no verifier', { code_verifier: undefined }],
    ['invalid_request', 400, 'an empty verifier', { code_verifier: '' }],
    ['invalid_request', 400, 'no code', { code: undefined }],
    ['invalid_request', 400, 'no client', { client_id: undefined }],
    ['invalid_client', 401, 'an unknown client', { client_id: 'mcp_unknown' }],
    [
      'invalid_client',
      401,
      'a client document that was never fetched',
      { client_id: 'https://never.example/client.json' },
    ],
    ['invalid_target', 400, 'an unknown resource', { resource: 'https://other.example' }],
    ['invalid_target', 400, 'a resource with a fragment', { resource: 'https://other.example/#a' }],
    ['invalid_request', 400, 'a NUL', { client_id: 'mcp_\0' }],
    ['invalid_request', 400, 'no grant type', { grant_type: undefined }],
    ['invalid_request', 400, 'an empty grant type', { grant_type: '' }],
    ['unsupported_grant_type', 400, 'grant type password', { grant_type: 'password' }],
    [
      'unsupported_grant_type',
      400,
      'a grant type that is a property of each JavaScript object',
      { grant_type: 'constructor' },
    ],
  ])('%s %i · an exchange with %s is refused; the code stays valid', async (error, status, _, more) => {
    const { verifier, code } = await coded();
    const answer = await world.exchange(client, code, verifier, more as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual(oauthError(error));
    expect((await world.exchange(client, code, verifier)).status).toBe(200);
  });

  it('400 · a token request that repeats a parameter is refused, unless the parameter is `resource` and its values are equivalent', async () => {
    const { verifier, code } = await coded();
    const whole: [string, string][] = [
      ['grant_type', 'authorization_code'],
      ['code', code],
      ['code_verifier', verifier],
      ['client_id', client],
    ];
    for (const name of ['grant_type', 'code', 'client_id', 'made_up']) {
      const twice = await world.token([...whole, ['made_up', 'x'], [name, 'x']]);
      expect([twice.status, twice.body]).toEqual([400, oauthError('invalid_request')]);
    }
    const both = await world.token([...whole, ['resource', world.url], ['resource', `${world.url}/mcp`]]);
    expect([both.status, both.body]).toEqual([400, oauthError('invalid_target')]);
    const same = await world.token([...whole, ['resource', world.url], ['resource', `${world.url}/v1/`]]);
    expect(same.status).toBe(200);
  });

  it.each([
    ['not JSON', '{', 'application/json'],
    ['a JSON list', '[]', 'application/json'],
    ['a JSON object with a number as a parameter', '{"grant_type":7}', 'application/json'],
    ['plain text', 'grant_type=refresh_token', 'text/plain'],
    ['empty', '', 'application/x-www-form-urlencoded'],
    ['not UTF-8', new Uint8Array([0x61, 0x3d, 0xff]), 'application/x-www-form-urlencoded'],
  ])('400 invalid_request · the token endpoint refuses a body that is %s', async (_, body, type) => {
    const answer = await world.request('POST', '/v1/oauth2/token', { body, headers: { 'content-type': type } });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: 'invalid_request', error_description: expect.any(String) },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('413 · the token endpoint refuses a body of more than 64 KiB', async () => {
    const answer = await world.token({ grant_type: 'x'.repeat(70_000) });
    expect([answer.status, answer.body.error]).toEqual([413, 'invalid_request']);
  });

  it('401 invalid_client · the challenge links to the resource metadata, and names the scheme that the client tried, if any', async () => {
    const metadata = `resource_metadata="${world.url}/.well-known/oauth-protected-resource"`;
    const unknown = await world.exchange(client, 'x', 'x', { client_id: 'mcp_unknown' });
    expect(unknown.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_client", error_description="[^"]+", /,
    );
    expect(unknown.headers.get('www-authenticate')).toContain(metadata);
    const answer = await world.request('POST', '/v1/oauth2/token', {
      headers: { authorization: 'Basic eDp5', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=authorization_code&code=x&code_verifier=x&client_id=x',
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="oauth", Bearer error="invalid_client", /);
    expect(answer.headers.get('www-authenticate')).toContain(metadata);
  });

  it('an authorization code is valid for a minute: after 59 s it gives tokens, after 61 s invalid_grant', async () => {
    const early = await coded();
    world.clock.turn(seconds(59));
    expect((await world.exchange(client, early.code, early.verifier)).status).toBe(200);
    const late = await coded();
    world.clock.turn(seconds(61));
    expect((await world.exchange(client, late.code, late.verifier)).body).toEqual(oauthError('invalid_grant'));
  });

  it('RFC 6749 §4.1.2 · a repeated code is refused, and the tokens issued for it are revoked', async () => {
    const { verifier, code } = await coded();
    const { body } = await world.exchange(client, code, verifier);
    expect(await world.opens(body.access_token, 'api')).toBe(true);
    // A wrong verifier also uses up the code, because the sender may have stolen it.
    expect((await world.exchange(client, code, pkce().verifier)).body).toEqual(oauthError('invalid_grant'));
    expect(await world.opens(body.access_token, 'api')).toBe(false);
    const refreshed = await world.token({ grant_type: 'refresh_token', refresh_token: body.refresh_token });
    expect(refreshed.body).toEqual(oauthError('invalid_grant'));
  });

  it('only one of several concurrent exchanges of a code gets tokens, and they are revoked because the code was used again', async () => {
    for (let round = 0; round < 10; round++) {
      const { verifier, code } = await coded();
      const answers = await Promise.all(Array.from({ length: 4 }, () => world.exchange(client, code, verifier)));
      const won = answers.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      for (const { body } of answers.filter(({ status }) => status !== 200))
        expect(body).toEqual(oauthError('invalid_grant'));
      expect(await world.opens(won[0]!.body.access_token, 'api')).toBe(false);
    }
  });

  it('invalid_grant · a code is refused when the person has left the organization since approving', async () => {
    const visit = await world.visitor('leaver', 'member');
    const { verifier, parameters } = authorizationRequest(client);
    const code = await world.code(visit, parameters);
    await world.knex('memberships').where({ userId: visit.person.id }).delete();
    expect((await world.exchange(client, code, verifier)).body).toEqual(oauthError('invalid_grant'));
  });
});

describe('Authority of an access token (RFC 8707; docs/contract.md#authority)', () => {
  const open = { api: '', mcp: '/mcp', a2a: '/a2a' } as const;
  it.each(['api', 'mcp', 'a2a'] as const)('a token for the resource %s opens no other resource', async (resource) => {
    const { verifier, parameters } = authorizationRequest(client, { resource: `${world.url}${open[resource]}` });
    const { body } = await world.exchange(client, await world.code(ada, parameters), verifier, {
      resource: parameters.resource,
    });
    for (const other of ['api', 'mcp', 'a2a'] as const) {
      expect(await world.opens(body.access_token, other)).toBe(other === resource);
    }
    const { status, headers } = await world.request('GET', '/v1/me', { token: body.access_token });
    expect(status).toBe(resource === 'api' ? 200 : 401);
    if (resource !== 'api') expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it.each([
    ['the base address of the API', '/v1', 'api'],
    ['a trailing slash', '/', 'api'],
    ['a trailing slash', '/mcp/', 'mcp'],
  ] as const)('a resource parameter with %s (%s) is accepted as %s', async (_, path, resource) => {
    const { verifier, parameters } = authorizationRequest(client, {
      resource: `${world.url.replace('http', 'HTTP')}${path}`,
    });
    const { body } = await world.exchange(client, await world.code(ada, parameters), verifier);
    expect(await world.opens(body.access_token, resource)).toBe(true);
  });

  it('losing a role ends the scopes of a token at once; losing the membership ends all access', async () => {
    const visit = await world.visitor('demoted', 'admin');
    const { verifier, parameters } = authorizationRequest(client, { scope: 'projects:write missions:read' });
    const { body } = await world.exchange(client, await world.code(visit, parameters), verifier);
    const held = async () => [...((await callerOfOAuthToken(body.access_token, 'api'))?.scopes ?? [])].sort();
    expect(body.scope.split(' ').sort()).toEqual(['missions:read', 'projects:write']);
    expect(await held()).toEqual(['missions:read', 'projects:write']);
    await world.knex('memberships').where({ userId: visit.person.id }).update({ role: 'viewer' });
    expect(await held()).toEqual(['missions:read']);
    const refused = await world.rest('DELETE', '/projects/prj_x', { token: body.access_token });
    expect([refused.status, refused.body.description]).toEqual([
      403,
      expect.stringContaining('missing-scope:projects:write'),
    ]);
    await world.knex('memberships').where({ userId: visit.person.id }).delete();
    expect(await callerOfOAuthToken(body.access_token, 'api')).toBeNull();
  });

  it('an access token expires after an hour, or earlier when the access that the person granted ends', async () => {
    const { verifier, parameters } = authorizationRequest(client);
    const { body } = await world.exchange(client, await world.code(ada, parameters, { days: 1 }), verifier);
    world.clock.turn(hours(1) - 1);
    expect(await world.opens(body.access_token, 'api')).toBe(true);
    world.clock.turn(1);
    expect(await world.opens(body.access_token, 'api')).toBe(false);
    world.clock.turn(days(1) - hours(1) - seconds(90));
    const last = await world.token({ grant_type: 'refresh_token', refresh_token: body.refresh_token });
    expect([last.status, last.body.expires_in]).toEqual([200, 90]);
    world.clock.turn(seconds(90));
    const refresh_token = last.body.refresh_token;
    expect((await world.token({ grant_type: 'refresh_token', refresh_token })).body).toEqual(
      oauthError('invalid_grant'),
    );
  });
});
