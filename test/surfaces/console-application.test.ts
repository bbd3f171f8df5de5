// The console in a real browser: it shows the stored rows with one request, follows their changes, and carries out a
// person's actions. No page may have failures, requests to other machines, or serious findings of axe.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import type { Sandbox } from '#domain/work/sandboxes/model.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { openBrowser } from '../support/browser.ts';
import { createPageInspector, type PageInspector } from '../support/page-inspector.ts';
import { createRuntime } from '../support/runtime-client.ts';
import {
  leaveArtifact,
  measure,
  noteArtifact,
  openEnvironment,
  type Place,
  showFragments,
  spend,
  startSandbox,
  startSession,
  writeLog,
  writeMessages,
  writeSteps,
} from '../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('the console', () => {
  const browser = launched as Browser;
  let world: World;
  let folder: string;
  let acme: Owner;
  let shop: Place;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    pages = createPageInspector(browser, world.url);
    folder = mkdtempSync(path.join(tmpdir(), 'aep-console-'));
    openStorage(folderStorage(folder));
    acme = await another('Acme');
    shop = await project('Web shop');
    await everything();
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  interface Owner {
    organization: Organization;
    session: Session;
    token: string;
  }
  /** A new organization with its owner. */
  async function another(name: string): Promise<Owner> {
    const owner = await world.person(`Owner-of-${name}`);
    const organization = await world.found(owner, name);
    const session = await world.session(owner, organization.id);
    return { organization, session, token: await world.token(owner, organization) };
  }

  async function project(name: string, { organization, token } = acme): Promise<Place> {
    const body = { name, repoFullName: `${organization.slug}/${name.toLowerCase().replaceAll(' ', '-')}` };
    return { orgId: organization.id, projectId: (await world.rest('POST', '/projects', { token, body })).body.id };
  }

  const schedule = (more: object) => [{ kind: 'schedule', schedule: { timezone: 'Pacific/Auckland', ...more } }];
  async function recurring(
    kind: 'scheduled-tasks' | 'automations',
    name: string,
    triggers: unknown,
    { projectId } = shop,
    { token } = acme,
  ): Promise<void> {
    await world.rest('POST', `/${kind}`, { token, body: { projectId, name, prompt: 'Look after it.', triggers } });
  }

  /** A run in the state that its runtime left. */
  async function run(more: object): Promise<string> {
    const id = newId('run');
    const row = {
      id,
      ...shop,
      scheduledFor: present(),
      kind: 'scheduled',
      status: 'completed',
      missionCostUsd: 0.42,
      createdAt: present(),
      updatedAt: present(),
      ...more,
    };
    await world.knex('runs').insert(row);
    return id;
  }
  const held = () => ({ status: 'running', leaseId: newId('lease'), leaseUntil: present() + minutes(1) });

  let running: string;
  let sandbox: Sandbox;

  /** Sample data: a morning of an organization. */
  async function everything(): Promise<void> {
    const titles = ['Update dependencies', 'Find dead code', 'Check accessibility', 'Triage new issues'];
    for (let i = 0; i < 14; i++) {
      const at = present() - hours(9) + i * minutes(35);
      const status = i % 5 === 3 ? 'failed' : i % 7 === 5 ? 'skipped' : 'completed';
      await run({
        missionTitle: titles[i % 4],
        status,
        createdAt: at,
        missionCostUsd: status === 'skipped' ? 0 : 0.35 + (i % 4) * 0.61,
        ...(status === 'skipped'
          ? { reason: 'An earlier run is still open.' }
          : { startedAt: at + seconds(4), finishedAt: at + minutes(3 + (i % 5)) }),
        ...(status === 'failed' && { lastError: 'The tests of the checkout did not pass.' }),
      });
      if (status !== 'skipped') await spend(shop, 0.35 + (i % 4) * 0.61, { at });
    }
    await spend(shop, 18.2, { at: present() - hours(2) });
    running = await run({
      ...held(),
      kind: 'manual',
      missionTitle: 'Speed up the product list',
      missionProgress: 62,
      missionActivity: 'Measuring the slow queries',
      startedAt: present() - minutes(6),
      createdAt: present() - minutes(7),
      missionCostUsd: 1.27,
      issueId: 'iss_1',
      issueUrl: `${world.url}/console/issues`,
    });
    await run({ missionTitle: 'Write release notes', status: 'dispatching', issueId: 'iss_2' });
    sandbox = await startSandbox(shop, {
      runId: running,
      createdAt: present() - minutes(6),
      issueId: 'iss_1',
      lastCpuPct: 48.4,
      lastMemUsedMb: 1_840,
      lastMemTotalMb: 4_096,
      lastDiskUsedPct: 12.5,
    });
    const cpu = Array.from({ length: 72 }, (_, i) => 30 + 25 * Math.sin(i / 6) + (i % 5) * 4);
    await measure(sandbox, present() - minutes(6), seconds(5), cpu);
    await showFragments(sandbox, [
      {
        kind: 'plan',
        items: [
          { content: 'Measure', status: 'completed' },
          { content: 'Add an index', status: 'in_progress' },
          { content: 'Measure again', status: 'pending' },
        ],
      },
      { kind: 'thought', body: 'The list is read without an index on `category_id`.' },
      { kind: 'action', action: 'Bash', parameter: 'npm run bench -- products', result: 'p50 412 ms\np95 1 830 ms' },
      { kind: 'response', body: 'An index brings p95 from 1.8 s to 40 ms. I am writing the migration.' },
    ]);
    const sitting = await startSession(sandbox, { sessionId: 'first', startedAt: present() - minutes(5) });
    await writeLog(sitting, 'session', ['> npm run bench\n', 'p50 412 ms\n']);
    await writeLog(sitting, 'system', ['Linux 6.12\n']);
    await writeLog(sitting, 'prompt', ['Use the house style of this repository.', 'Never push to main.']);
    await startSession(sandbox, { sessionId: 'second', outcome: 'done', startedAt: present() - minutes(1) });
    const proof = { sandboxId: sandbox.id, issueId: 'iss_1' };
    await leaveArtifact(shop, picture, {
      ...proof,
      kind: 'screenshot',
      contentType: 'image/png',
      caption: 'The product list, filled',
      criterion: 'The list shows within a second',
      criterionPassed: true,
    });
    await leaveArtifact(shop, '{"p95": 40}', {
      ...proof,
      kind: 'report',
      contentType: 'application/json',
      caption: 'Figures before and after',
      criterion: 'No page becomes slower',
      criterionPassed: false,
    });
    await leaveArtifact(shop, film, {
      ...proof,
      kind: 'video',
      contentType: 'video/webm',
      caption: 'Scrolling the list',
    });
    await steered(running);
    await openEnvironment(shop, { workerName: 'preview-17', prNumber: 17, expiresAt: present() + hours(5) });
    await recurring(
      'scheduled-tasks',
      'Weekly audit',
      schedule({ interval: 'weekly', weekday: 'monday', time: '09:00' }),
    );
    await recurring('scheduled-tasks', 'Nightly clean-up', schedule({ interval: 'daily', time: '02:30' }));
    await recurring('automations', 'Monthly report', schedule({ interval: 'monthly', dayOfMonth: 1, time: '08:00' }));
  }

  /** Adds steps of several roles and messages of a person to the run. */
  async function steered(runId: string): Promise<void> {
    const at = present();
    const review = {
      verdict: 'request_changes',
      comments: [{ path: 'products.sql', line: 3, body: 'Name the index.' }],
    };
    await writeSteps(shop, runId, [
      { role: 'planner', round: 0, costUsd: 0.08, output: JSON.stringify({ steps: ['Measure', 'Add an index'] }) },
      {
        costUsd: 0.64,
        inputTokens: 12_400,
        cachedInputTokens: 180_000,
        outputTokens: 8_200,
        startedAt: at - minutes(4),
      },
      { role: 'reviewer', costUsd: 0.21, output: JSON.stringify(review), harness: 'codex', model: 'gpt-5.1' },
      { round: 2, status: 'running', costUsd: 0.34, startedAt: at - minutes(1), finishedAt: null },
    ]);
    await writeMessages(shop, runId, [
      { kind: 'approval' },
      { text: 'Use the migration helper of the repository.', deliveredAt: at, acknowledgedAt: at },
      { text: 'And tell me what it gains.' },
    ]);
  }

  const open = (session: Session | null = acme.session) => pages.open(session);
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

  it('the overview shows the stored data, and one request carries all widgets', async () => {
    const page = await open();
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

  it('the overview leads through setup: the next step, skipping and resetting steps, until it is complete', async () => {
    const bob = await another('Setup');
    const page = await open(bob.session);
    await page.goto('/console/overview');
    const card = page.getByRole('region', { name: 'Setup' });
    // The runtimes of this world have models, so the step of setup that connects one is done.
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
    'is rendered for any browser language: "%s"',
    async (language) => {
      const page = await open();
      await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => '${language}' })`);
      await page.goto(`/console/sandboxes/${sandbox.id}`);
      await page.locator('.chart canvas').first().waitFor();
    },
  );

  it('the overview refreshes every ten seconds in one request, while the page is visible', async () => {
    const page = await open();
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
    // The count of the inbox, for the title of the tab.
    expect(asked).toEqual([6, 6, 1]);
    await world.knex('runs').where({ id: running }).update({ missionActivity: 'Measuring the slow queries' });
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
    await page.clock.runFor(1);
    await page.getByText('Measuring the slow queries').first().waitFor();
    expect(asked).toEqual([6, 6, 1, 6]);
  });

  it('a person answers a question by one of its choices, and denies the call of a tool with a reason', async () => {
    const runId = await run({ ...held(), missionTitle: 'Choose a colour' });
    const asking = await startSandbox(shop, { runId });
    const call = { action: 'ci.deploy', parameter: '{"environment":"production","version":"2.4.0"}', toolUseId: 'q2' };
    await showFragments(asking, [
      {
        kind: 'elicitation',
        body: 'Which colour shall the buttons have?',
        choices: ['Blue', 'Green'],
        toolUseId: 'q1',
      },
      { kind: 'elicitation', body: 'May I call deploy of the MCP server ci?', ...call },
    ]);
    const page = await open();
    await page.goto(`/console/runs/${runId}`);
    await page.getByText('"version": "2.4.0"').waitFor();
    await inspect(page, 'questions');
    await page.getByRole('button', { name: 'Blue' }).click();
    await page.getByRole('button', { name: 'Blue' }).waitFor({ state: 'detached' });
    await page.getByLabel('Reason for the agent').fill('Not on a Friday');
    await page.getByRole('button', { name: 'Deny call' }).click();
    await page.getByText('denied a tool call').waitFor();
    const said = await world.knex('run_messages').where({ runId }).orderBy('seq').select('kind', 'text', 'approved');
    expect(said).toEqual([
      { kind: 'answer', text: 'Blue', approved: null },
      { kind: 'answer', text: 'Not on a Friday', approved: false },
    ]);
    await world.knex('runs').where({ id: runId }).delete();
  });

  it('shows the pages of a project, a run and a sandbox in light and dark', async () => {
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

  it('navigation requests no new page; title, heading, menu and history are updated', async () => {
    const page = await open();
    await page.goto('/console/overview');
    // Before the application has rendered the page, a link requests a document.
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
    // A page that the server renders is another document, with the same menu.
    await menu.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await current()).toBe('Sessions');
  });

  it('Back returns to the position in the list; without a connection the page stays, and resumes once there is a connection', async () => {
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

  it('loads at most 120 kB of script with a page', async () => {
    for (const path of ['/console/overview', `/console/runs/${running}`, '/console/runs', '/console/billing']) {
      const page = await open();
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

  it('"Run now" starts a run and opens its page, which follows it to its end without a reload', async () => {
    const bob = await another('Globex');
    const place = await project('Search', bob);
    await recurring('scheduled-tasks', 'Re-index', schedule({ interval: 'daily', time: '02:30' }), place, bob);
    const page = await open(bob.session);
    await page.goto(`/console/projects/${place.projectId}`);
    await page.getByRole('button', { name: 'Run now: Re-index' }).click();
    await page.waitForURL('/console/o/globex/runs/run_*');
    await page.getByText('Waiting for a runtime').waitFor();
    await explainWaits();
    await page.getByText('No runtime with the harness claude-code or codex or opencode is connected.').waitFor();
    const loaded = await page.evaluate('performance.timeOrigin');

    const { claim, beat, register, report, finish } = await createRuntime(world, bob.organization);
    const held = await claim({ harnesses: ['claude-code', 'codex', 'opencode', 'shell'] });
    const { runId, leaseId } = held;
    expect(page.url()).toBe(`${world.url}/console/o/globex/runs/${runId}`);
    await beat(held, { progress: 40, activity: 'Reading the catalogue' });
    await page.getByText('Reading the catalogue').waitFor();
    expect(await page.getByRole('progressbar', { name: 'Progress' }).getAttribute('aria-valuenow')).toBe('40');

    const sandboxId = await register(held);
    await page.getByText('Nothing yet. What the agent thinks').waitFor();
    const think = (seq: number, body: string) =>
      report(
        'appendFragments',
        { sandboxId, leaseId, seq, fragments: [{ kind: 'thought', t: present(), body }] },
        '{ nextSeq }',
      );
    await think(0, 'There are two indexes.');
    await page.getByText('There are two indexes.').waitFor();
    await think(1, 'One of them is never read.');
    await page.getByText('One of them is never read.').waitFor();
    expect(await page.getByRole('list', { name: 'Work of the agent' }).locator('> li').count()).toBe(2);
    await report('reportCost', { ...held, costId: 'one', usd: 1.5 });
    await page.getByRole('region', { name: 'Status' }).getByText('$1.50').waitFor();
    await finish(held);
    await page.getByRole('region', { name: 'Status' }).getByText('completed').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel mission' }).count()).toBe(0);
    expect(await page.evaluate('performance.timeOrigin')).toBe(loaded);
  });

  it('where events cannot arrive, the page of a run polls', async () => {
    const id = await run({ ...held(), missionTitle: 'Behind a proxy', missionActivity: 'Beginning' });
    const page = await open();
    await page.route('**/graphql?*', (route) => route.abort());
    await page.clock.install();
    await page.goto(`/console/runs/${id}`);
    await page.getByText('Beginning').waitFor();
    await world.knex('runs').where({ id }).update({ missionActivity: 'Half way' });
    await page.clock.runFor(seconds(5));
    await page.getByText('Half way').waitFor();
    for (const fault of pages.takeProblems()) expect(fault).toContain('net::ERR_FAILED');
  });

  it('a run is steered: its plan is approved, its agent interrupted, resumed and sent a message', async () => {
    const steps = JSON.stringify({ steps: ['Rename the column'] });
    const waits = {
      status: 'dispatching',
      issueId: 'iss_3',
      awaitsApproval: true,
      reason: 'Waiting for a person to approve the plan.',
    };
    const id = await run({ missionTitle: 'Rename a column', ...waits });
    await writeSteps(shop, id, [
      { role: 'planner', round: 0, output: steps },
      { status: 'waiting', startedAt: null, finishedAt: null },
    ]);
    const page = await open();
    await page.goto(`/console/runs/${id}`);
    await page.getByRole('region', { name: 'Transcript' }).getByText('Rename the column').waitFor();
    await inspect(page, 'run-approval');
    await page.getByRole('button', { name: 'Approve plan' }).click();
    const messages = page.getByRole('region', { name: 'Messages' });
    await messages.getByText('approved the plan').waitFor();
    await page.getByRole('button', { name: 'Interrupt mission' }).click();
    await page.getByRole('button', { name: 'Resume mission' }).click();
    await page.getByRole('button', { name: 'Interrupt mission' }).waitFor();
    await page.getByLabel('Message to the agent').fill('Keep the old name as an alias.');
    await page.getByRole('button', { name: 'Send message' }).click();
    await messages.locator('p').getByText('Keep the old name as an alias.').waitFor();
    expect(await page.getByLabel('Message to the agent').inputValue()).toBe('');
    const rows = await world.knex('run_messages').where({ runId: id }).orderBy('seq');
    expect(rows.map(({ kind }) => kind)).toEqual(['approval', 'interrupt', 'resume', 'message']);
  });

  it('a mission without changes is marked, and its transcript shows the failures of each step', async () => {
    const ended = {
      kind: 'manual',
      status: 'completed',
      missionProgress: 100,
      startedAt: present(),
      finishedAt: present(),
    };
    const { userId } = await world.knex('memberships').where({ orgId: acme.organization.id }).first();
    const id = await run({
      missionTitle: 'Fix the dates',
      ...ended,
      openedRepository: true,
      billingActorUserId: userId,
    });
    const [first, second] = [
      await startSandbox(shop, { runId: id }),
      await startSandbox(shop, { runId: id, role: 'reviewer' }),
    ];
    await world.knex('sandboxes').where({ runId: id }).update({ status: 'completed', destroyedAt: present() });
    const call = { kind: 'action', action: 'Bash', toolUseId: 'toolu_1' } as const;
    const output = Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n');
    await showFragments(first, [
      { ...call, parameter: 'npm test' },
      { ...call, result: `${output}\n\u001b[31mnot ok 3\u001b[0m`, failed: true, exitCode: 1 },
      { kind: 'action', action: 'preview', parameter: 'http://127.0.0.1:8123/' },
    ]);
    await showFragments(second, [{ kind: 'response', body: 'There is nothing to review.' }]);
    await writeSteps(shop, id, [{ sandboxId: first.id }, { sandboxId: second.id, role: 'reviewer' }]);
    const page = await open();
    await page.goto(`/console/runs/${id}`);
    await page.getByRole('note', { name: 'Outcome' }).getByText('No changes.').waitFor();
    await page.getByRole('region', { name: 'Status' }).getByText('Owner-of-Acme').waitFor();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('There is nothing to review.').waitFor();
    await transcript.getByText('exit code 1', { exact: true }).waitFor();
    expect(await transcript.locator('.call-result .ansi-red').textContent()).toBe('not ok 3');
    expect(await transcript.getByText('line 0').count()).toBe(0);
    await transcript.getByRole('button', { name: 'Show all, 21 lines' }).click();
    await transcript.getByText('line 0').waitFor();
    expect(await transcript.getByRole('link', { name: 'Open preview' }).getAttribute('href')).toBe(
      'http://127.0.0.1:8123/',
    );
    await inspect(page, 'run-no-changes');
    await transcript.getByText('Builder', { exact: true }).click();
    await transcript.getByText('exit code 1', { exact: true }).waitFor({ state: 'detached' });
    await page.goto('/console/runs');
    const row = page.getByRole('listitem').filter({ hasText: 'Fix the dates' });
    await row.getByText('Web shop · Owner-of-Acme').waitFor();
    expect(await row.locator('.pill').textContent()).toBe('no changes');
  });

  it('missions that wait for a person say so on the overview, and are found by "Needs me"', async () => {
    const bob = await another('Needy');
    const place = await project('Search', bob);
    const waits = { ...place, status: 'dispatching', issueId: 'iss_3', awaitsApproval: true };
    await run({ missionTitle: 'Rename a column', ...waits, reason: 'Waiting for a person to approve the plan.' });
    await run({ ...place, missionTitle: 'Another one', status: 'dispatching', issueId: 'iss_4' });
    const page = await open(bob.session);
    await page.goto('/console/overview');
    await page
      .getByRole('region', { name: 'Missions in progress' })
      .getByText('Waiting for a person to approve the plan')
      .waitFor();
    expect(await page.getByRole('link', { name: 'Rename a column', exact: true }).count()).toBe(1);
    await inspect(page, 'overview-needs');
    await page.goto('/console/runs');
    await page.getByText('Another one').waitFor();
    await page.getByRole('button', { name: 'Needs me' }).click();
    await page.getByText('Another one').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.run-row .pill').allTextContents()).toEqual(['needs approval']);
    await inspect(page, 'runs-needs');
  });

  it('missions are selected in a range with Shift, or all together', async () => {
    const page = await open();
    await page.goto('/console/runs');
    const boxes = page.locator('.select-row');
    await boxes.nth(5).waitFor();
    const edges = () =>
      page
        .locator('.run-row .when')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().right)));
    await expect.poll(async () => new Set(await edges()).size).toBe(1);
    await boxes.nth(1).click();
    await boxes.nth(4).click({ modifiers: ['Shift'] });
    await page.getByText('4 missions selected').waitFor();
    const shown = await boxes.count();
    await page.getByLabel(/^Select all/).check();
    await page.getByText(`${shown} missions selected`).waitFor();
    await page.getByLabel(/^Select all/).uncheck();
    await page.getByText('missions selected').waitFor({ state: 'detached' });
  });

  it('an ended run is continued from a step', async () => {
    const agent = { name: 'Bob', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5' };
    const team = JSON.stringify([agent]);
    const ended = {
      status: 'completed',
      issueId: 'iss_4',
      issueUrl: 'https://tracker.example/4',
      finishedAt: present(),
    };
    const id = await run({ missionTitle: 'Rename a table', ...ended, team });
    await writeSteps(shop, id, [{}]);
    const { id: stepId } = await world.knex('run_steps').where({ runId: id }).first();
    const { id: artifactId } = await noteArtifact(shop);
    await world
      .knex('checkpoints')
      .insert({ stepId, runId: id, ...shop, artifactId, commitSha: 'a'.repeat(40), createdAt: present() });
    const page = await open();
    await page.goto(`/console/runs/${id}`);
    await page.getByRole('button', { name: 'Continue from here: builder' }).click();
    await page.getByLabel('Next task').fill('Keep the old name as a view.');
    await inspect(page, 'run-continue');
    await page.getByRole('button', { name: 'Continue mission' }).click();
    await page.getByRole('link', { name: 'step 1 of another mission' }).waitFor();
    expect(page.url()).not.toContain(id);
    expect(await world.knex('runs').where({ continuesStepId: stepId })).toMatchObject([
      { status: 'dispatching', issueId: 'iss_4', prompt: expect.stringContaining('Keep the old name as a view.') },
    ]);
  });

  it('a run is canceled after a confirmation', async () => {
    const id = await run({ ...held(), missionTitle: 'Rename everything', startedAt: present() });
    const page = await open();
    await page.goto(`/console/runs/${id}`);
    await page.getByRole('button', { name: 'Cancel mission' }).click();
    // Enter presses the button “Go back”, which has the focus, so the mission continues.
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await world.knex('runs').where({ id }).first()).status).toBe('running');
    await page.getByRole('button', { name: 'Cancel mission' }).click();
    await page.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('button', { name: 'Cancel mission' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel mission' }).click();
    await page.getByText('Canceled by a person.').waitFor();
    expect((await world.knex('runs').where({ id }).first()).status).toBe('canceled');
  });

  it('the page of a sandbox shows its logs by session and part, its charts in words, and its end', async () => {
    const page = await open();
    await page.goto(`/console/sandboxes/${sandbox.id}`);
    await page.getByRole('img', { name: /^CPU: last \d+ %, highest \d+ %, over 5 min \d+ s$/ }).waitFor();
    await page.getByText('This part of the log is empty.').waitFor();
    await page.getByRole('combobox', { name: 'Session' }).selectOption('builder:first');
    await page.getByText('p50 412 ms').first().waitFor();
    await page.getByRole('button', { name: 'System' }).click();
    await page.getByText('Linux 6.12').waitFor();
    await page.getByRole('button', { name: 'Prompt' }).click();
    await page.getByRole('region', { name: 'Span span-1' }).getByText('Never push to main.').waitFor();
    expect(new URL(page.url()).search).toBe('?session=builder%3Afirst&part=prompt');
    await page.reload();
    await page.getByText('Use the house style of this repository.').waitFor();

    await page.getByRole('button', { name: 'Kill sandbox' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill sandbox' }).click();
    await page.getByRole('region', { name: 'Status' }).getByText('destroyed').waitFor();
    expect(await page.getByRole('button', { name: 'Kill sandbox' }).count()).toBe(0);
    expect((await world.knex('sandboxes').where({ id: sandbox.id }).first()).terminationReason).toBe('killed');
  });

  it('artifacts are filtered by project: pictures are shown, videos load in their player, and other files are downloaded', async () => {
    const other = await project('Mobile app');
    await leaveArtifact(other, 'what was done', { kind: 'log', caption: 'Build log' });
    const page = await open();
    const sent = page.waitForResponse((response) => response.request().resourceType() === 'media');
    await page.goto('/console/artifacts');
    await page.getByText('Build log').first().waitFor();
    const shown = page.getByRole('img', { name: 'The product list, filled' });
    await shown.scrollIntoViewIfNeeded();
    await expect
      .poll(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(8);
    const player = page.locator('video[controls]');
    expect(await player.getAttribute('src')).toBe((await sent).url());
    const asked = { status: (await sent).status(), ...(await sent).headers() };
    // The video is requested in ranges, so that a person can seek in it.
    expect(asked).toMatchObject({
      status: 206,
      'content-type': 'video/webm',
      'content-range': `bytes 0-${film.length - 1}/${film.length}`,
    });
    await inspect(page, 'artifacts');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download Build log' }).click();
    expect((await downloading).suggestedFilename()).toMatch(/^log-art_\w+\.txt$/);

    await page.getByLabel('Project').selectOption('Mobile app');
    await page.getByRole('link', { name: 'Figures before and after' }).waitFor({ state: 'detached' });
    await page.getByText('Build log').first().waitFor();
    expect(new URL(page.url()).search).toBe(`?projectId=${other.projectId}`);
  });

  it('another organization’s records are not found; without a session the page leads to sign-in and back', async () => {
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

  it('a viewer is offered no actions', async () => {
    const viewer = await world.person('Vera');
    await world.join(acme.organization, viewer, 'viewer');
    const page = await open(await world.session(viewer, acme.organization.id));
    await page.goto(`/console/projects/${shop.projectId}`);
    await page.getByText('Weekly audit').waitFor();
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0);
  });

  it('empty pages offer the first action', async () => {
    const carol = await another('Umbrella');
    const page = await open(carol.session);
    await page.goto('/console/overview');
    await page.getByText('curl').waitFor();
    expect(await page.locator('.commands').textContent()).toContain(`curl ${world.url}/v1/projects`);
    await inspect(page, 'empty');
    const { projectId } = await project('First', carol);
    await page.goto('/console/overview');
    await page.getByText(`"projectId": "${projectId}"`).waitFor();

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

  it('reads only the runs that it shows, out of 10,000', async () => {
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

  it('serves files that browsers cache for a year, and pages that run no other scripts', async () => {
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

/** Stands in for a video: decoding is up to the browser. */
const film = Buffer.from('a film of scrolling the list');

/** A small picture. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAFCAIAAAD38zoCAAAAIElEQVR4nGNQ9wzFihiwiqp7hjJglVD3DGXAKqHuGQoAVMcWgcmRU0sAAAAASUVORK5CYII=',
  'base64',
);
