// The pages of a person's credentials over real HTTP: tokens, connected agents, sessions. What a browser does with them is in
// pages-in-browser.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import { catalog, presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import type { Organization } from '#domain/organizations/model.ts';
import type { Person } from '#domain/people/model.ts';
import type { Row } from '#foundation/base-model.ts';
import { days, minutes } from '#foundation/clock.ts';
import { deviceName } from '../../src/surfaces/console/device.ts';
import { authorizationRequest, type OAuthWorld, openOAuthWorld } from '../support/oauth-world.ts';
import type { Answer, Session } from '../support/world.ts';

let world: OAuthWorld;
beforeAll(async () => {
  world = await openOAuthWorld();
});
afterAll(() => world.close());

interface Visit {
  person: Row<Person>;
  organization: Row<Organization>;
  session: Session;
}
let count = 0;
const visitor = (role: OrgRole = 'owner'): Promise<Visit> => world.visitor(`person${++count}`, role);

const open = (path: string, session: Session) => world.request('GET', path, { session });
const submit = (path: string, session: Session, fields: Record<string, string>, scopes: readonly string[] = []) =>
  world.form(
    path,
    [
      ['csrf_token', session.csrf],
      ...Object.entries(fields),
      ...scopes.map((scope): [string, string] => ['scopes', scope]),
    ],
    { session },
  );
const boxes = (page: Answer): string[] =>
  [...String(page.body).matchAll(/name="scopes" value="([^"]+)"/g)].map((match) => match[1]!);
const alert = (page: Answer): string | undefined => /role="alert"[^>]*>([^<]*)</.exec(page.body)?.[1];
const said = (page: Answer): string | undefined => /class="note good" role="status">([^<]*)</.exec(page.body)?.[1];
const secretIn = (page: Answer): string => /<code id="token">(pat_[\w-]+)<\/code>/.exec(page.body)![1]!;
const days1to365 = 'expires_in_days: must be an integer 1 to 365.';
const good = { name: 'Reports', expires_in_days: '30' };
const tokensOf = ({ person }: Visit) => world.knex('tokens').where({ userId: person.id }).orderBy('createdAt');

async function projectOf({ organization, session }: Visit, name: string): Promise<string> {
  const body = { name, repoFullName: `${organization.slug}/repo`, tracker: 'builtin' };
  const answer = await world.rest('POST', '/projects', { session, body });
  return answer.body.id;
}

