// Attempts at one task in the console: started by the form, compared side by side, and chosen.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createCallers, createMember, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { type Place, writeSteps } from '../../support/runtime-records.ts';
import { openWorld, present, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Attempts of a mission in the console', () => {
  let world: World;
  let alice: Account;
  let bob: Account;
  let shop: Place;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    ({ owner: alice } = await createCallers(world));
    bob = await createMember(world, alice.organization, 'Bob', 'member');
    shop = { orgId: alice.organization.id, projectId: await createProject(world, alice, 'Web shop') };
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
    await world.knex('runs').delete();
  });
  afterAll(() => world.close());

  const prompt = 'Make the date test independent of the time zone.';
  /** Three attempts: two have ended with changes, one still runs. */
  async function threeAttempts(): Promise<string> {
    const attemptGroupId = newId('attemptGroup');
    const at = present() - minutes(30);
    const group = { id: attemptGroupId, ...shop, title: prompt.slice(0, -1), prompt, createdAt: at, updatedAt: at };
    await world.knex('attempt_groups').insert(group);
    const write = async (attemptNumber: number, model: string, more: object) => {
      const id = newId('run');
      const harness = model === 'none' ? 'shell' : 'claude-code';
      const team = JSON.stringify([{ name: 'Builder', role: 'builder', harness, model }]);
      await world.knex('runs').insert({
        ...{ id, ...shop, kind: 'manual', missionTitle: group.title, prompt, status: 'completed', issueId: 'WEB-1' },
        ...{ attemptGroupId, attemptNumber, attemptState: 'open', team, budgetUsd: 10, openedRepository: true },
        ...{
          scheduledFor: at,
          createdAt: at,
          updatedAt: at,
          startedAt: at,
          billingActorUserId: alice.person.id,
          ...more,
        },
      });
      return id;
    };
    const change = (n: number) => ({ headSha: String(n).repeat(40), branch: `mission/${n}`, commits: 1 });
    const files = ['src/date.ts', 'src/date.test.ts'];
    const one = await write(1, 'claude-opus-5', {
      ...{ ...change(1), changedFiles: 2, insertions: 18, deletions: 4, missionCostUsd: 1.32, changedPaths: files },
      finishedAt: at + minutes(9),
    });
    const review = (verdict: string) =>
      ({ role: 'reviewer', output: JSON.stringify({ verdict, comments: [] }) }) as never;
    await writeSteps(shop, one, [review('approve')]);
    const two = await write(2, 'claude-sonnet-5', {
      ...{ ...change(2), changedFiles: 3, insertions: 96, deletions: 41, missionCostUsd: 0.48 },
      ...{
        finishedAt: at + minutes(4),
        changedPaths: [...files, 'package.json'],
        prompt: 'Pin the time zone of the test.',
      },
    });
    await writeSteps(shop, two, [review('request_changes')]);
    await write(3, 'none', {
      ...{ status: 'running', missionActivity: 'Editing src/date.ts', missionCostUsd: 0.2 },
      ...{ leaseId: newId('lease'), leaseUntil: present() + minutes(1) },
    });
    return attemptGroupId;
  }

  it('attempts are compared side by side, and one person’s choice appears on the page of another', async () => {
    const groupId = await threeAttempts();
    const page = await pages.open(await world.session(alice.person, shop.orgId));
    const others = await pages.open(await world.session(bob.person, shop.orgId));
    await Promise.all([page, others].map((one) => one.goto(`/console/o/acme/attempts/${groupId}`)));
    const second = page.getByRole('region', { name: 'Attempt 2' });
    await second.getByText('Changes requested').waitFor();
    expect(await second.locator('dd').allInnerTexts()).toEqual([
      'Builder',
      'claude-sonnet-5 claude-code',
      '+96 −41 in 3 files',
      'Changes requested',
      '–',
      '–',
      '4 min 0 s fastest',
      '$0.48 cheapest',
    ]);
    // A script has no model.
    expect(await page.getByRole('region', { name: 'Attempt 3' }).locator('dd').nth(1).innerText()).toBe('– shell');
    await page.getByText('1 attempt of 3 still working.').waitFor();
    const files = page.getByRole('region', { name: 'Files', exact: true });
    expect(await files.locator('.aside').innerText()).toBe('3 files, 2 in common');
    await pages.inspect(page, 'attempts');

    await second.getByRole('button', { name: 'Choose attempt 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Choose' }).click();
    await page.getByText('Alice chose').waitFor();
    await others.getByText('Alice chose').waitFor();
    expect(await others.getByRole('button', { name: /Choose attempt/ }).count()).toBe(0);
    const runs = await world.knex('runs').orderBy('attemptNumber').select('status', 'attemptState');
    expect(runs).toEqual([
      { status: 'completed', attemptState: 'closed' },
      { status: 'completed', attemptState: 'chosen' },
      { status: 'canceled', attemptState: 'closed' },
    ]);
    await pages.inspect(page, 'attempts-chosen');
    await page.getByRole('link', { name: 'Open attempt 2' }).click();
    await page.getByRole('link', { name: 'Compare attempts' }).waitFor();
  });

  it('the mission form starts several attempts, each with its agent, model and task', async () => {
    const page = await pages.open(await world.session(alice.person, shop.orgId), {
      viewport: { width: 390, height: 844 },
    });
    await page.goto('/console/o/acme/runs/new');
    await page.getByLabel('Task', { exact: true }).fill(prompt);
    await page.getByLabel('Attempts').selectOption('2');
    const first = page.getByRole('group', { name: 'Attempt 1' });
    await first.getByLabel('Agent').selectOption({ label: 'Builder' });
    await first.getByLabel('Model').selectOption({ label: 'Claude Opus 5' });
    await page.getByRole('group', { name: 'Attempt 2' }).getByText('A different task').click();
    await page.getByLabel('Task of attempt 2').fill('Pin the time zone of the test.');
    await pages.inspect(page, 'attempts-form');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.waitForURL('**/attempts/grp_*');
    await page.getByRole('region', { name: 'Attempt 2' }).getByText('Own prompt').waitFor();
    const runs = await world.knex('runs').orderBy('attemptNumber').select('agentId', 'agentModel', 'prompt');
    expect(runs).toEqual([
      { agentId: 'agn_builtin_builder', agentModel: 'claude-opus-5', prompt },
      { agentId: null, agentModel: null, prompt: 'Pin the time zone of the test.' },
    ]);
  });
});
