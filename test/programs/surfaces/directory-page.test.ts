// The directory in a browser: a token is created and shown once, a group gets a role, and a provisioned person joins.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createOwner } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('The directory page', () => {
  let world: World;
  let owner: Account;
  let pages: PageInspector;
  beforeAll(async () => {
    world = await openWorld();
    owner = await createOwner(world, 'Ada', 'Acme');
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => world.close());

  it('an owner creates a directory token and gives a role to a group, and a provisioned person joins', async () => {
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto('/console/o/acme/directory');
    await page.getByText('The identity provider has not sent any users yet.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Entra ID');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.getByText(/^scm_[\w-]{43}$/).textContent())!;
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    await page.getByText(token).waitFor({ state: 'detached' });
    const provision = (path: string, body: object) => world.request('POST', `/scim/v2/${path}`, { token, body });
    const user = await provision('Users', { userName: 'grace@example.com', displayName: 'Grace Hopper' });
    await provision('Groups', { displayName: 'Platform admins', members: [{ value: user.body.id }] });
    await page.reload();
    await page.getByText('waiting to join').waitFor();
    expect(await page.getByText(/scm_/).count()).toBe(0);
    await page.getByLabel('Role of the members of Platform admins').selectOption('admin');
    await page.getByRole('button', { name: 'Save the role of Platform admins' }).click();
    await page.getByRole('button', { name: 'Save the role of Platform admins' }).waitFor({ state: 'detached' });
    await pages.inspect(page, 'directory');

    const theirs = await pages.open(await world.session(await world.person('Grace')));
    await theirs.goto('/console/account');
    await pages.inspect(theirs, 'directory offer');
    await theirs.getByRole('button', { name: 'Join Acme' }).click();
    await theirs.waitForURL('**/console/o/acme/inbox');
    await page.reload();
    await page.locator('.tag', { hasText: 'member' }).waitFor();
    await page.getByText('1 user').waitFor();
    expect(await page.getByText('waiting to join').count()).toBe(0);
  });
});
