// What people do in the console's application, in a real browser, by role and label: each form does what it says, and loses nothing
// when a connection or a session ends, or somebody else was faster.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organizations/model.ts';
import type { Row } from '#foundation/base-model.ts';
import { launchBrowser } from '../support/browser.ts';
import { createPageInspector, type PageInspector } from '../support/page-inspector.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

const launched = await launchBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('in the console', () => {
  const browser = launched as Browser;
  let world: World;
  let pages: PageInspector;
  let acme: Row<Organization>;
  let session: Session;
  let projectId: string;

  beforeAll(async () => {
    world = await openWorld();
    pages = createPageInspector(browser, world.url);
    const alice = await world.person('Alice');
    acme = await world.found(alice, 'Acme');
    await world.grant(acme, 10_000);
    await world.lift(acme);
    session = await world.session(alice, acme.id);
    projectId = await project('Web shop');
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  const project = async (name: string): Promise<string> => {
    const body = { name, repoFullName: `acme/${name.toLowerCase().replaceAll(' ', '-')}` };
    return (await world.rest('POST', '/projects', { session, body })).body.id;
  };
  const open = async (path: string): Promise<Page> => {
    const page = await pages.open(session);
    await page.goto(path);
    return page;
  };
  const runsWith = (prompt: string) => world.knex('runs').where({ orgId: acme.id, prompt });

  it('a mission is started with its bounds, and again with the same prompt', async () => {
    const page = await open(`/console/projects/${projectId}`);
    await page.getByRole('link', { name: 'Start mission' }).click();
    expect(await page.getByLabel('Project').inputValue()).toBe(projectId);
    await page.getByLabel('What is to be done').fill('Shorten the readme\n\nKeep the commands.');
    await page.getByLabel('Agent').selectOption({ index: 1 });
    await page.getByLabel('Plan').selectOption('Wait until a person has approved it');
    await page.getByLabel('Budget in US dollars').fill('2.5');
    await pages.inspect(page, 'mission-new');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('heading', { name: 'Shorten the readme' }).waitFor();
    const first = new URL(page.url()).pathname;
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/console/runs/run_') && url.pathname !== first);
    const rows = await runsWith('Shorten the readme\n\nKeep the commands.');
    expect(rows.map(({ budgetUsd, agentId }) => [budgetUsd, agentId !== null])).toEqual([
      [2.5, true],
      [2.5, true],
    ]);
  });

  it('what is wrong with a field is said beside it, and it gets the focus', async () => {
    const page = await open('/console/runs/new');
    await page.getByLabel('What is to be done').fill('Look around.');
    await page.getByLabel('Budget in US dollars').fill('20000');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByText('Must be at most 10000.').waitFor();
    const field = page.getByLabel('Budget in US dollars');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await pages.inspect(page, 'form-error');
    expect(await page.getByLabel('What is to be done').inputValue()).toBe('Look around.');
  });

  it('a lost answer: the form is sent once more and has happened once; without a connection nothing is lost', async () => {
    const page = await open('/console/runs/new');
    const keys: (string | undefined)[] = [];
    let lost = 0;
    const isStart = (text: string | null) => text?.includes('mutation StartMission') ?? false;
    await page.route('**/graphql', async (route) => {
      const request = route.request();
      if (!isStart(request.postData())) return route.continue();
      keys.push(request.headers()['idempotency-key']);
      // The service takes it; its answer gets lost.
      if (lost++ === 0) await route.fetch();
      return lost < 3 ? route.abort('connectionreset') : route.continue();
    });
    await page.getByLabel('What is to be done').fill('Once only.');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('alert').getByText('No connection').waitFor();
    expect(await page.getByLabel('What is to be done').inputValue()).toBe('Once only.');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('heading', { name: 'Once only.' }).waitFor();
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect(await runsWith('Once only.')).toHaveLength(1);
    for (const fault of pages.takeProblems()) expect(fault).toContain('ERR_CONNECTION_RESET');
  });

  it('a session that ends while a form is open: after the sign-in it stands there as it was', async () => {
    const page = await open('/console/runs/new');
    await page.getByLabel('What is to be done').fill('מרחבא 🌊 dünya');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.waitForURL('**/sign-in?return_to=*');
    await page.context().addCookies([{ name: 'session', value: session.secret, url: world.url }]);
    await page.goto(new URL(page.url()).searchParams.get('return_to')!);
    await page.getByText('What you had not sent is back.').waitFor();
    expect(await page.getByLabel('What is to be done').inputValue()).toBe('מרחבא 🌊 dünya');
    await page.getByRole('button', { name: 'Discard it' }).click();
    expect(await page.getByLabel('What is to be done').inputValue()).toBe('');
    for (const fault of pages.takeProblems()) expect(fault).toContain('401');
  });
});
