// The pages of a person's credentials over real HTTP: connected agents, sessions. What a browser does with them is in
// pages-in-browser.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import type { Organization } from '#domain/organizations/model.ts';
import type { Person } from '#domain/people/model.ts';
import type { Row } from '#foundation/base-model.ts';
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
const submit = (path: string, session: Session, fields: Record<string, string>) =>
  world.form(path, [['csrf_token', session.csrf], ...Object.entries(fields)], { session });
const said = (page: Answer): string | undefined => /class="note good" role="status">([^<]*)</.exec(page.body)?.[1];

async function projectOf({ organization, session }: Visit, name: string): Promise<string> {
  const body = { name, repoFullName: `${organization.slug}/repo`, tracker: 'builtin' };
  const answer = await world.rest('POST', '/projects', { session, body });
  return answer.body.id;
}

describe('every one of them', () => {
  it.each(['/console/connected-agents', '/console/sessions'])('%s', async (path) => {
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
    ['/console/connected-agents/revoke', '/console/connected-agents'],
    ['/console/sessions/end', '/console/sessions'],
    ['/console/sessions/end-others', '/console/sessions'],
  ])('303 · %s by its address leads to the list', async (path, list) => {
    const answer = await world.request('GET', path);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, list]);
  });

  it.each(['/console/connected-agents/revoke', '/console/sessions/end', '/console/sessions/end-others'])(
    '403 · a form of %s without its token changes nothing',
    async (path) => {
      const visit = await visitor();
      const fields = { csrf_token: 'wrong', session_id: 'x' };
      expect((await world.form(path, fields, { session: visit.session })).status).toBe(403);
    },
  );

  it('200 · say what to do first to somebody who is in no organization', async () => {
    const session = await world.session(await world.person(`newcomer${++count}`));
    for (const path of ['/console/tokens', '/console/connected-agents']) {
      const page = await open(path, session);
      expect([page.status, page.body.includes('You belong to no organization yet')]).toEqual([200, true]);
    }
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
