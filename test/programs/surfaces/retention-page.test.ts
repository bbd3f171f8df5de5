// Retention in the console: its form, the page of a mission whose log was deleted, and the page of a mission whose details were deleted.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { days } from '#foundation/clock.ts';
import { openBrowser } from '../../support/browser.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/console-world.ts';
import { endMission, writeMission } from '../../support/ended-missions.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Retention in the console', () => {
  let visited: ConsoleWorld;
  beforeAll(async () => {
    visited = await openConsoleWorld(launched as Browser);
  });
  afterEach(() => visited.check());
  afterAll(() => visited.world.close());

  it('an owner sets the days of retention, and the pages of missions say what was deleted', async () => {
    const { world, acme, projectId, pages } = visited;
    const place = { orgId: acme.id, projectId };
    const changed = { branch: 'mission/tulips', headSha: 'a'.repeat(40), openedRepository: true, changedFiles: 2 };
    const merged = { prState: 'merged', prNumber: 7, prUrl: 'https://github.com/acme/shop/pull/7', commits: 3 };
    const described = { missionTitle: 'Plant tulips', prompt: 'Plant tulips in rows.', insertions: 40, deletions: 2 };
    const old = await writeMission(world, place, { ...described, ...changed, ...merged });
    world.clock.turn(days(10));
    const recent = await writeMission(world, place, { missionTitle: 'Water tulips', isOpen: true });
    await endMission(world, recent.runId);
    // Moving the clock makes sessions expire, so each part of the test uses a new browser window.
    const openPages = async () => pages.open(await world.session(visited.person, acme.id));
    let page = await openPages();
    await page.goto('/console/settings');
    await page.getByLabel('Days for details').fill('24');
    await page.getByLabel('Days for logs').fill('14');
    await page.getByRole('button', { name: 'Save retention' }).scrollIntoViewIfNeeded();
    await pages.inspect(page, 'retention');
    await page.getByRole('button', { name: 'Save retention' }).click();
    await expect.poll(() => world.knex('retention_settings').first()).toMatchObject({ runDays: 24, logDays: 14 });

    await pages.close();
    world.clock.turn(days(14) + 1);
    await deleteAfterRetention();
    page = await openPages();
    await page.goto(`/console/runs/${old.runId}`);
    await page.getByText('The details of this mission were deleted on').waitFor();
    await page.getByText('24 days after it ended').waitFor();
    expect(await page.getByRole('link', { name: 'Review changes' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Replay and share' }).count()).toBe(0);
    await pages.inspect(page, 'mission-without-details');
    await page.getByRole('link', { name: 'retention settings of the organization' }).click();
    await page.getByLabel('Days for details').waitFor();

    await page.goto(`/console/runs/${recent.runId}`);
    await page.getByText('Logs and transcript were deleted').waitFor();
    await pages.inspect(page, 'mission-without-log');
    await page.goto(`/console/sandboxes/${recent.sandboxId}`);
    await page.getByText('The log was deleted').waitFor();
    await page.getByText('The transcript was deleted').waitFor();
    await page.getByText('No metrics.').waitFor();
    await pages.inspect(page, 'sandbox-without-log');
    await page.goto(`/console/runs/${old.runId}/changes`);
    await page.getByText('The diff has expired').waitFor();
  });
});
