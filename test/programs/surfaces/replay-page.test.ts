// Tests of two pages: the replay of a mission in the console, and the shared replay, which people without an account open with a link.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createCallers, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { type Place, showFragments, spend, startSandbox, writeSteps } from '../../support/runtime-records.ts';
import { openWorld, present, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Replays', () => {
  let world: World;
  let alice: Account;
  let shop: Place;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    ({ owner: alice } = await createCallers(world));
    shop = { orgId: alice.organization.id, projectId: await createProject(world, alice, 'Web shop') };
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => world.close());

  it('a replay moves between moments that its URL names, and is shared by a link until the link is revoked', async () => {
    const begin = present() - minutes(20);
    const at = (n: number) => begin + minutes(n);
    const runId = newId('run');
    await world.knex('runs').insert({
      ...{ id: runId, ...shop, kind: 'manual', missionTitle: 'Round prices', prompt: 'Go.', status: 'completed' },
      ...{
        issueId: 'W-1',
        scheduledFor: begin,
        createdAt: begin,
        updatedAt: begin,
        startedAt: at(1),
        finishedAt: at(9),
      },
    });
    const sandbox = await startSandbox(shop, { runId, status: 'completed' });
    await writeSteps(shop, runId, [
      { role: 'builder', createdAt: at(1), startedAt: at(1), finishedAt: at(8), status: 'completed' },
    ]);
    const plan = (status: string) => [{ content: 'Round at checkout', status }];
    await showFragments(sandbox, [
      { kind: 'plan', at: at(2), items: plan('in_progress') },
      { kind: 'response', at: at(5), body: 'Rounded; see https://intranet.example/prices' },
      { kind: 'plan', at: at(6), items: plan('completed') },
    ]);
    await spend(shop, 0.5, { runId, at: at(2) });
    await spend(shop, 0.25, { runId, at: at(6) });

    const page = await pages.open(await world.session(alice.person, shop.orgId));
    await page.goto(`/console/o/acme/runs/${runId}`);
    await page.getByRole('link', { name: 'Replay and share' }).click();
    await page.getByText('$0.75 so far').waitFor();
    await page.getByText('Rounded; see').waitFor();
    const slider = page.getByRole('slider', { name: 'Moment' });
    await slider.fill('2');
    await page.getByText('$0.50 so far').waitFor();
    await page.waitForURL(`**/replay?at=${at(2)}`);
    await page.getByText('No messages yet.').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL(`**/replay?at=${at(6)}`);
    await page.reload();
    await page.getByText('Rounded; see').waitFor();
    await pages.inspect(page, 'replay');

    await page.getByRole('button', { name: 'Create a link valid for 7 days' }).click();
    const address = await page.locator('.note code').innerText();
    await page.getByText('read 0 times').waitFor();
    const outside = await pages.open();
    await outside.goto(address);
    await outside.getByText('Rounded; see [address]').waitFor();
    await pages.inspect(outside, 'shared');
    await outside.getByRole('link', { name: /09:02|08:42/ }).click();
    await outside.getByText('0.50 USD').waitFor();

    await page.getByRole('button', { name: 'Revoke the link of Alice' }).click();
    await page.getByText('read 2 times').waitFor();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect((await fetch(address)).status).toBe(404);
  });
});
