// The console in a real browser. It reads the rows that it shows in one request, and follows their changes. No page may have failures, send requests
// to other machines, or have serious accessibility problems that axe finds.
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember } from '../../support/callers.ts';
import { type Morning, openMorning } from '../../support/console-morning.ts';
import { spend } from '../../support/runtime-records.ts';
import { present, type Session } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('The console application', () => {
  let morning: Morning;
  let world: Morning['world'];
  let pages: Morning['pages'];
  let acme: Morning['acme'];
  let shop: Morning['shop'];
  let running: Morning['running'];
  let sandbox: Morning['sandbox'];
  let another: Morning['another'];
  let project: Morning['project'];
  beforeAll(async () => {
    morning = await openMorning(launched as Browser);
    ({ world, pages, acme, shop, running, sandbox, another, project } = morning);
  });
  afterEach(() => morning.check());
  afterAll(() => morning.close());

  const open = (session: Session | null = acme.session, options?: BrowserContextOptions) =>
    pages.open(session, options);
  const inspect = (page: Page, name: string) => pages.inspect(page, name);

  /** The number of operations in each GraphQL request, in order. */
  function countRequests(page: Page): number[] {
    const asked: number[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/graphql' && request.method() === 'POST')
        asked.push(request.postDataJSON().length);
    });
    return asked;
  }

  it('the overview shows the stored data, and one request loads all widgets', async () => {
    const page = await open(acme.session, {});
    const asked = countRequests(page);
    await page.addInitScript(`self.shift = 0; new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shift += value;
    }).observe({ type: 'layout-shift', buffered: true })`);
    await page.goto('/console/overview');
    const card = (name: string) => page.getByRole('region', { name });
    await card('Missions in progress').getByText('Measuring the slow queries').waitFor();
    await card('Missions in progress').getByText('Write release notes').waitFor();
    await card('Recent missions').getByText('Find dead code').first().waitFor();
    expect(await card('Recent missions').getByText('Write release notes').count()).toBe(0);
    await card('Cost today').getByText('of $100.00').waitFor();
    await card('Sandboxes').getByRole('img', { name: 'CPU, now at 48 %' }).waitFor();
    await card('Next').getByText('Nightly clean-up').waitFor();
    expect(asked).toEqual([6]);
    // Space is reserved for data that has not loaded (Cumulative Layout Shift; 0.1 is good).
    expect(await page.evaluate('shift')).toBeLessThan(0.1);
    await inspect(page, 'overview');
  });

  it('the overview shows the next step of setup, lets a person skip and restore steps, and hides setup once it is complete', async () => {
    const bob = await another('Setup');
    const page = await open(bob.session);
    await page.goto('/console/overview');
    const card = page.getByRole('region', { name: 'Setup' });
    // The runtimes of this test have models, so the setup step that connects a model is done.
    await card.getByRole('heading', { name: 'Next step: Connect a source host' }).waitFor();
    await card.getByRole('link', { name: 'Connect source host', exact: true }).waitFor();
    await card.getByText('1 of 14 done').waitFor();
    const code = { vendor: 'github', vendorKind: 'scm', displayName: 'Code', credentials: 'secret' } as const;
    await connectIntegration({ orgId: bob.organization.id, ...code });
    await page.reload();
    await card.getByRole('heading', { name: 'Next step: Create a project' }).waitFor();
    await card.getByText('Guides: 0 of 3 completed').click();
    await card.getByRole('button', { name: 'Start: Watch your missions' }).click();
    await card.getByText('1 of 3: The overview').waitFor();
    for (const step of [2, 3]) {
      await card.getByRole('button', { name: 'Next: Watch your missions' }).click();
      await card.getByText(`${step} of 3: `).waitFor();
    }
    await card.getByRole('button', { name: 'Finish: Watch your missions' }).click();
    await card.getByText('Guides: 1 of 3 completed').waitFor();
    await project('Search', bob);
    await page.reload();
    await card.getByRole('heading', { name: 'Next step: Complete a mission' }).waitFor();
    await card.getByRole('link', { name: 'Start mission' }).waitFor();
    await card.getByRole('button', { name: 'Skip Complete a mission' }).first().click();
    await card.getByRole('heading', { name: 'Next step: Have a change reviewed' }).waitFor();
    await card.getByText('All steps').click();
    await inspect(page, 'setup-steps');
    await card.getByRole('button', { name: 'Bring back Complete a mission' }).click();
    await card.getByRole('heading', { name: 'Next step: Complete a mission' }).waitFor();
    for (const group of ['first_mission', 'team', 'explore']) {
      const body = { mark: 'skipped' };
      await world.rest('PATCH', `/setup/groups/${group}`, { session: bob.session, body });
    }
    await page.reload();
    await page.getByRole('region', { name: 'Recent missions' }).waitFor();
    expect(await card.count()).toBe(0);
  });

  it('the overview shows notices, which a person can dismiss', async () => {
    const bob = await another('Notices');
    const place = await project('Search', bob);
    await spend(place, 120);
    const page = await open(bob.session);
    await page.goto('/console/overview');
    const notices = page.getByRole('region', { name: 'Notices' });
    await notices.getByText('The daily cost cap is reached').first().waitFor();
    await inspect(page, 'notices');
    await notices.getByRole('button', { name: 'Dismiss The daily cost cap is reached' }).click();
    await notices.waitFor({ state: 'detached' });
  });

  it.each(['en-US@posix', 'C', '', 'xx-invalid-subtag-much-too-long'])(
    'the console is rendered for any browser language: "%s"',
    async (language) => {
      const page = await open(acme.session, {});
      await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => '${language}' })`);
      await page.goto(`/console/sandboxes/${sandbox.id}`);
      await page.locator('.chart canvas').first().waitFor();
    },
  );

  it('the overview refreshes every ten seconds in one request, while the page is visible', async () => {
    const page = await open(acme.session, {});
    const asked = countRequests(page);
    await page.clock.install();
    await page.goto('/console/overview');
    await page.getByText('Measuring the slow queries').first().waitFor();
    await world.knex('runs').where({ id: running }).update({ missionActivity: 'Comparing the plans' });
    await page.clock.runFor(seconds(10));
    await page.getByText('Comparing the plans').first().waitFor();
    expect(asked).toEqual([6, 6]);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
    await page.clock.runFor(minutes(1));
    // While it is hidden, the page asks only for the number of items in the inbox, which the title of its tab shows.
    expect(asked).toEqual([6, 6, 1]);
    await world.knex('runs').where({ id: running }).update({ missionActivity: 'Measuring the slow queries' });
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
    await page.clock.runFor(1);
    await page.getByText('Measuring the slow queries').first().waitFor();
    expect(asked).toEqual([6, 6, 1, 6]);
  });

  it('pages of a project, a run and a sandbox are shown in light and dark colors', async () => {
    const page = await open();
    const visit = async (address: string, words: string, name: string) => {
      await page.goto(address);
      await page.getByText(words).first().waitFor();
      await inspect(page, name);
    };
    await visit(`/console/projects/${shop.projectId}`, 'Monthly report', 'project');
    await visit(`/console/runs/${running}`, 'An index brings p95', 'run');
    await visit(`/console/sandboxes/${sandbox.id}?session=builder:first`, 'p50 412 ms', 'sandbox');
  });

  it('navigation loads no new document, and updates title, heading, menu and history', async () => {
    const page = await open();
    await page.goto('/console/overview');
    // Waits until the application has rendered the page. Before that, a click on a link would make the browser load a new document.
    await page.getByRole('region', { name: 'Sandboxes' }).waitFor();
    const loaded = await page.evaluate('performance.timeOrigin');
    const current = () => page.locator('.menu [aria-current]').textContent();
    const arrived = async (title: string, marked: string) => {
      const heading = page.getByRole('heading', { level: 1, name: title });
      await heading.waitFor();
      await expect.poll(() => heading.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
      expect((await page.title()).replace(/^\(\d+\) /, '')).toBe(`${title} · Agent Engineering Platform`);
      expect([await current(), await page.evaluate('performance.timeOrigin')]).toEqual([marked, loaded]);
    };
    const menu = page.getByRole('navigation', { name: 'Console' });
    await menu.getByRole('link', { name: 'Projects' }).click();
    await arrived('Projects', 'Projects');
    await page.getByRole('link', { name: 'Web shop' }).click();
    await arrived('Web shop', 'Projects');
    await page.getByRole('link', { name: 'Speed up the product list' }).click();
    await arrived('Speed up the product list', 'Missions');
    expect(await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link').allTextContents()).toEqual([
      'Missions',
      'Web shop',
    ]);
    await page.goBack();
    await arrived('Web shop', 'Projects');
    await page.goForward();
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Missions' }).click();
    await arrived('Missions', 'Missions');
    // The page of sessions is not part of the application. The server renders it as a document of its own, with the same menu.
    await menu.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await current()).toBe('Sessions');
  });

  it('Back restores the scroll position of a list; a link that is clicked without a connection opens its page once the connection is back', async () => {
    const page = await open();
    await page.setViewportSize({ width: 1100, height: 300 });
    await page.goto('/console/runs');
    await page.getByRole('link', { name: 'Speed up the product list' }).waitFor();
    await page.mouse.move(500, 200);
    await page.mouse.wheel(0, 350);
    await expect.poll(() => page.evaluate('Math.round(scrollY)')).toBe(350);
    await page
      .locator('.run-row .row-link')
      .last()
      .evaluate((link: HTMLAnchorElement) => link.click());
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).waitFor();
    await expect.poll(() => page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await expect.poll(() => page.evaluate('Math.round(scrollY)')).toBe(350);

    await page.context().setOffline(true);
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByText('No connection. The page opens').waitFor();
    await page.getByRole('heading', { name: 'Missions', level: 1 }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    await page.getByText('No connection. The page opens').waitFor({ state: 'detached' });
    // The link works from the application and from a page that the server renders.
    for (const next of ['Sessions', 'Account']) {
      await page.context().setOffline(true);
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: next, exact: true }).click();
      await page.getByText('You are offline. The page opens').waitFor();
      await page.context().setOffline(false);
      await page.waitForURL(`**/console/${next.toLowerCase()}`);
    }
    await page.context().setOffline(true);
    await page.getByText('Change name').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('You are offline. Nothing was sent').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline').waitFor({ state: 'detached' });
    for (const problem of pages.takeProblems())
      expect(problem).toMatch(/ERR_INTERNET_DISCONNECTED|dynamically imported/);
  });

  it('a page of the console loads at most 120 kB of script', async () => {
    for (const path of ['/console/overview', `/console/runs/${running}`, '/console/runs', '/console/billing']) {
      const page = await open(acme.session, {});
      const sizes: Promise<number>[] = [];
      const note = (response: Response) => {
        if (response.request().resourceType() === 'script')
          sizes.push(
            response
              .request()
              .sizes()
              .then(({ responseBodySize }) => responseBodySize),
          );
      };
      page.on('response', note);
      await page.goto(path);
      await page.getByRole('region').first().waitFor();
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect([path, total > 10_000 && total < 120_000]).toEqual([path, true]);
    }
  });

  it('records of another organization are not found; a page without a session redirects to sign-in, which returns to that page', async () => {
    const mallory = await another('Initech');
    const page = await open(mallory.session);
    for (const path of [
      `projects/${shop.projectId}`,
      `runs/${running}`,
      `sandboxes/${sandbox.id}`,
      'runs/run_unknown',
    ]) {
      const answer = await page.goto(`/console/${path}`);
      expect(answer!.status()).toBe(404);
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
    }
    // The browser itself logs failed requests.
    expect(pages.takeProblems()).toHaveLength(4);
    const stranger = await open(null);
    await stranger.goto(`/console/runs/${running}`);
    expect(new URL(stranger.url()).search).toBe(`?return_to=${encodeURIComponent(`/console/runs/${running}`)}`);
  });

  it('a viewer sees no buttons for actions on the page of a project', async () => {
    const { person: viewer } = await createMember(world, acme.organization, 'Vera', 'viewer');
    const page = await open(await world.session(viewer, acme.organization.id));
    await page.goto(`/console/projects/${shop.projectId}`);
    await page.getByText('Weekly audit').waitFor();
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0);
  });

  it('the overview and the missions of an empty organization explain what a mission is and offer the first action', async () => {
    const carol = await another('Umbrella');
    const page = await open(carol.session);
    await page.goto('/console/overview');
    await page.getByText('curl').waitFor();
    expect(await page.locator('.commands').textContent()).toContain(`curl ${world.url}/v1/projects`);
    await inspect(page, 'empty');
    const { projectId } = await project('First', carol);
    await page.goto('/console/overview');
    await page.getByText(`"projectId": "${projectId}"`).waitFor();
    await page.goto('/console/runs');
    const missions = page.getByRole('region', { name: 'All missions' });
    await missions.getByText('A mission is one piece of work that an agent does in a project.').waitFor();
    await inspect(page, 'missions-empty');
    await missions.getByRole('link', { name: 'Start mission' }).click();
    await page.getByRole('heading', { name: 'Start a mission', level: 1 }).waitFor();

    const nobody = await open(await world.session(await world.person('Nobody')));
    await nobody.goto('/console/overview');
    await nobody.getByRole('link', { name: 'Create organization' }).click();
    await nobody.getByRole('heading', { name: 'Welcome, Nobody' }).waitFor();
  });

  it('an error is shown with the message of the API, and retried on request', async () => {
    const page = await open();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        status: 503,
        json: {
          errors: [
            {
              message: '',
              extensions: { problem: { title: 'Temporarily unavailable', description: 'Try again soon.' } },
            },
          ],
        },
      }),
    );
    await page.goto('/console/runs');
    const alert = page.getByRole('alert').first();
    await alert.getByText('Temporarily unavailable').waitFor();
    await alert.getByText('Try again soon.').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Find dead code').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(pages.takeProblems()[0]).toContain('503');
  });

  it('the overview reads only the runs that it shows, out of 10,000', async () => {
    const dora = await another('Hooli');
    const { projectId } = await project('Search', dora);
    await world.knex.raw(
      `insert into runs (id, org_id, project_id, scheduled_for, kind, status, mission_title, started_at, finished_at, created_at, updated_at)
       select 'run_many_' || n, ?, ?, at, 'scheduled', 'completed', 'Run number ' || n, at, at, at, at
       from (select n, ?::bigint - n * 1000 as at from generate_series(1, 10000) n) one`,
      [dora.organization.id, projectId, present()],
    );
    const page = await open(dora.session);
    await page.goto('/console/overview');
    await page.getByText('Run number 1', { exact: true }).waitFor();
    await page.getByText('of $100.00').waitFor();
    const answered = page.waitForResponse(
      (response) => new URL(response.url()).pathname === '/graphql' && response.request().method() === 'POST',
    );
    await page.reload();
    expect((await (await answered).text()).match(/Run number/g)!.length).toBeLessThanOrEqual(20);

    await page.goto('/console/runs');
    await page.getByText('Run number 30', { exact: true }).waitFor();
    expect(await page.getByText('Run number 31', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('Run number 60', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('combobox', { name: /^Status/ }).selectOption('failed');
    await page.getByText('No mission matches the filters.').waitFor();
    expect(new URL(page.url()).search).toBe('?status=failed');
  });

  it('script files are cached for a year, and pages run no other scripts', async () => {
    const page = await world.request('GET', '/console/o/acme/overview', { session: acme.session });
    const [, script] = /<script type="module" src="([^"]+)">/.exec(page.body)!;
    const { status, headers } = await world.request('GET', script!);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' ${world.url} blob:; ` +
        `media-src 'self' ${world.url}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    );
    expect((await world.request('GET', '/console/application/main.tsx')).status).toBe(404);
  });
});
