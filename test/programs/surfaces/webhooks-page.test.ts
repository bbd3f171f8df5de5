// Webhooks in a browser: an endpoint is created, its secret is shown once, and a delivery is sent again.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deliverWebhooks, webhooksSettled } from '#domain/lifecycle/webhooks/deliver.ts';
import { writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createOwner, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('The webhooks page', () => {
  let world: World;
  let owner: Account;
  let pages: PageInspector;
  const receiver = createServer((_, res) => void res.writeHead(503).end('out of order'));
  beforeAll(async () => {
    openOutbound({ allowLoopback: true });
    world = await openWorld();
    owner = await createOwner(world, 'Ada', 'Acme');
    pages = createPageInspector(launched as Browser, world.url);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    openOutbound({ allowLoopback: false });
    await Promise.all([world.close(), new Promise((resolve) => receiver.close(resolve))]);
  });

  it('an owner creates a webhook endpoint: its secret is shown once, and the events sent to it are listed', async () => {
    const { id: orgId } = owner.organization;
    const page = await pages.open(await world.session(owner.person, orgId));
    await page.goto('/console/o/acme/webhooks');
    await page.getByText('No endpoints yet.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Dashboard');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
    await page.getByRole('textbox', { name: 'URL' }).fill(url);
    await page.getByRole('radio', { name: 'Only some' }).check();
    await page.getByRole('checkbox', { name: 'run.completed' }).check();
    await page.getByRole('textbox', { name: 'Other types' }).fill('project.created');
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    await page.getByText(/^whsec_/).waitFor();
    await pages.inspect(page, 'webhooks');
    await createProject(world, owner, 'Shop');
    await numberChanges(orgId);
    await writeWebhookDeliveries();
    await deliverWebhooks();
    await webhooksSettled();
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('project.created', { exact: true }).waitFor();
    await page.getByText('503', { exact: true }).waitFor();
    await page.getByText('Show request and response').click();
    await page.getByText('out of order').waitFor();
    await pages.inspect(page, 'webhook');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('· sent again').waitFor();
    await page.getByLabel('State').selectOption('failed');
    await page.getByText('No delivery matches these filters.').waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByRole('button', { name: 'Send all again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send all again' }).click();
    await page.getByText('0 events sent again.').waitFor();
    expect(await page.getByText(/whsec_/).count()).toBe(0);
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('The response to webhook_endpoint.tested was 503').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Once enabled, the endpoint continues where it stopped.').waitFor();
  });
});
