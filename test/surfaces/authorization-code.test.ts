// The authorization code flow over real HTTP: the page a person answers, the code, the exchange (RFC 6749 §4.1, RFC 7636, RFC 8252,
// RFC 8707, RFC 9207; docs/contract.md#authorization-code-flow).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import { defaultScopes } from '#domain/identity/oauth/authorization-request.ts';
import { days, hours, seconds } from '#foundation/clock.ts';
import {
  authorizationRequest,
  hiddenRequest,
  locationOf,
  type OAuthWorld,
  openOAuthWorld,
  pkce,
  redirectUri,
  type Visit,
} from '../support/oauth-world.ts';
import type { Answer } from '../support/world.ts';

let world: OAuthWorld;
let ada: Visit;
let client: string;
beforeAll(async () => {
  world = await openOAuthWorld();
  ada = await world.visitor('ada');
  client = await world.register();
});
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
});

const exchange = (code: string, verifier: string, more: Record<string, string | undefined> = {}) =>
  world.token({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id: client,
    redirect_uri: redirectUri,
    ...more,
  });

/** Expects a page for the person, without a redirect. */
function expectPage(answer: Answer, status: number, text: RegExp): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.body).toMatch(text);
}

function expectReturned(answer: Answer, error: string, state: string | null = 'a state'): void {
  expect(answer.status).toBe(303);
  const { origin, pathname, searchParams } = locationOf(answer);
  expect(origin + pathname).toBe(redirectUri);
  expect(Object.fromEntries(searchParams)).toEqual({
    error,
    error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    ...(state !== null && { state }),
    iss: world.url,
  });
}

const refusal = (error: string) => ({ error, error_description: expect.any(String) });

