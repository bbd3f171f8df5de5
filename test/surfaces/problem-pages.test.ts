// Error pages for browsers that request a page which does not exist, or which the person may not see. Error pages also link to other pages.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwner } from '../support/callers.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let alice: Session;
beforeAll(async () => {
  world = await openWorld();
  const { person } = await createOwner(world, 'Alice', 'Acme');
  alice = await world.session(person);
});
afterAll(() => world.close());

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const navigation = '<nav aria-label="Console">';

it.each(['/nowhere', '/console/nowhere', '/console/tokens/nowhere', '/development'])(
  '404 · a browser gets an error page at %s, with the navigation of the console if the person is signed in',
  async (path) => {
    const page = await world.request('GET', path, { headers: browser, session: alice });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.body).toContain('<h1>Not found</h1>');
    expect(page.body).toContain(navigation);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const stranger = await world.request('GET', path, { headers: browser });
    expect([stranger.status, stranger.body.includes(navigation)]).toEqual([404, false]);
    const head = await world.request('HEAD', path, { headers: browser });
    expect([head.status, head.body]).toEqual([404, '']);
  },
);

it('404 · programs get JSON for an unknown path, and so does anything that is not a page load', async () => {
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
    const { status, body } = await world.request('GET', '/nowhere', { headers });
    expect([status, body.code]).toEqual([404, 'not_found']);
  }
  const posted = await world.request('POST', '/nowhere', { headers: browser, body: {} });
  expect([posted.status, posted.body.code]).toEqual([404, 'not_found']);
  const api = await world.request('GET', '/v1/nowhere', { headers: browser, session: alice });
  expect([api.status, api.body.code]).toEqual([404, 'not_found']);
});

it('404 and 403 · errors of console pages keep the navigation', async () => {
  for (const path of ['/runs/run_none', '/projects/prj_none', '/issues/iss_none', '/checkout/chk_none']) {
    const page = await world.request('GET', `/console/o/acme${path}`, { session: alice });
    expect([page.status, page.body.includes(navigation)]).toEqual([404, true]);
  }
  const forged = await world.request('POST', '/console/sessions/end', {
    session: alice,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'csrf_token=wrong',
  });
  expect([forged.status, forged.body.includes(navigation)]).toEqual([403, true]);
});

it.each([
  ['/console/overview', 'Overview'],
  ['/console/projects', 'Projects'],
  ['/console/issues', 'Issues'],
  ['/console/tokens', 'Tokens'],
  ['/console/connected-agents', 'Connected agents'],
  ['/console/notifications', 'Notifications'],
])(
  '200 · the page %s keeps its title for a person without an organization, and says what to do first',
  async (path, title) => {
    const nobody = await world.request('GET', path);
    expect([nobody.status, nobody.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(path)}`,
    ]);
    const session = await world.session(await world.person(`newcomer-${title.replace(' ', '-')}`));
    const { status, body } = await world.request('GET', path, { session });
    expect([status, body.includes(`<h1>${title}</h1>`), body.includes('Create organization')]).toEqual([
      200,
      true,
      true,
    ]);
  },
);
