// The audit log in a browser: the difference of a change, the history of its record, and who sees the page.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '#domain/identity/sessions/operations.ts';
import { startDeliveries } from '#domain/lifecycle/audit/stream/delivery.ts';
import { growAllTrees } from '#domain/lifecycle/audit/tree/growth.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Callers, createCallers, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Audit log in a browser', () => {
  let world: World;
  let callers: Callers;
  let pages: PageInspector;
  beforeAll(async () => {
    world = await openWorld();
    callers = await createCallers(world);
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => world.close());

  it('an audit event shows its changes as a diff, and a record links to its history', async () => {
    const { owner } = callers;
    const projectId = await createProject(world, owner, 'Web shop');
    await createProject(world, owner, 'Search');
    await world.rest('PATCH', `/projects/${projectId}`, { token: owner.token, body: { name: 'Market' } });
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto(`/console/o/acme/projects/${projectId}`);
    await page.getByRole('link', { name: 'History' }).click();
    await page.waitForURL('**/audit?projectId=*');
    const changed = page.locator('li', { hasText: 'project.updated' });
    await changed.locator('summary').click();
    await changed.getByText('+ Market').waitFor();
    await changed.getByText('- Web shop').waitFor();
    expect(await page.locator('summary code').allInnerTexts()).toEqual(['project.updated', 'project.created']);
    await pages.inspect(page, 'audit log');
    await page.goto('/console/o/acme/audit?targetType=project');
    await expect.poll(() => page.locator('summary code').count()).toBe(3);
  });

  it('an issue and the mission that works on it each link to their own history', async () => {
    const { owner } = callers;
    const { token } = owner;
    const projectId = await createProject(world, owner, 'Blog');
    const start = `mutation { startMission(projectId: "${projectId}", prompt: "true", agentId: "agn_builtin_shell") { id } }`;
    const { startMission: run } = (await world.graphql(start, { token })).body.data;
    const { id } = await world.knex('issues').where({ runId: run.id }).first();
    await world.graphql(`mutation { updateIssue(issueId: "${id}", input: { title: "UTC" }) { id } }`, { token });
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto(`/console/o/acme/issues/${id}`);
    await page.getByRole('link', { name: 'History' }).click();
    await expect.poll(() => page.locator('summary code').allInnerTexts()).toEqual(['issue.updated', 'issue.created']);
    await page.goto(`/console/o/acme/runs/${run.id}`);
    await page.getByRole('link', { name: 'History' }).click();
    await expect.poll(() => page.locator('summary code').allInnerTexts()).toEqual(['run.started']);
  });

  it('an audit event of a session names the device, and shows its User-Agent', async () => {
    const { owner } = callers;
    const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    await openSession(owner.person.id, { userAgent, address: '203.0.113.7' });
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto('/console/o/acme/audit?targetType=session');
    const started = page.locator('li', { hasText: 'Firefox on Linux' });
    await started.locator('summary').click();
    await started.locator('dd', { hasText: userAgent }).waitFor();
  });

  it('an owner changes how long the audit log is kept', async () => {
    const { owner } = callers;
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto('/console/o/acme/audit');
    await page.getByText('Events are deleted after 730 days.').waitFor();
    await page.getByRole('button', { name: 'Change the retention' }).click();
    await page.getByRole('spinbutton', { name: 'Days' }).fill('90');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Events are deleted after 90 days.').waitFor();
  });

  it('an owner sets a destination for the audit log; its token is shown only once, and the page shows why a delivery has failed', async () => {
    const { owner } = callers;
    openOutbound({ allowLoopback: true });
    try {
      const page = await pages.open(await world.session(owner.person, owner.organization.id));
      await page.goto('/console/o/acme/audit');
      await page.getByRole('button', { name: 'Choose a destination' }).click();
      await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/audit');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Copy the token now.').waitFor();
      await growAllTrees();
      await startDeliveries();
      await world.delivered();
      await page.reload();
      await page.getByText('The connection failed: ECONNREFUSED.').waitFor();
      await page.getByRole('button', { name: 'Try now' }).waitFor();
      expect(await page.getByText('Copy the token now.').count()).toBe(0);
      await pages.inspect(page, 'audit log that is not accepted');
      await page.getByRole('button', { name: 'Stop streaming' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop streaming' }).click();
      await page.getByRole('button', { name: 'Choose a destination' }).waitFor();
    } finally {
      openOutbound({ allowLoopback: false });
    }
  });

  it('the menu hides the audit log from people without its scope', async () => {
    const { viewer } = callers;
    const page = await pages.open(await world.session(viewer.person, viewer.organization.id));
    await page.goto('/console/o/acme/projects');
    await page.getByRole('link', { name: 'Market' }).waitFor();
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  });
});
