// The page on which an owner closes an organization. Its rules are tested over HTTP. Its use is tested in a real browser, where the tests find
// elements by role and label.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner } from '../../support/callers.ts';
import { createPageInspector } from '../../support/page-inspector.ts';
import { openWorld, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

let world: World;
let owner: Person;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
  owner = await world.person('Owner');
});
afterAll(() => world.close());

async function founded(): Promise<{ org: Organization; session: Session }> {
  const { organization: org } = await createOwner(world, owner, `Works ${++count}`);
  return { org, session: await world.session(owner, org.id) };
}

const pageOf = ({ slug }: Organization) => `/console/o/${slug}/closure`;
const show = (session: Session, org: Organization) => world.request('GET', pageOf(org), { session });
function send(session: Session, org: Organization, fields: Record<string, string> = {}, below = '') {
  const body = new URLSearchParams({ csrf_token: session.csrf, ...fields }).toString();
  return world.request('POST', pageOf(org) + below, {
    session,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
}
const isClosed = async ({ id }: Organization): Promise<boolean> =>
  (await world.knex('organizations').where({ id }).first()).closedAt !== null;

describe('Closing an organization by form', () => {
  it('400 · the closure form names the expected text when the slug does not match', async () => {
    const { org, session } = await founded();
    const { status, body } = await send(session, org, { confirm_slug: 'other' });
    expect([status, body.includes(`Type ${org.slug} to confirm.`)]).toEqual([400, true]);
    expect(await isClosed(org)).toBe(false);
  });

  it('403 · the closure form is accepted only from owners, and only from pages of the service', async () => {
    const { org, session } = await founded();
    const { person: admin } = await createMember(world, org, `Admin ${count}`, 'admin');
    const theirs = await world.session(admin, org.id);
    expect((await show(theirs, org)).status).toBe(403);
    expect((await send(theirs, org, { confirm_slug: org.slug })).status).toBe(403);
    const foreign = { confirm_slug: org.slug, csrf_token: 'x' };
    expect((await send(session, org, foreign)).status).toBe(403);
    expect((await world.request('GET', '/console/account', { session: theirs })).body).not.toContain(pageOf(org));
    expect(await isClosed(org)).toBe(false);
  });

  it('400, 404 · the closure form refuses a person who does not belong to the organization, and a slug that is not the slug of the organization', async () => {
    const [first, second] = [await founded(), await founded()];
    expect((await send(second.session, first.org, { confirm_slug: second.org.slug })).status).toBe(400);
    const stranger = await world.session(await world.person(`Stranger ${count}`));
    expect((await send(stranger, first.org, { confirm_slug: first.org.slug })).status).toBe(404);
    expect([await isClosed(first.org), await isClosed(second.org)]).toEqual([false, false]);
  });
});

describe.skipIf(typeof launched === 'string')('Closing an organization in a browser', () => {
  const browser = launched as Browser;

  it('an owner closes an organization by typing its slug, and sees that its unused credits were forfeited', async () => {
    const { org, session } = await founded();
    const pages = createPageInspector(browser, world.url);
    const page = await pages.open(session);
    await page.goto('/console/account');
    await page.getByRole('link', { name: `Close ${org.name}` }).click();
    await page.getByRole('heading', { name: 'Close the organization' }).waitFor();
    await pages.inspect(page, 'closure-form');
    await page.getByLabel(`Type ${org.slug} to confirm`).fill(org.slug);
    await page.getByRole('button', { name: 'Close organization' }).click();
    await page.getByRole('heading', { name: `${org.name} is closed` }).waitFor();
    await page.getByText('100 unused credits were forfeited.').waitFor();
    await pages.inspect(page, 'closure-closed');
    await page.getByRole('link', { name: 'Go to your organizations' }).click();
    await page.getByRole('link', { name: `See the closure of ${org.name}` }).waitFor();
    await pages.inspect(page, 'closure-home');
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
});

describe('The export of a closed organization', () => {
  const shown = async (session: Session, org: Organization) => (await show(session, org)).body as string;

  it('an export that the closure form requests can be downloaded on the page of the closed organization', async () => {
    const { org, session } = await founded();
    await send(session, org, { confirm_slug: org.slug, export_data: 'yes' });
    expect(await shown(session, org)).toContain('The archive is being prepared.');
    await world.delivered();
    const [, href] = /href="([^"]*)">Download the data/.exec(await shown(session, org))!;
    const answer = await fetch(href!.replaceAll('&amp;', '&'));
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="export-${org.id}.zip"`,
    ]);
    await answer.body!.cancel();
  });

  it('an export is requested with a button on the page of a closed organization', async () => {
    const { org, session } = await founded();
    expect((await send(session, org, {}, '/export')).status).toBe(409);
    await send(session, org, { confirm_slug: org.slug });
    expect(await shown(session, org)).toContain('Export the data</button>');
    expect((await send(session, org, {}, '/export')).status).toBe(303);
    expect(await shown(session, org)).toContain('The archive is being prepared.');
    expect(await shown(session, org)).not.toContain('Export the data</button>');
  });
});
