// The first page of the console. A person settles waiting items with the keyboard and with the mouse, and the items disappear from other people's
// pages at once.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createCallers, createMember, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import {
  type Place,
  showFragments,
  startSandbox,
  startSession,
  writeLog,
  writeSteps,
} from '../../support/runtime-records.ts';
import { openWorld, present, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Inbox', () => {
  let world: World;
  let alice: Account;
  let bob: Account;
  let shop: Place;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    ({ owner: alice } = await createCallers(world));
    bob = await createMember(world, alice.organization, 'Bob', 'member');
    await world.grant(alice.organization, 1_000);
    shop = { orgId: alice.organization.id, projectId: await createProject(world, alice, 'Web shop') };
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
    await world.knex('runs').delete();
  });
  afterAll(() => world.close());

  const run = async (missionTitle: string, more: object): Promise<`run_${string}`> => {
    const id = newId('run');
    await world.knex('runs').insert({
      ...{ id, ...shop, kind: 'manual', missionTitle, prompt: missionTitle, status: 'running', issueId: id },
      ...{ leaseId: newId('lease'), leaseUntil: present() + minutes(1), billingActorUserId: alice.person.id },
      ...{ scheduledFor: present(), createdAt: present(), updatedAt: present(), missionCostUsd: 1.2, ...more },
    });
    return id;
  };
  async function asks(title: string, at: number, question: object): Promise<string> {
    const id = await run(title, {});
    await showFragments(await startSandbox(shop, { runId: id }), [
      { kind: 'elicitation', toolUseId: 'q', at, ...question },
    ]);
    return id;
  }
  /** Creates a waiting item of almost every kind, the oldest first. */
  async function everything() {
    const at = present() - hours(1);
    const planned = await run('Add a currency column', { status: 'dispatching', awaitsApproval: true });
    const steps = ['Add `currency` to `orders`, EUR for existing rows', 'Write it at checkout', 'Show it on receipts'];
    await writeSteps(shop, planned, [{ role: 'planner', output: { steps } as never, finishedAt: at }]);
    const asked = await asks('Rename the export', at + minutes(1), {
      ...{ body: 'Which name do customers know?', choices: ['Orders.csv', 'Sales.csv'] },
    });
    const careful = await asks('Clean the staging data', at + minutes(2), {
      ...{
        body: 'May I delete the test customers?',
        action: 'shop.delete_customers',
        parameter: '{"before":"2026-01-01"}',
      },
    });
    const parkedReason = 'The mission has cost 5.00 of its budget of 5.00 USD. The next call may cost 0.12 USD.';
    const parked = { parkedAt: at + minutes(3), parkedBy: 'budget', parkedReason, budgetUsd: 5, missionCostUsd: 5 };
    const poor = await run('Upgrade the framework', parked);
    const failed = await run('Round prices', {
      status: 'failed',
      finishedAt: at,
      reason: 'The builder failed: exit code 1',
    });
    const session = await startSession(await startSandbox(shop, { runId: failed, status: 'failed' }));
    await writeLog(session, 'session', ['ok 1\nok 2\n\u001b[31mnot ok 3 rounds 1.005\u001b[0m\n1 of 3 failed\n']);
    const change = { headSha: 'a'.repeat(40), branch: 'mission/1', changedFiles: 4, insertions: 12, deletions: 3 };
    const pull = { openedRepository: true, prNumber: 7, prState: 'open', prUrl: 'https://github.example/7' };
    await run('Translate the checkout', { status: 'completed', finishedAt: at + minutes(5), ...change, ...pull });
    return { planned, asked, careful, poor, failed };
  }
  const rowsOf = (page: Page) => page.locator('.inbox-row .inbox-title').allInnerTexts();
  const stored = (id: string) => world.knex('runs').where({ id }).first();

  it('the inbox is the first page of the console, and each kind of item can be settled with the keyboard', async () => {
    const { planned, asked, careful, poor, failed } = await everything();
    const page = await pages.open(await world.session(alice.person, shop.orgId));
    const others = await pages.open(await world.session(bob.person, shop.orgId));
    await others.goto('/console');
    await page.goto('/console');
    await page.waitForURL('**/o/acme/inbox');
    const detail = page.getByRole('article');
    await detail.getByText('1. Add `currency` to `orders`').waitFor();
    await expect.poll(() => page.title()).toBe('(6) Inbox · Agent Engineering Platform');
    expect(await page.getByRole('link', { name: 'Inbox' }).locator('.count').innerText()).toBe('6');
    await pages.inspect(page, 'inbox');

    await page.keyboard.press('a');
    await page.getByText('Plan approved.').waitFor();
    expect(await stored(planned)).toMatchObject({ awaitsApproval: false });
    await expect.poll(() => rowsOf(others)).not.toContain('Add a currency column');
    await page.keyboard.press('1');
    await page.getByText('Answer sent.').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Production shares them.');
    await page.keyboard.press('Escape');
    await page.keyboard.press('d');
    await page.getByText('Call denied.').waitFor();
    expect(await world.knex('run_messages').whereIn('runId', [asked, careful]).orderBy('kind')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ runId: asked, text: 'Orders.csv', approved: null }),
        expect.objectContaining({ runId: careful, text: 'Production shares them.', approved: false }),
      ]),
    );
    await page.keyboard.press('a');
    await page.getByText('The budget is $10.00.').waitFor();
    expect((await stored(poor)).budgetUsd).toBe(10);
    await world.knex('runs').where({ id: poor }).update({ parkedAt: null });

    await detail.getByText('not ok 3 rounds 1.005').waitFor();
    await page.keyboard.press('e');
    await page.getByText('Done.').waitFor();
    await expect.poll(() => rowsOf(page)).toEqual(['Translate the checkout']);
    await page.keyboard.press('z');
    await expect.poll(() => rowsOf(page)).toEqual(['Round prices', 'Translate the checkout']);
    await page.keyboard.press('a');
    await page.getByText('Started again.').waitFor();
    expect((await stored(failed)).rerunAs).toMatch(/^run_/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/changes');
  });

  it('the inbox can be worked through on a phone, and explains itself when it is empty', async () => {
    await everything();
    const page = await pages.open(await world.session(alice.person, shop.orgId), {
      viewport: { width: 390, height: 844 },
    });
    // A long name of a project must leave enough space for the titles of the items.
    const project = world.knex('projects').where({ id: shop.projectId });
    await project.clone().update({ name: 'Warehouse and logistics platform' });
    await page.goto('/console/o/acme/inbox');
    await page.getByRole('button', { name: /Rename the export/ }).click();
    const cutTitles = `[...document.querySelectorAll('.inbox-title')].filter(
      (title) => title.scrollWidth > title.clientWidth || title.scrollHeight > title.clientHeight).length`;
    expect(await page.evaluate(cutTitles)).toBe(0);
    await project.update({ name: 'Web shop' });
    await pages.inspect(page, 'inbox-question');
    await page.getByRole('button', { name: 'Sales.csv' }).click();
    await page.getByText('Answer sent.').waitFor();
    await page.getByRole('button', { name: /Snooze/ }).click();
    await page.getByText('Snoozed until tomorrow.').waitFor();
    await page.getByRole('button', { name: 'Hidden' }).click();
    await expect.poll(() => rowsOf(page)).toEqual(['Clean the staging data']);
    await page.locator('.inbox-row').click();
    await page.getByRole('button', { name: 'Bring back' }).click();
    await page.getByText('Nothing is hidden.').waitFor();
    await world.knex('runs').delete();
    await page.getByRole('button', { name: 'Hidden' }).click();
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    await pages.inspect(page, 'inbox-empty');
  });

  it('keyboard shortcuts of the inbox are listed, and lead to a mission’s page; the chosen theme is kept', async () => {
    const id = await run('Rename the export', { status: 'completed', finishedAt: present() });
    const page = await pages.open(await world.session(alice.person, shop.orgId));
    await page.goto('/console/o/acme/inbox');
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keys' });
    for (const words of ['Snooze until tomorrow', 'Open Missions', 'Select the row'])
      await help.getByText(words).waitFor();
    await page.keyboard.press('Escape');
    // A dialog that is closed keeps the focus until it is removed.
    await page.locator('.key-help').waitFor({ state: 'detached' });
    for (const key of ['g', 'm']) await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name: 'Missions' }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'Rename the export' });
    await row.waitFor();
    for (const key of ['j', 'x']) await page.keyboard.press(key);
    await page.getByText('1 mission selected').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${id}`);
    await page.getByText('Hand over', { exact: true }).click();
    await page.getByRole('button', { name: 'Hand over to Bob' }).click();
    await page.getByText('handed the mission to').waitFor();
    expect(await stored(id)).toMatchObject({ handedToUserId: bob.person.id });
    await page.getByLabel('Theme').selectOption('dark');
    await page.reload();
    await page.getByText('handed the mission to').waitFor();
    await expect.poll(() => page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    await page.keyboard.press('?');
    await help.getByText('Review the changes').waitFor();
    await pages.inspect(page, 'keys');
  });
});
