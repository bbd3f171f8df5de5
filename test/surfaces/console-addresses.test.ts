// A link to a page of the console names an organization. The link works whichever organization its reader has opened last, but only if the
// reader is a member of the organization in the link.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { nearestPage } from '#surfaces/console/pages.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let session: Session;
let acme: Organization;
let globex: Organization;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme'));
  world.clock.turn(1);
  ({ organization: globex } = await createOwner(world, alice, 'Globex'));
  session = await world.session(alice, acme.id);
  projectId = await createProject(world, { session, headers: { 'x-org-id': globex.id } }, 'Ships');
});
afterAll(() => world.close());

const get = (path: string, as: Session | null = session) => world.request('GET', path, { ...(as && { session: as }) });
const leadsTo = async (path: string, as: Session | null = session) => {
  const { status, headers } = await get(path, as);
  return [status, headers.get('location')];
};
const post = (path: string, fields: object, as = session) =>
  world.request('POST', path, {
    session: as,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrf_token: as.csrf, ...fields }).toString(),
  });
const organizationShown = (body: string) => /data-org="([^"]*)"/.exec(body)?.[1];

it('200 · two tabs show two organizations, and the last one opened is the person’s start page', async () => {
  for (const organization of [globex, acme, globex]) {
    const { status, body } = await get(`/console/o/${organization.slug}/projects`);
    expect([status, organizationShown(body)]).toEqual([200, organization.id]);
    expect(body).toContain(`data-base="/console/o/${organization.slug}"`);
  }
  expect(await leadsTo('/console')).toEqual([303, '/console/o/globex/inbox']);
  expect(await leadsTo('/console/o/acme')).toEqual([303, '/console/o/acme/inbox']);
});

it('200 · the switcher links to the same page of the other organization; from a record it links to the list', async () => {
  expect((await get('/console/o/acme/billing/ledger')).body).toContain('href="/console/o/globex/billing/ledger"');
  expect((await get(`/console/o/globex/projects/${projectId}`)).body).toContain('href="/console/o/acme/projects"');
  expect(['/tasks/sch_1', '/sandboxes/sbx_1', '/attempts/atg_1'].map(nearestPage)).toEqual([
    '/schedules',
    '/runs',
    '/runs',
  ]);
  expect((await get('/console/sessions')).body).toMatch(/href="\/console\/o\/\w+\/inbox" data-base/);
});

it('200 · the menu marks the page, or the list to which the page belongs', async () => {
  const marked = async (path: string) =>
    [...(await get(path)).body.matchAll(/href="([^"]*)" aria-current="(\w+)"/g)].map(([, ...mark]) => mark);
  expect(await marked('/console/o/acme/schedules')).toEqual([['/console/o/acme/schedules', 'page']]);
  expect(await marked('/console/o/acme/tasks/new')).toEqual([['/console/o/acme/schedules', 'true']]);
  expect(await marked('/console/o/globex/projects/new')).toEqual([['/console/o/globex/projects', 'true']]);
  expect(await marked('/console/sessions')).toEqual([['/console/sessions', 'page']]);
});

it('303 · a URL without an organization redirects to the organization of its record, or else to the organization that was opened last', async () => {
  await get('/console/o/acme/overview');
  expect(await leadsTo(`/console/projects/${projectId}`)).toEqual([303, `/console/o/globex/projects/${projectId}`]);
  expect(await leadsTo('/console/projects/prj_none')).toEqual([303, '/console/o/acme/projects/prj_none']);
  expect(await leadsTo('/console/runs?kind=manual')).toEqual([303, '/console/o/acme/runs?kind=manual']);
  expect(await leadsTo('/console/runs', null)).toEqual([303, '/sign-in?return_to=%2Fconsole%2Fruns']);
});

it('404 · people without a membership get the same page for an existing organization as for an unknown one, and cannot close it', async () => {
  const stranger = await world.session(await world.person('Mallory'));
  const answers = await Promise.all(['acme', 'not-there'].map((slug) => get(`/console/o/${slug}/overview`, stranger)));
  const [there, nowhere] = answers.map(({ status, body }) => [status, body.replace(/Request <code>[^<]*/, '')]);
  expect(there).toEqual(nowhere);
  expect(there![0]).toBe(404);
  const closing = await post('/console/o/acme/closure', { confirm_slug: 'acme' }, stranger);
  expect(closing.status).toBe(404);
  expect((await world.knex('organizations').where({ id: acme.id }).first()).closedAt).toBeNull();
  const signIn = (slug: string) => [303, `/sign-in?return_to=${encodeURIComponent(`/console/o/${slug}/overview`)}`];
  for (const slug of ['acme', 'not-there'])
    expect(await leadsTo(`/console/o/${slug}/overview`, null)).toEqual(signIn(slug));
});

it('303 · the organization for which a checkout was started gets the paid credits, even if the person has opened another organization meanwhile', async () => {
  const body = { offer: 'pack', quantity: 1, startNowConsent: true };
  const headers = { 'x-org-id': globex.id };
  const { url } = (await world.rest('POST', '/billing/checkout-sessions', { session, headers, body })).body;
  await get('/console/o/acme/overview');
  const page = url.slice(world.url.length);
  expect((await get(page)).body).toContain('This is test money');
  await get('/console/o/acme/overview');
  expect((await post(page, {})).status).toBe(303);
  const paid = await world.rest('GET', '/billing/summary', { session, headers });
  expect(paid.body.balance).toBe(200);
});

it('303 · former slugs of a renamed organization redirect, unless another organization of the person has the slug', async () => {
  const { organization: initech } = await createOwner(world, alice, 'Initech');
  const there = await world.session(alice, initech.id);
  const rename = (slug: string) =>
    world.rest('PATCH', `/organizations/${initech.id}`, {
      session: there,
      headers: { 'x-org-id': initech.id },
      body: { slug },
    });
  for (const slug of ['initrode', 'initrode', 'initech-2', 'initrode']) expect((await rename(slug)).status).toBe(200);
  expect(await leadsTo('/console/o/initech/runs?kind=manual')).toEqual([303, '/console/o/initrode/runs?kind=manual']);
  expect(await leadsTo('/console/o/initech-2/runs')).toEqual([303, '/console/o/initrode/runs']);
  const { organization: taken } = await createOwner(world, alice, 'Initech');
  expect(taken.slug).toBe('initech');
  expect(organizationShown((await get('/console/o/initech/runs')).body)).toBe(taken.id);
});