describe('the authorization code flow', () => {
  it('RFC 6749 §4.1, RFC 9207 · 303 with code, state and iss; the exchange gives tokens that open the API', async () => {
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
    const { status, headers, body } = await exchange(location.searchParams.get('code')!, verifier);
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

  it('gives no refresh token without offline_access, and its sign-in ends with its token', async () => {
    world.clock.turn(1);
    const { verifier, parameters } = authorizationRequest(client, { scope: 'missions:read' });
    const { body } = await exchange(await world.code(ada, parameters), verifier);
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'missions:read',
    });
    const [signIn] = await world.knex('signIns').orderBy('createdAt', 'desc').limit(1);
    expect(signIn.expiresAt - signIn.createdAt).toBe(hours(1));
  });

  it('gives access tokens that are valid for exactly 3600 seconds, however long the exchange takes', async () => {
    const { verifier, parameters } = authorizationRequest(client, { scope: 'missions:read' });
    const code = await world.code(ada, parameters);
    world.clock.tick(1);
    const { body } = await exchange(code, verifier);
    world.clock.tick(0);
    expect(body.expires_in).toBe(3600);
  });

  it('requires sign-in first, and then returns to the same request', async () => {
    const { parameters } = authorizationRequest(client);
    const answer = await world.openPage(parameters);
    expect(answer.status).toBe(303);
    const signIn = new URL(answer.headers.get('location')!, world.url);
    expect(signIn.pathname).toBe('/sign-in');
    const back = await world.request('GET', signIn.searchParams.get('return_to')!, { session: ada.session });
    expect(back.status).toBe(200);
    expect(Object.fromEntries(new URLSearchParams(hiddenRequest(back)))).toEqual(parameters);
  });

  it('accepts a JSON body at the token endpoint as well', async () => {
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

  it('offers a client without scopes those that a member may grant, and one with unknown scopes the known ones', async () => {
    const offered = async (scope: string | undefined) => {
      const page = await world.openPage(authorizationRequest(client, { scope }).parameters, ada.session);
      return [...page.body.matchAll(/name="scopes" value="([^"]+)"/g)].map(([, value]) => value).sort();
    };
    expect(await offered(undefined)).toEqual([...defaultScopes].sort());
    expect(await offered('offline_access')).toEqual([...defaultScopes].sort());
    expect(await offered('missions:read made:up openid')).toEqual(['missions:read']);
  });

  it('keeps the query of a registered redirect address, and redirects to applications with URI schemes of their own', async () => {
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

describe('a request that is not trusted is not redirected', () => {
  it.each([
    ['an unknown client', { client_id: 'mcp_unknown' }, /no such client/],
    ['a client_id with NUL', { client_id: 'mcp_\0' }, /client_id/],
    ['no client', { client_id: undefined }, /client_id: is required/],
    ['no redirect address', { redirect_uri: undefined }, /redirect_uri: is required/],
    ['another path', { redirect_uri: 'http://127.0.0.1/other' }, /redirect_uri/],
    ['an additional trailing slash', { redirect_uri: `${redirectUri}/` }, /redirect_uri/],
    ['an equivalent path', { redirect_uri: 'http://127.0.0.1/callback/../callback' }, /redirect_uri/],
    ['an additional query', { redirect_uri: `${redirectUri}?x=1` }, /redirect_uri/],
    ['another host that looks alike', { redirect_uri: 'http://127.0.0.1.evil.com/callback' }, /redirect_uri/],
    ['a user before the host', { redirect_uri: 'http://127.0.0.1@evil.com/callback' }, /redirect_uri/],
    ['the other name of this machine', { redirect_uri: 'http://localhost:54321/callback' }, /redirect_uri/],
    ['an invalid port', { redirect_uri: 'http://127.0.0.1:99999/callback' }, /redirect_uri/],
  ])('400 page · %s', async (_, more, text) => {
    expectPage(await world.openPage(authorizationRequest(client, more).parameters, ada.session), 400, text);
    expectPage(await world.openPage(authorizationRequest(client, more).parameters), 400, text);
  });

  it('400 page · a repeated client_id or redirect_uri', async () => {
    for (const name of ['client_id', 'redirect_uri']) {
      const { parameters } = authorizationRequest(client);
      const query = `${new URLSearchParams(parameters as Record<string, string>)}&${name}=x`;
      expectPage(await world.openPage(query, ada.session), 400, new RegExp(`${name}: must not be repeated`));
    }
  });

  it('RFC 8252 §7.3 · the redirect address of a program on this machine may have any port', async () => {
    const { verifier, parameters } = authorizationRequest(client, { redirect_uri: 'http://127.0.0.1:54321/callback' });
    const code = await world.code(ada, parameters);
    expect((await exchange(code, verifier, { redirect_uri: 'http://127.0.0.1:54322/callback' })).body).toEqual(
      refusal('invalid_grant'),
    );
    const again = authorizationRequest(client, { redirect_uri: 'http://127.0.0.1:54321/callback' });
    const second = await world.code(ada, again.parameters);
    const answer = await exchange(second, again.verifier, { redirect_uri: 'http://127.0.0.1:54321/callback' });
    expect(answer.status).toBe(200);
  });

  it('400 page · an https address must have its registered port', async () => {
    const own = await world.register(['https://app.example/cb']);
    const { parameters } = authorizationRequest(own, { redirect_uri: 'https://app.example:8443/cb' });
    expectPage(await world.openPage(parameters, ada.session), 400, /redirect_uri/);
  });
});

describe('an error that the client may learn is redirected, with state and iss', () => {
  const { challenge } = pkce();
  it.each([
    ['invalid_request', 'no challenge', { code_challenge: undefined }],
    ['invalid_request', 'an empty challenge', { code_challenge: '' }],
    ['invalid_request', 'a short challenge', { code_challenge: challenge.slice(1) }],
    ['invalid_request', 'a challenge that is not base64url', { code_challenge: `${challenge.slice(1)}=` }],
    ['invalid_request', 'no method', { code_challenge_method: undefined }],
    ['invalid_request', 'method plain', { code_challenge_method: 'plain' }],
    ['invalid_request', 'no response type', { response_type: undefined }],
    ['unsupported_response_type', 'response type token', { response_type: 'token' }],
    ['unsupported_response_type', 'response type code token', { response_type: 'code token' }],
    ['invalid_request', 'another response mode', { response_mode: 'fragment' }],
    ['invalid_scope', 'only scopes that mean nothing', { scope: 'openid made:up' }],
    ['invalid_target', 'an unknown resource', { resource: 'https://other.example' }],
    ['invalid_target', 'a resource with a fragment', { resource: 'https://other.example#x' }],
    ['invalid_target', 'a resource that is not an address', { resource: 'api' }],
  ])('%s · %s', async (error, _, more) => {
    expectReturned(await world.openPage(authorizationRequest(client, more).parameters, ada.session), error);
  });

  it('invalid_request · refuses a repeated parameter; a repeated state is not returned', async () => {
    for (const name of ['scope', 'code_challenge', 'response_type', 'made_up']) {
      const query = new URLSearchParams(authorizationRequest(client).parameters as Record<string, string>);
      query.append(name, 'x');
      if (name === 'made_up') query.append(name, 'y');
      expectReturned(await world.openPage(query.toString(), ada.session), 'invalid_request');
    }
    const query = `${new URLSearchParams(authorizationRequest(client).parameters as Record<string, string>)}&state=x`;
    expectReturned(await world.openPage(query, ada.session), 'invalid_request', null);
  });

  it('access_denied · the person denied the request', async () => {
    const { parameters } = authorizationRequest(client);
    expectReturned(await world.authorize(ada, parameters, { decision: 'deny' }), 'access_denied');
  });

  it('a request that was altered in the browser is validated again', async () => {
    const page = await world.openPage(authorizationRequest(client).parameters, ada.session);
    const tampered = (query: string) =>
      world.form(
        '/oauth/authorize',
        {
          csrf_token: ada.session.csrf,
          request: query,
          decision: 'approve',
          org_id: ada.organization.id,
          expires_in_days: '1',
        },
        { session: ada.session },
      );
    const request = hiddenRequest(page);
    expectPage(await tampered(request.replace('callback', 'other')), 400, /redirect_uri/);
    expectReturned(await tampered(request.replace('S256', 'plain')), 'invalid_request');
    expectPage(await tampered(''), 400, /client_id/);
  });
});

describe('the consent page', () => {
  it('shows the client, its redirect address and scopes; it is not framed, cached or leaked as a referrer', async () => {
    const own = await world.register(['http://127.0.0.1:8123/callback'], {
      client_name: '<script>alert(1)</script>',
      client_uri: 'https://app.example/about',
      logo_uri: 'https://app.example/logo.png',
    });
    const { parameters } = authorizationRequest(own, {
      redirect_uri: 'http://127.0.0.1:8123/callback',
      resource: `${world.url}/mcp`,
    });
    const { headers, body } = await world.openPage(parameters, ada.session);
    expect(body).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi> requests access');
    expect(body).toContain('<strong>127.0.0.1:8123</strong>');
    expect(body).toContain('a program on your own machine');
    expect(body).toContain('the MCP server');
    expect(body).toContain('<a href="https://app.example/about" rel="noreferrer noopener" target="_blank">');
    expect(body).not.toContain('logo.png');
    expect(body).toContain(ada.organization.name);
    expect(body).not.toContain('<script');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' http://127.0.0.1:8123 https:; frame-ancestors 'none'; base-uri 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('403 · refuses a form without its token, from another site, or with a stranger’s token', async () => {
    const { parameters } = authorizationRequest(client);
    const page = await world.openPage(parameters, ada.session);
    const stranger = await world.visitor('mallory');
    for (const csrf of ['', 'x', stranger.session.csrf]) {
      expectPage(await world.decide(ada, page, { csrf }), 403, /did not come from one of our pages/);
    }
    const crossSite = await world.request('POST', '/oauth/authorize', {
      headers: {
        cookie: `session=${ada.session.secret}`,
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        csrf_token: ada.session.csrf,
        request: hiddenRequest(page),
        decision: 'approve',
      }).toString(),
    });
    expectPage(crossSite, 403, /did not come from one of our pages/);
    expect(await world.knex('authorizationCodes').where({ userId: stranger.person.id })).toEqual([]);
  });

  it('selects at most as many scopes as one credential may hold; 400 · more are refused', async () => {
    const everything = catalog.map(({ scope }) => scope);
    const page = await world.openPage(
      authorizationRequest(client, { scope: everything.join(' ') }).parameters,
      ada.session,
    );
    const boxes = (attribute: string) => page.body.match(new RegExp(`name="scopes" value="[^"]+"${attribute}`, 'g'));
    expect(boxes('')).toHaveLength(everything.length);
    expect(boxes(' checked')!.length).toBeLessThanOrEqual(25);
    expect((await world.decide(ada, page)).status).toBe(303);
    expectPage(await world.decide(ada, page, { scopes: everything }), 400, /scopes: must be at most 25 entries/);
  });

  it('200 · says what a viewer cannot grant', async () => {
    const viewer = await world.visitor('vera', 'viewer');
    const page = await world.openPage(authorizationRequest(client).parameters, viewer.session);
    expectPage(page, 200, /Your role cannot grant: missions:run\./);
  });

  it('lets the person pick another of their organizations, by role, and only their own', async () => {
    const own = await world.visitor('grace', 'owner');
    const other = await world.visitor('lin', 'owner');
    await world.join(other.organization, own.person, 'viewer');
    const { parameters, verifier } = authorizationRequest(client, { scope: 'missions:read missions:run' });
    const page = await world.openPage(parameters, own.session);
    expect(page.body).toContain(
      `<option value="${other.organization.id}">${other.organization.name} (viewer)</option>`,
    );
    expect(page.body).toContain('The access never exceeds your role in the organization you choose.');
    // A scope that the page did not offer is not granted.
    const answer = await world.decide(own, page, {
      orgId: other.organization.id,
      scopes: ['missions:read', 'missions:run', 'billing:write'],
    });
    const { body } = await exchange(locationOf(answer).searchParams.get('code')!, verifier);
    expect(body.scope).toBe('missions:read');
    expectPage(await world.decide(other, page, { orgId: ada.organization.id }), 404, /No such organization/);
    expectPage(await world.decide(own, page, { orgId: 'org_\0' }), 400, /org_id/);
    const { body: project } = await world.rest('POST', '/projects', {
      session: await world.session(own.person, own.organization.id),
      body: { name: 'Shop', repoFullName: 'grace/shop' },
    });
    // A project of the organization that is not selected: the form is shown again as it was filled in.
    const mixed = await world.decide(own, page, { orgId: other.organization.id, projectId: project.id });
    expectPage(mixed, 404, /role="alert"[^>]*>No such project/);
    expect(mixed.body).toContain(`<option value="${other.organization.id}" selected>`);
    expect(mixed.body).toContain(`<option value="${project.id}" selected>Only Shop</option>`);
  });

  it('binds the access to one project, which must be of that organization', async () => {
    const { parameters, verifier } = authorizationRequest(client);
    const token = await world.personalToken(ada);
    const project = await world.rest('POST', '/projects', {
      token,
      body: { name: 'Engine', repoFullName: 'ada/engine' },
    });
    const page = await world.openPage(parameters, ada.session);
    expect(page.body).toContain(`<option value="${project.body.id}">Only Engine</option>`);
    const answer = await world.decide(ada, page, { projectId: project.body.id });
    const { body } = await exchange(locationOf(answer).searchParams.get('code')!, verifier);
    expect((await callerOfOAuthToken(body.access_token, 'api'))!.projectId).toBe(project.body.id);
    const stranger = await world.visitor('eve');
    const theirs = await world.openPage(authorizationRequest(client).parameters, stranger.session);
    expectPage(await world.decide(stranger, theirs, { projectId: project.body.id }), 404, /No such project/);
  });

  it('400 · shows the form again with the error when nothing is chosen, or more days than a year', async () => {
    const page = await world.openPage(authorizationRequest(client).parameters, ada.session);
    const nothing = await world.decide(ada, page, { scopes: [] });
    expectPage(nothing, 400, /role="alert"[^>]*>Choose at least one kind of access/);
    expect(nothing.body).toContain('name="decision" value="approve"');
    for (const days of [0, 366, 1.5, Number.NaN]) {
      expectPage(await world.decide(ada, page, { days }), 400, /expires_in_days/);
    }
  });

  it('tells a person without an organization how to create one, and lets them deny', async () => {
    const person = await world.person('newcomer');
    const session = await world.session(person);
    const page = await world.openPage(authorizationRequest(client).parameters, session);
    expect(page.status).toBe(200);
    expect(page.body).toContain('You belong to no organization yet');
    expect(page.body).not.toContain('value="approve"');
    const visit = { person, session, organization: ada.organization };
    expectReturned(await world.decide(visit, page, { decision: 'deny' }), 'access_denied');
    expectPage(await world.decide(visit, page, { scopes: ['missions:read'] }), 404, /No such organization/);
  });
});

describe('the exchange (RFC 6749 §5.2, RFC 7636 §4.6)', () => {
  const coded = async (more: Record<string, string | undefined> = {}) => {
    const { verifier, parameters } = authorizationRequest(client, more);
    return { verifier, code: await world.code(ada, parameters) };
  };

  it.each([
    ['invalid_grant', 400, 'another verifier', { code_verifier: pkce().verifier }],
    ['invalid_grant', 400, 'a short verifier', { code_verifier: 'x'.repeat(42) }],
    ['invalid_grant', 400, 'a long verifier', { code_verifier: 'x'.repeat(129) }],
    ['invalid_grant', 400, 'a verifier of other characters', { code_verifier: '!'.repeat(43) }],
    ['invalid_grant', 400, 'another redirect address', { redirect_uri: 'http://127.0.0.1/other' }],
    ['invalid_grant', 400, 'another port', { redirect_uri: 'http://127.0.0.1:1/callback' }],
  ])('%s %i · %s, and the code is used up', async (error, status, _, more) => {
    const { verifier, code } = await coded();
    const answer = await exchange(code, verifier, more);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual(refusal(error));
    expect((await exchange(code, verifier)).body).toEqual(refusal('invalid_grant'));
  });

  it('invalid_target · a resource that the person did not approve is refused, and the code is used up', async () => {
    const { verifier, code } = await coded();
    const answer = await exchange(code, verifier, { resource: `${world.url}/mcp` });
    expect([answer.status, answer.body]).toEqual([400, refusal('invalid_target')]);
    expect((await exchange(code, verifier)).body).toEqual(refusal('invalid_grant'));
  });

  it('invalid_grant · a client cannot exchange another client’s code', async () => {
    const { verifier, code } = await coded();
    const other = await world.register();
    expect((await exchange(code, verifier, { client_id: other })).body).toEqual(refusal('invalid_grant'));
  });

  it.each([
    ['invalid_request', 400, 'no verifier', { code_verifier: undefined }],
    ['invalid_request', 400, 'an empty verifier', { code_verifier: '' }],
    ['invalid_request', 400, 'no code', { code: undefined }],
    ['invalid_request', 400, 'no client', { client_id: undefined }],
    ['invalid_client', 401, 'an unknown client', { client_id: 'mcp_unknown' }],
    ['invalid_client', 401, 'a document that was never read', { client_id: 'https://never.example/client.json' }],
    ['invalid_target', 400, 'an unknown resource', { resource: 'https://other.example' }],
    ['invalid_target', 400, 'a resource with a fragment', { resource: 'https://other.example/#a' }],
    ['invalid_request', 400, 'a NUL', { client_id: 'mcp_\0' }],
    ['invalid_request', 400, 'no grant type', { grant_type: undefined }],
    ['invalid_request', 400, 'an empty grant type', { grant_type: '' }],
    ['unsupported_grant_type', 400, 'grant type password', { grant_type: 'password' }],
    ['unsupported_grant_type', 400, 'a grant type of the language', { grant_type: 'constructor' }],
  ])('%s %i · %s; the code stays valid', async (error, status, _, more) => {
    const { verifier, code } = await coded();
    const answer = await exchange(code, verifier, more as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual(refusal(error));
    expect((await exchange(code, verifier)).status).toBe(200);
  });

  it('400 · refuses repeated parameters, except resource with equivalent values', async () => {
    const { verifier, code } = await coded();
    const whole: [string, string][] = [
      ['grant_type', 'authorization_code'],
      ['code', code],
      ['code_verifier', verifier],
      ['client_id', client],
    ];
    for (const name of ['grant_type', 'code', 'client_id', 'made_up']) {
      const twice = await world.token([...whole, ['made_up', 'x'], [name, 'x']]);
      expect([twice.status, twice.body]).toEqual([400, refusal('invalid_request')]);
    }
    const both = await world.token([...whole, ['resource', world.url], ['resource', `${world.url}/mcp`]]);
    expect([both.status, both.body]).toEqual([400, refusal('invalid_target')]);
    const same = await world.token([...whole, ['resource', world.url], ['resource', `${world.url}/v1/`]]);
    expect(same.status).toBe(200);
  });

  it.each([
    ['not JSON', '{', 'application/json'],
    ['a JSON list', '[]', 'application/json'],
    ['a JSON number as parameter', '{"grant_type":7}', 'application/json'],
    ['a text', 'grant_type=refresh_token', 'text/plain'],
    ['nothing', '', 'application/x-www-form-urlencoded'],
    ['not UTF-8', new Uint8Array([0x61, 0x3d, 0xff]), 'application/x-www-form-urlencoded'],
  ])('400 invalid_request · refuses a body that is %s', async (_, body, type) => {
    const answer = await world.request('POST', '/v1/oauth2/token', { body, headers: { 'content-type': type } });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: 'invalid_request', error_description: expect.any(String) },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('413 · refuses a body of more than 64 KiB', async () => {
    const answer = await world.token({ grant_type: 'x'.repeat(70_000) });
    expect([answer.status, answer.body.error]).toEqual([413, 'invalid_request']);
  });

  it('401 invalid_client · the challenge leads to the resource metadata; a client that tried to authenticate learns its scheme too', async () => {
    const metadata = `resource_metadata="${world.url}/.well-known/oauth-protected-resource"`;
    const unknown = await exchange('x', 'x', { client_id: 'mcp_unknown' });
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

  it('a code is valid for a minute: after 59 s it gives tokens, after 61 s invalid_grant', async () => {
    const early = await coded();
    world.clock.turn(seconds(59));
    expect((await exchange(early.code, early.verifier)).status).toBe(200);
    const late = await coded();
    world.clock.turn(seconds(61));
    expect((await exchange(late.code, late.verifier)).body).toEqual(refusal('invalid_grant'));
  });

  it('RFC 6749 §4.1.2 · a repeated code is refused, and the tokens issued for it are revoked', async () => {
    const { verifier, code } = await coded();
    const { body } = await exchange(code, verifier);
    expect(await world.opens(body.access_token, 'api')).toBe(true);
    // A wrong verifier also uses up the code, because the sender may have stolen it.
    expect((await exchange(code, pkce().verifier)).body).toEqual(refusal('invalid_grant'));
    expect(await world.opens(body.access_token, 'api')).toBe(false);
    const refreshed = await world.token({ grant_type: 'refresh_token', refresh_token: body.refresh_token });
    expect(refreshed.body).toEqual(refusal('invalid_grant'));
  });

  it('one of several concurrent exchanges gets tokens, which are revoked afterwards', async () => {
    for (let round = 0; round < 10; round++) {
      const { verifier, code } = await coded();
      const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(code, verifier)));
      const won = answers.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      for (const { body } of answers.filter(({ status }) => status !== 200))
        expect(body).toEqual(refusal('invalid_grant'));
      expect(await world.opens(won[0]!.body.access_token, 'api')).toBe(false);
    }
  });

  it('invalid_grant · is refused when the person left the organization between page and exchange', async () => {
    const visit = await world.visitor('leaver', 'member');
    const { verifier, parameters } = authorizationRequest(client);
    const code = await world.code(visit, parameters);
    await world.knex('memberships').where({ userId: visit.person.id }).delete();
    expect((await exchange(code, verifier)).body).toEqual(refusal('invalid_grant'));
  });
});

describe('one resource, and the person’s current role (RFC 8707; docs/contract.md#authority)', () => {
  const open = { api: '', mcp: '/mcp', a2a: '/a2a' } as const;
  it.each(['api', 'mcp', 'a2a'] as const)('a token for %s opens nothing else', async (resource) => {
    const { verifier, parameters } = authorizationRequest(client, { resource: `${world.url}${open[resource]}` });
    const { body } = await exchange(await world.code(ada, parameters), verifier, { resource: parameters.resource });
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
  ] as const)('%s (%s) means %s', async (_, path, resource) => {
    const { verifier, parameters } = authorizationRequest(client, {
      resource: `${world.url.replace('http', 'HTTP')}${path}`,
    });
    const { body } = await exchange(await world.code(ada, parameters), verifier);
    expect(await world.opens(body.access_token, resource)).toBe(true);
  });

  it('losing a role ends its scopes at once, losing the membership ends all access', async () => {
    const visit = await world.visitor('demoted', 'admin');
    const { verifier, parameters } = authorizationRequest(client, { scope: 'projects:write missions:read' });
    const { body } = await exchange(await world.code(visit, parameters), verifier);
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

  it('an access token ends after its hour, or with the access that the person granted', async () => {
    const { verifier, parameters } = authorizationRequest(client);
    const { body } = await exchange(await world.code(ada, parameters, { days: 1 }), verifier);
    world.clock.turn(hours(1) - 1);
    expect(await world.opens(body.access_token, 'api')).toBe(true);
    world.clock.turn(1);
    expect(await world.opens(body.access_token, 'api')).toBe(false);
    world.clock.turn(days(1) - hours(1) - seconds(90));
    const last = await world.token({ grant_type: 'refresh_token', refresh_token: body.refresh_token });
    expect([last.status, last.body.expires_in]).toEqual([200, 90]);
    world.clock.turn(seconds(90));
    const refresh_token = last.body.refresh_token;
    expect((await world.token({ grant_type: 'refresh_token', refresh_token })).body).toEqual(refusal('invalid_grant'));
  });
});