describe('every one of them', () => {
  it.each(['/console/tokens', '/console/connected-agents', '/console/sessions'])('%s', async (path) => {
    const nobody = await world.request('GET', path);
    expect([nobody.status, nobody.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(path)}`,
    ]);
    const { session } = await visitor();
    const page = await open(path, session);
    expect(page.status).toBe(200);
    expect(page.body.match(/aria-current/g)).toHaveLength(1);
    expect(page.body).toContain(`<a href="${path}" aria-current="page">`);
    // The one script is ours, for the navigation and the forms; nothing is inline.
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(page.body.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/src="\/console\/console\.js\?v=/)]);
  });

  it.each([
    ['/console/tokens/revoke', '/console/tokens'],
    ['/console/connected-agents/revoke', '/console/connected-agents'],
    ['/console/sessions/end', '/console/sessions'],
    ['/console/sessions/end-others', '/console/sessions'],
  ])('303 · %s by its address leads to the list', async (path, list) => {
    const answer = await world.request('GET', path);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, list]);
  });

  it.each([
    '/console/tokens',
    '/console/tokens/revoke',
    '/console/connected-agents/revoke',
    '/console/sessions/end',
    '/console/sessions/end-others',
  ])('403 · a form of %s without its token changes nothing', async (path) => {
    const visit = await visitor();
    const fields = { csrf_token: 'wrong', ...good, scopes: 'projects:read', token_id: 'x' };
    const answer = await world.form(path, fields, { session: visit.session });
    expect(answer.status).toBe(403);
    expect(await tokensOf(visit)).toEqual([]);
  });

  it('200 · say what to do first to somebody who is in no organization', async () => {
    const session = await world.session(await world.person(`newcomer${++count}`));
    for (const path of ['/console/tokens', '/console/connected-agents']) {
      const page = await open(path, session);
      expect([page.status, page.body.includes('You belong to no organization yet')]).toEqual([200, true]);
    }
    expect((await submit('/console/tokens', session, good, ['projects:read'])).status).toBe(403);
  });
});

describe('tokens', () => {
  it.each(['owner', 'admin', 'member', 'viewer'] as const)('offers a %s what that role holds', async (role) => {
    const { session } = await visitor(role);
    const page = await open('/console/tokens', session);
    const offered = catalog.filter(({ scope, isOffered }) => isOffered && scopesOfRole(role).has(scope));
    expect(boxes(page)).toEqual(offered.map(({ scope }) => scope));
    for (const entry of catalog) {
      expect(page.body.includes(`${entry.description} <code`)).toBe(offered.includes(entry));
    }
    // Without script a preset is a link.
    for (const preset of scopePresets) {
      const { body } = await open(`/console/tokens?preset=${preset}`, session);
      const ticked = [...String(body).matchAll(/name="scopes" value="([^"]+)" checked/g)].map((match) => match[1]!);
      expect(ticked).toEqual(presetScopes(preset, new Set(boxes(page))));
    }
  });

  it('200 · shows the secret in the answer that made it, and never again', async () => {
    const visit = await visitor('member');
    const made = await submit('/console/tokens', visit.session, good, ['projects:read', 'missions:run']);
    expect(made.status).toBe(200);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.headers.get('content-security-policy')).toContain("script-src 'self'; style-src");
    const token = secretIn(made);
    const { id, name, scopes, projectId, expiresAt, createdAt } = (await tokensOf(visit))[0];
    expect({ name, scopes, projectId, lifetime: expiresAt - createdAt }).toEqual({
      name: 'Reports',
      scopes: ['projects:read', 'missions:run'],
      projectId: null,
      lifetime: days(30),
    });
    expect((await world.rest('GET', '/me', { token })).status).toBe(200);
    const list = await open('/console/tokens', visit.session);
    expect(list.body).toContain('<strong>Reports</strong>');
    expect(list.body).not.toContain(token);

    const script = await world.request('GET', /src="(\/console\/console\.js\?v=[^"]+)"/.exec(made.body)![1]!);
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);

    expect(said(await submit('/console/tokens/revoke', visit.session, { token_id: id }))).toMatch(/^Token revoked/);
    expect((await world.rest('GET', '/me', { token })).status).toBe(401);
    const again = await submit('/console/tokens/revoke', visit.session, { token_id: id });
    expect([again.status, said(again)]).toEqual([200, 'This token was already revoked.']);
    expect(again.body).toContain('Expired and revoked (1)');
  });

  it.each([
    ['no name', { name: '  ' }, 'name: must be at least 1 character.'],
    ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name: must be at most 100 characters.'],
    ['a name with NUL', { name: 'a\0b' }, 'name: must be text without NUL characters.'],
    ['no days', { expires_in_days: '0' }, days1to365],
    ['366 days', { expires_in_days: '366' }, days1to365],
    ['half a day', { expires_in_days: '0.5' }, days1to365],
    ['days in words', { expires_in_days: 'soon' }, days1to365],
    ['other days that are not named', { expires_in_days: 'other' }, days1to365],
    ['other days beyond the bound', { expires_in_days: 'other', other_days: '400' }, days1to365],
    ['a project id of 201 characters', { project_id: 'p'.repeat(201) }, 'project_id: must be at most 200 characters.'],
  ])('400 · %s: says so, keeps what was filled in, writes nothing', async (_what, wrong, sentence) => {
    const visit = await visitor();
    const page = await submit('/console/tokens', visit.session, { ...good, ...wrong }, ['projects:read']);
    expect([page.status, alert(page)]).toEqual([400, sentence]);
    expect(page.body).toContain('value="projects:read" checked');
    expect(await tokensOf(visit)).toEqual([]);
  });

  it('400 · no scope, and more than 25', async () => {
    const visit = await visitor();
    const none = await submit('/console/tokens', visit.session, { ...good, name: '"><i>' });
    expect([none.status, alert(none)]).toEqual([400, 'scopes: select at least one.']);
    expect(none.body).toContain('value="&quot;&gt;&lt;i&gt;"');
    const many = catalog.slice(0, 26).map(({ scope }) => scope);
    const answer = await submit('/console/tokens', visit.session, good, many);
    expect([answer.status, alert(answer)]).toEqual([400, 'scopes: must be at most 25 entries.']);
    expect(await tokensOf(visit)).toEqual([]);
    expect((await submit('/console/tokens', visit.session, good, many.slice(0, 25))).status).toBe(200);
  });

  it('403 · names each scope beyond the person’s own, whatever the form was made to say', async () => {
    const visit = await visitor('viewer');
    const page = await submit('/console/tokens', visit.session, good, [
      'projects:read',
      'billing:write',
      'runtime:report',
    ]);
    expect(page.status).toBe(403);
    expect(alert(page)).toContain('missing-scope:billing:write, missing-scope:runtime:report.');
    expect(await tokensOf(visit)).toEqual([]);
  });

  it('200 · 45 days on one project; 404 · on a project of others', async () => {
    const visit = await visitor();
    const projectId = await projectOf(visit, 'Rocket & Co');
    const fields = { name: 'One', expires_in_days: 'other', other_days: '45', project_id: projectId };
    expect((await submit('/console/tokens', visit.session, fields, ['projects:read'])).status).toBe(200);
    const [token] = await tokensOf(visit);
    expect([token.projectId, token.expiresAt - token.createdAt]).toEqual([projectId, days(45)]);
    expect((await open('/console/tokens', visit.session)).body).toContain('Only Rocket &amp; Co</li>');
    const other = await visitor();
    const refused = await submit('/console/tokens', other.session, fields, ['projects:read']);
    expect([refused.status, alert(refused)]).toEqual([404, 'No such project.']);
    expect(await tokensOf(other)).toEqual([]);
  });

  it('404 · revokes nobody else’s', async () => {
    const [visit, other] = [await visitor(), await visitor()];
    await submit('/console/tokens', visit.session, good, ['projects:read']);
    const [token] = await tokensOf(visit);
    expect((await submit('/console/tokens/revoke', other.session, { token_id: token.id })).status).toBe(404);
    expect((await submit('/console/tokens/revoke', visit.session, {})).status).toBe(400);
    expect((await tokensOf(visit))[0].revokedAt).toBe(null);
  });

  it('tells when a token was used, what a smaller role took from it, and when it ended', async () => {
    const visit = await visitor('admin');
    const made = await submit('/console/tokens', visit.session, good, ['projects:read', 'projects:write']);
    const list = async () => (await open('/console/tokens', visit.session)).body as string;
    expect(await list()).toContain('Never used');
    await world.rest('GET', '/me', { token: secretIn(made) });
    world.clock.turn(minutes(5));
    await expect.poll(list).toContain('5 minutes ago</time>');
    expect(await list()).not.toContain('Your role no longer holds');
    const { id: orgId } = visit.organization;
    await world.knex('memberships').where({ orgId, userId: visit.person.id }).update({ role: 'viewer' });
    expect(await list()).toContain('Your role no longer holds projects:write, so that part has no effect.');
    world.clock.turn(days(10));
    await list();
    world.clock.turn(days(10));
    await list();
    world.clock.turn(days(10));
    expect(await list()).toMatch(/Expired and revoked \(1\)[\s\S]*Expired/);
  });
});

describe('connected agents', () => {
  async function connect(visit: Visit, name: string, more: { projectId?: string } = {}): Promise<void> {
    const clientId = await world.register(undefined, { client_name: name });
    const { verifier, parameters } = authorizationRequest(clientId, { resource: `${world.url}/mcp` });
    const code = await world.code(visit, parameters, more);
    const { client_id, redirect_uri } = parameters;
    const tokens = { grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier: verifier };
    expect((await world.token(tokens)).status).toBe(200);
  }
  const ids = (page: Answer) =>
    [...String(page.body).matchAll(/name="delegation_id" value="([^"]+)"/g)].map(([, id]) => id!);

  it('says who, for what, where and until when; and revokes with the number of tokens', async () => {
    const visit = await visitor();
    const projectId = await projectOf(visit, 'Rocket');
    await connect(visit, '<b>Editor</b>', { projectId });
    const page = await open('/console/connected-agents', visit.session);
    expect(page.body).toContain('<bdi>&lt;b&gt;Editor&lt;/b&gt;</bdi>');
    for (const words of [
      'Only Rocket',
      'missions:read',
      'For the MCP server',
      'Never used',
      'Client that you signed in to',
    ]) {
      expect(page.body).toContain(words);
    }
    const [id] = ids(page);
    const revoked = await submit('/console/connected-agents/revoke', visit.session, { delegation_id: id! });
    expect([revoked.status, said(revoked)]).toEqual([200, 'Its access is revoked. One live token stopped working.']);
    expect(revoked.body).toContain('Expired and revoked (1)');
    const again = await submit('/console/connected-agents/revoke', visit.session, { delegation_id: id! });
    expect([again.status, said(again)]).toEqual([200, 'It was already revoked.']);
  });

  it('404 · revokes nobody else’s; 400 · without an id', async () => {
    const [visit, other] = [await visitor(), await visitor()];
    await connect(visit, 'Editor');
    const [id] = ids(await open('/console/connected-agents', visit.session));
    expect(ids(await open('/console/connected-agents', other.session))).toEqual([]);
    const revoke = (fields: Record<string, string>) =>
      submit('/console/connected-agents/revoke', other.session, fields);
    expect((await revoke({ delegation_id: id! })).status).toBe(404);
    expect((await revoke({ delegation_id: 'reg_unknown' })).status).toBe(404);
    expect((await revoke({})).status).toBe(400);
    expect(ids(await open('/console/connected-agents', visit.session))).toEqual([id]);
  });
});

describe('sessions', () => {
  const rows = (page: Answer) =>
    [...String(page.body).matchAll(/name="session_id" value="([^"]+)"/g)].map(([, id]) => id!);

  it('lists the browsers of the person, the present one first, and ends one or all the others', async () => {
    const visit = await visitor();
    const others = [
      await world.session(visit.person),
      await world.session(visit.person),
      await world.session(visit.person),
    ];
    await visitor();
    const page = await open('/console/sessions', visit.session);
    expect(page.body).toContain('From 127.0.0.1');
    expect(page.body.match(/This browser/g)).toHaveLength(1);
    expect(page.body.indexOf('This browser')).toBeLessThan(page.body.indexOf('session_id'));
    expect(rows(page)).toHaveLength(3);

    const ended = await submit('/console/sessions/end', visit.session, { session_id: rows(page)[0]! });
    expect(rows(ended)).toHaveLength(2);
    const all = await submit('/console/sessions/end-others', visit.session, {});
    expect([rows(all), said(all)]).toEqual([[], '2 other sessions are ended. Only this browser is signed in.']);
    for (const other of others) expect((await open('/console/account', other)).status).toBe(303);
    expect((await open('/console/account', visit.session)).status).toBe(200);
    const none = await submit('/console/sessions/end-others', visit.session, {});
    expect(said(none)).toBe('No other session was open. Only this browser is signed in.');
  });

  it('404 · ends nobody else’s; 303 · the own one leads to sign-in, without its cookie', async () => {
    const visit = await visitor();
    const other = await world.session(visit.person);
    const [id] = rows(await open('/console/sessions', other));
    const stranger = await visitor();
    expect((await submit('/console/sessions/end', stranger.session, { session_id: id! })).status).toBe(404);
    const left = await submit('/console/sessions/end', visit.session, { session_id: id! });
    expect([left.status, left.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(left.headers.get('set-cookie')).toMatch(/^session=; .*Max-Age=0/);
    expect((await open('/console/account', other)).status).toBe(200);
  });
});

describe('a device', () => {
  const mozilla = 'Mozilla/5.0';
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  it.each([
    ['Firefox on Linux', `${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`],
    ['Chrome on Mac', `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/140.0.0.0 Safari/537.36`],
    ['Edge on Windows', `${mozilla} (Windows NT 10.0) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`],
    ['Edge on Android', `${mozilla} (Linux; Android 14) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0`],
    [
      'Safari on iPhone',
      `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile/15E148 Safari/604.1`,
    ],
    ['Chrome on Linux', `${mozilla} (X11; Linux x86_64) ${webkit} HeadlessChrome/147.0.0.0 Safari/537.36`],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['Unknown device', null],
  ])('%s', (name, userAgent) => expect(deviceName(userAgent)).toBe(name));
});
