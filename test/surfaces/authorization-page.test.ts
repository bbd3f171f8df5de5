// The page of the authorization code flow: requests that are not trusted, errors that are returned to the client, and the consent of a
// person (RFC 6749 §4.1.2.1, RFC 8252; docs/contract.md#authorization-code-flow).
import { afterAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import { createProject } from '../support/callers.ts';
import {
  authorizationRequest,
  hiddenRequest,
  locationOf,
  oauthError,
  openOAuthWorld,
  pkce,
  redirectUri,
} from '../support/oauth-world.ts';
import type { Answer } from '../support/world.ts';

const world = await openOAuthWorld();
const ada = await world.visitor('ada');
const client = await world.register();
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
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

describe('Untrusted authorization requests', () => {
  it.each([
    ['an unknown client', { client_id: 'mcp_unknown' }, /no such client/],
    ['a client_id with NUL', { client_id: 'mcp_\0' }, /client_id/],
    ['no client', { client_id: undefined }, /client_id: is required/],
    ['no redirect URI', { redirect_uri: undefined }, /redirect_uri: is required/],
    ['another path', { redirect_uri: 'http://127.0.0.1/other' }, /redirect_uri/],
    ['an additional trailing slash', { redirect_uri: `${redirectUri}/` }, /redirect_uri/],
    ['an equivalent path', { redirect_uri: 'http://127.0.0.1/callback/../callback' }, /redirect_uri/],
    ['an additional query', { redirect_uri: `${redirectUri}?x=1` }, /redirect_uri/],
    ['another host that looks alike', { redirect_uri: 'http://127.0.0.1.evil.com/callback' }, /redirect_uri/],
    ['a user before the host', { redirect_uri: 'http://127.0.0.1@evil.com/callback' }, /redirect_uri/],
    ['another name of this machine', { redirect_uri: 'http://localhost:54321/callback' }, /redirect_uri/],
    ['an invalid port', { redirect_uri: 'http://127.0.0.1:99999/callback' }, /redirect_uri/],
  ])('400 page · an authorization request with %s is not redirected', async (_, more, text) => {
    expectPage(await world.openPage(authorizationRequest(client, more).parameters, ada.session), 400, text);
    expectPage(await world.openPage(authorizationRequest(client, more).parameters), 400, text);
  });

  it('400 page · an authorization request that repeats client_id or redirect_uri is not redirected', async () => {
    for (const name of ['client_id', 'redirect_uri']) {
      const { parameters } = authorizationRequest(client);
      const query = `${new URLSearchParams(parameters as Record<string, string>)}&${name}=x`;
      expectPage(await world.openPage(query, ada.session), 400, new RegExp(`${name}: must not be repeated`));
    }
  });

  it('RFC 8252 §7.3 · a redirect URI on this machine may have any port', async () => {
    const { verifier, parameters } = authorizationRequest(client, { redirect_uri: 'http://127.0.0.1:54321/callback' });
    const code = await world.code(ada, parameters);
    expect(
      (await world.exchange(client, code, verifier, { redirect_uri: 'http://127.0.0.1:54322/callback' })).body,
    ).toEqual(oauthError('invalid_grant'));
    const again = authorizationRequest(client, { redirect_uri: 'http://127.0.0.1:54321/callback' });
    const second = await world.code(ada, again.parameters);
    const answer = await world.exchange(client, second, again.verifier, {
      redirect_uri: 'http://127.0.0.1:54321/callback',
    });
    expect(answer.status).toBe(200);
  });

  it('400 page · an https redirect URI must have its registered port', async () => {
    const own = await world.register(['https://app.example/cb']);
    const { parameters } = authorizationRequest(own, { redirect_uri: 'https://app.example:8443/cb' });
    expectPage(await world.openPage(parameters, ada.session), 400, /redirect_uri/);
  });
});

describe('Authorization errors that are returned to the client, with state and iss', () => {
  const { challenge } = pkce();
  it.each([
    ['invalid_request', 'no challenge', { code_challenge: undefined }],
    ['invalid_request', 'an empty challenge', { code_challenge: '' }],
    ['invalid_request', 'a short challenge', { code_challenge: challenge.slice(1) }],
    ['invalid_request', 'a challenge that is not base64url', { code_challenge: `${challenge.slice(1)}=` }],
    ['invalid_request', 'no challenge method', { code_challenge_method: undefined }],
    ['invalid_request', 'the challenge method plain', { code_challenge_method: 'plain' }],
    ['invalid_request', 'no response type', { response_type: undefined }],
    ['unsupported_response_type', 'response type token', { response_type: 'token' }],
    ['unsupported_response_type', 'response type code token', { response_type: 'code token' }],
    ['invalid_request', 'another response mode', { response_mode: 'fragment' }],
    ['invalid_scope', 'only unknown scopes', { scope: 'openid made:up' }],
    ['invalid_target', 'an unknown resource', { resource: 'https://other.example' }],
    ['invalid_target', 'a resource with a fragment', { resource: 'https://other.example#x' }],
    ['invalid_target', 'a resource that is not a URL', { resource: 'api' }],
  ])('%s · an authorization request with %s is redirected with the error', async (error, _, more) => {
    expectReturned(await world.openPage(authorizationRequest(client, more).parameters, ada.session), error);
  });

  it('invalid_request · a repeated parameter is an error for the client; a repeated state is not returned', async () => {
    for (const name of ['scope', 'code_challenge', 'response_type', 'made_up']) {
      const query = new URLSearchParams(authorizationRequest(client).parameters as Record<string, string>);
      query.append(name, 'x');
      if (name === 'made_up') query.append(name, 'y');
      expectReturned(await world.openPage(query.toString(), ada.session), 'invalid_request');
    }
    const query = `${new URLSearchParams(authorizationRequest(client).parameters as Record<string, string>)}&state=x`;
    expectReturned(await world.openPage(query, ada.session), 'invalid_request', null);
  });

  it('access_denied · the client learns that the person denied the request', async () => {
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

describe('Consent', () => {
  it('the consent page shows the client, its redirect URI and scopes, and cannot be framed, cached or leaked as a referrer', async () => {
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

  it('403 · a consent form without its token, from another site, or with a stranger’s token is refused', async () => {
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

  it('the consent page selects no more scopes than one credential may hold; 400 · consent to more is refused', async () => {
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

  it('200 · the consent page tells a viewer which scopes a viewer cannot grant', async () => {
    const viewer = await world.visitor('vera', 'viewer');
    const page = await world.openPage(authorizationRequest(client).parameters, viewer.session);
    expectPage(page, 200, /Your role cannot grant: missions:run\./);
  });

  it('a person can grant access to any of their organizations, within their role there, and to no other', async () => {
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
    const { body } = await world.exchange(client, locationOf(answer).searchParams.get('code')!, verifier);
    expect(body.scope).toBe('missions:read');
    expectPage(await world.decide(other, page, { orgId: ada.organization.id }), 404, /No such organization/);
    expectPage(await world.decide(own, page, { orgId: 'org_\0' }), 400, /org_id/);
    const session = await world.session(own.person, own.organization.id);
    const projectId = await createProject(world, { session }, 'Shop');
    // The form contains one organization and a project of another organization. The page shows the form again as the person filled it in.
    const mixed = await world.decide(own, page, { orgId: other.organization.id, projectId });
    expectPage(mixed, 404, /role="alert"[^>]*>No such project/);
    expect(mixed.body).toContain(`<option value="${other.organization.id}" selected>`);
    expect(mixed.body).toContain(`<option value="${projectId}" selected>Only Shop</option>`);
  });

  it('access can be granted for one project, which must belong to the person’s organization', async () => {
    const { parameters, verifier } = authorizationRequest(client);
    const token = await world.personalToken(ada);
    const projectId = await createProject(world, { token }, 'Engine', { repoFullName: 'ada/engine' });
    const page = await world.openPage(parameters, ada.session);
    expect(page.body).toContain(`<option value="${projectId}">Only Engine</option>`);
    const answer = await world.decide(ada, page, { projectId });
    const { body } = await world.exchange(client, locationOf(answer).searchParams.get('code')!, verifier);
    expect((await callerOfOAuthToken(body.access_token, 'api'))!.projectId).toBe(projectId);
    const stranger = await world.visitor('eve');
    const theirs = await world.openPage(authorizationRequest(client).parameters, stranger.session);
    expectPage(await world.decide(stranger, theirs, { projectId }), 404, /No such project/);
  });

  it('400 · a consent without a scope, or with an invalid number of days, shows the form again with the error', async () => {
    const page = await world.openPage(authorizationRequest(client).parameters, ada.session);
    const nothing = await world.decide(ada, page, { scopes: [] });
    expectPage(nothing, 400, /role="alert"[^>]*>Choose at least one kind of access/);
    expect(nothing.body).toContain('name="decision" value="approve"');
    for (const days of [0, 366, 1.5, Number.NaN]) {
      expectPage(await world.decide(ada, page, { days }), 400, /expires_in_days/);
    }
  });

  it('a person without an organization is told to create one, and can deny the request', async () => {
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
