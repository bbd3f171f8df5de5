// The page that lists a person's sessions, requested over real HTTP. programs/surfaces/pages-in-browser.test.ts tests this page in a browser.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { deviceName } from '../../src/surfaces/console/device.ts';
import { type OAuthWorld, openOAuthWorld } from '../support/oauth-world.ts';
import type { Answer, Session } from '../support/world.ts';

let world: OAuthWorld;
beforeAll(async () => {
  world = await openOAuthWorld();
});
afterAll(() => world.close());

interface Visit {
  person: Person;
  organization: Organization;
  session: Session;
}
let count = 0;
const visitor = (role: OrgRole = 'owner'): Promise<Visit> => world.visitor(`person${++count}`, role);

const open = (path: string, session: Session) => world.request('GET', path, { session });
const submit = (path: string, session: Session, fields: Record<string, string>) =>
  world.form(path, [['csrf_token', session.csrf], ...Object.entries(fields)], { session });
const said = (page: Answer): string | undefined => /class="note good" role="status">([^<]*)</.exec(page.body)?.[1];

describe('Sessions', () => {
  it('the sessions page requires sign-in, is marked in the menu, and has no inline script or style', async () => {
    const nobody = await world.request('GET', '/console/sessions');
    expect([nobody.status, nobody.headers.get('location')]).toEqual([303, '/sign-in?return_to=%2Fconsole%2Fsessions']);
    const page = await open('/console/sessions', (await visitor()).session);
    expect([page.status, page.body.match(/aria-current/g)]).toEqual([200, ['aria-current']]);
    expect(page.body).toContain('<a href="/console/sessions" aria-current="page">');
    // The only script is the service's own, for the menu.
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(page.body.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/src="\/console\/console\.js\?v=/)]);
  });

  it.each(['end', 'end-others'])(
    '303 · GET on /console/sessions/%s redirects to the list of sessions; 403 · a form without its token is refused',
    async (name) => {
      const path = `/console/sessions/${name}`;
      const answer = await world.request('GET', path);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/sessions']);
      const { session } = await visitor();
      expect((await world.form(path, { csrf_token: 'wrong', session_id: 'x' }, { session })).status).toBe(403);
    },
  );

  const rows = (page: Answer) =>
    [...String(page.body).matchAll(/name="session_id" value="([^"]+)"/g)].map(([, id]) => id!);

  it('sessions are listed by browser, the current one first, and one session or all other sessions can be ended', async () => {
    const visit = await visitor();
    const others = [
      await world.session(visit.person),
      await world.session(visit.person),
      await world.session(visit.person),
    ];
    await visitor();
    const statements: string[] = [];
    const unwatch = watchStatements((text) => statements.push(text));
    const page = await open('/console/sessions', visit.session);
    unwatch();
    // One statement reads the session, one reads the organizations of the person with the roles, and one reads the person's list of sessions.
    expect(statements).toHaveLength(3);
    expect(page.body).toContain('From 127.0.0.1');
    expect(page.body.match(/This browser/g)).toHaveLength(1);
    expect(page.body.indexOf('This browser')).toBeLessThan(page.body.indexOf('session_id'));
    expect(rows(page)).toHaveLength(3);

    const ended = await submit('/console/sessions/end', visit.session, { session_id: rows(page)[0]! });
    expect(rows(ended)).toHaveLength(2);
    const all = await submit('/console/sessions/end-others', visit.session, {});
    expect([rows(all), said(all)]).toEqual([[], '2 other sessions were ended. Only this browser is signed in.']);
    for (const other of others) expect((await open('/console/account', other)).status).toBe(303);
    expect((await open('/console/account', visit.session)).status).toBe(200);
    const none = await submit('/console/sessions/end-others', visit.session, {});
    expect(said(none)).toBe('No other session was open. Only this browser is signed in.');
  });

  it('404 · another person’s session cannot be ended; 303 · ending one’s own redirects to sign-in and deletes the cookie', async () => {
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

describe('Devices of sessions', () => {
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
  ])('the User-Agent of a session is shown as: %s', (name, userAgent) => expect(deviceName(userAgent)).toBe(name));
});
