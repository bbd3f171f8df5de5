// Finding and reading records in the console, in a real browser: filters in the URL, bulk actions, the command palette, the page of a failed mission,
// and the buttons that copy the request behind a page, for example as a curl command.
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#foundation/ids.ts';
import { announceCommitted } from '#foundation/postgres/changes.ts';
import { openBrowser } from '../../support/browser.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import {
  leaveArtifact,
  type Place,
  startSandbox,
  startSession,
  writeLog,
  writeSteps,
} from '../../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Lists and search in the console', () => {
  const browser = launched as Browser;
  let world: World;
  let pages: PageInspector;
  let session: Session;
  let shop: Place;

  beforeAll(async () => {
    world = await openWorld();
    pages = createPageInspector(browser, world.url);
    const owner = await createOwner(world, 'Alice', 'Acme');
    const { person, organization: acme } = owner;
    await world.grant(acme, 10_000);
    await world.lift(acme);
    session = await world.session(person, acme.id);
    shop = { orgId: acme.id, projectId: await createProject(world, owner, 'Web shop') };
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => world.close());

  const open = async (address: string): Promise<Page> => {
    const page = await pages.open(session, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(address);
    return page;
  };
  async function run(missionTitle: string, more: object = {}): Promise<string> {
    const id = newId('run');
    const at = { scheduledFor: present(), createdAt: present(), updatedAt: present() };
    const row = {
      id,
      ...shop,
      ...at,
      kind: 'manual',
      status: 'dispatching',
      issueId: 'iss_1',
      missionTitle,
      prompt: missionTitle,
    };
    await world.knex('runs').insert({ ...row, ...more });
    return id;
  }

  async function recurring(name: string, path: string, projectId: string, more: object = {}): Promise<string> {
    const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'UTC' };
    const body = { projectId, name, prompt: 'Look.', triggers: [{ kind: 'schedule', schedule }], ...more };
    return (await world.rest('POST', path, { session, body })).body.id;
  }

  it('filters of the mission list are in the URL; several selected missions can be canceled at once, and run again at once', async () => {
    const ids = [await run('Paint it red'), await run('Paint it blue'), await run('Left alone')];
    await run('By the clock', { kind: 'scheduled', status: 'completed' });
    const page = await open('/console/runs?kind=scheduled');
    await page.getByText('By the clock').waitFor();
    expect(await page.getByText('Left alone').count()).toBe(0);
    await page.getByLabel('Started by').selectOption('A person');
    await page.getByText('Left alone').waitFor();
    expect(new URL(page.url()).search).toBe('?kind=manual');
    await page.getByLabel('Period').selectOption('Between two days');
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByText(/^(1 Jan|Jan 1,) 2020$/).waitFor();
    await page.getByLabel('To', { exact: true }).fill('2020-02-01');
    await page.getByText('No mission matches the filters.').waitFor();
    await page.goto('/console/runs?kind=manual');
    await page.getByLabel('Select Paint it red').check();
    await page.getByLabel('Select Paint it blue').check();
    await pages.inspect(page, 'runs-selected');
    await page.getByRole('button', { name: 'Cancel the selected missions' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the selected missions' }).click();
    await page.getByText('canceled').nth(1).waitFor();
    const statuses = async () =>
      Object.fromEntries((await world.knex('runs').whereIn('id', ids)).map((row) => [row.missionTitle, row.status]));
    await expect
      .poll(statuses)
      .toEqual({ 'Paint it red': 'canceled', 'Paint it blue': 'canceled', 'Left alone': 'dispatching' });
    await page.getByLabel('Select Paint it red').first().check();
    await page.getByLabel('Select Paint it blue').first().check();
    await page.getByRole('button', { name: 'Run again: selected missions' }).click();
    await expect
      .poll(async () => (await world.knex('runs').where({ orgId: shop.orgId, status: 'dispatching' })).length)
      .toBe(3);
  });

  it('projects, artifacts and agents are filtered and sorted by parameters of the URL', async () => {
    for (const name of ['Mobile', 'Mobile old']) {
      world.clock.turn(1);
      const id = await createProject(world, { session }, name);
      if (name === 'Mobile old')
        await world.rest('PATCH', `/projects/${id}`, { session, body: { status: 'archived' } });
    }
    const page = await open('/console/projects?status=archived');
    const names = page.locator('.rows .row-link');
    await expect.poll(() => names.allTextContents()).toEqual(['Mobile old']);
    await page.getByLabel('Status').selectOption('Any');
    await page.getByLabel('Find by name').fill('MOB');
    await expect.poll(() => names.allTextContents()).toEqual(['Mobile old', 'Mobile']);
    await page.getByLabel('Order').selectOption('Oldest first');
    await expect.poll(() => names.allTextContents()).toEqual(['Mobile', 'Mobile old']);
    expect(new URL(page.url()).search).toBe('?name=MOB&order=oldest');
    await page.reload();
    await expect.poll(() => names.allTextContents()).toEqual(['Mobile', 'Mobile old']);
    await pages.inspect(page, 'projects-found');
    await page.getByLabel('Find by name').fill('nothing');
    await page.getByText('No projects match the filters.').waitFor();
    await page.goto('/console/artifacts?kind=video');
    await page.getByText('No artifacts of this kind.').waitFor();
    await page.goto('/console/agents?role=planner');
    await page
      .getByText(/^planner · /)
      .first()
      .waitFor();
    expect(await page.getByText(/^builder · /).count()).toBe(0);
  });

  it('issues are filtered and sorted by parameters of the URL; the page of an issue escapes its text', async () => {
    const start = 'mutation ($at: String!, $prompt: String!) { startMission(projectId: $at, prompt: $prompt) { id } }';
    const at = await createProject(world, { session }, 'Tracked', { issueCode: 'TRK' });
    for (const prompt of ['Find dead code', 'Look <b>everywhere</b>.\n\nThen stop.']) {
      world.clock.turn(1);
      await world.graphql(start, { session, variables: { at, prompt } });
    }
    const page = await open('/console/issues');
    const titles = page.locator('.rows .row-link');
    await page.getByLabel('Project').selectOption('Tracked');
    await expect.poll(() => titles.allTextContents()).toEqual(['Look <b>everywhere</b>.', 'Find dead code']);
    await page.getByLabel('Order').selectOption('Oldest first');
    await expect.poll(() => titles.allTextContents()).toEqual(['Find dead code', 'Look <b>everywhere</b>.']);
    expect(new URL(page.url()).search).toBe(`?projectId=${at}&order=oldest`);
    await pages.inspect(page, 'issues');
    await titles.last().click();
    await page.getByRole('heading', { name: 'Look <b>everywhere</b>.', level: 1 }).waitFor();
    await page.getByText('TRK-2').waitFor();
    expect(await page.getByRole('region', { name: 'Description' }).innerText()).toContain('.\n\nThen stop.');
    await pages.inspect(page, 'issue');
    await page.getByRole('region', { name: 'Missions' }).getByRole('link').click();
    await page.getByRole('region', { name: 'Prompt' }).getByText('Then stop.').waitFor();
    await page.getByRole('link', { name: 'TRK-2' }).click();
    await page.getByRole('link', { name: 'Issues' }).first().click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
  });

  it('the command palette is operated by keyboard', async () => {
    const page = await open('/console/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Search' }).click();
    const field = page.getByRole('combobox', { name: /^Go to/ });
    await field.fill('shop');
    await page.getByRole('option', { name: 'Web shop Project' }).waitFor();
    await pages.inspect(page, 'palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('start mi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Start a mission' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('zzz');
    await page.getByText('No results.').waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await field.fill('tokens');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Personal access tokens' }).waitFor();
  });

  it('the command palette searches missions on the server, and finds issues, schedules and members', async () => {
    await run('Polish the chrome', { createdAt: 1, status: 'completed' });
    await world.knex('runs').insert(
      Array.from({ length: 60 }, (_, n) => ({
        ...{ id: newId('run'), ...shop, kind: 'manual', status: 'completed', missionTitle: `Newer ${n}` },
        ...{ scheduledFor: present(), createdAt: present(), updatedAt: present() },
      })),
    );
    await recurring('Sweep the floor', '/scheduled-tasks', shop.projectId);
    const page = await open('/console/overview');
    await page.getByRole('button', { name: 'Search' }).click();
    const field = page.getByRole('combobox', { name: /^Go to/ });
    for (const [typed, option] of [
      ['dead code', /^Find dead code\s*Issue TRK-1/],
      ['sweep', /^Sweep the floor\s*Scheduled task/],
      ['alice', /^Alice, .*Member/],
      ['connect a run', /^Connect a runtime\s*Action/],
      ['the CHROME', /^Polish the chrome\s*Mission, completed/],
    ] as const) {
      await field.fill(typed);
      await page.getByRole('option', { name: option }).waitFor();
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Polish the chrome', level: 1 }).waitFor();
  });

  it('the schedules of all projects are in one list, sorted by their next start, with paused ones at the end; each shows the outcome of its latest run', async () => {
    const elsewhere = await createProject(world, { session }, 'Elsewhere');
    await recurring('At rest', '/scheduled-tasks', elsewhere, { enabled: false });
    const later = await recurring('Later', '/scheduled-tasks', elsewhere);
    const soon = await recurring('Soon', '/automations', elsewhere);
    await world
      .knex('recurring_missions')
      .where({ id: later })
      .update({ nextRunAt: present() + 7_200_000 });
    await world
      .knex('recurring_missions')
      .where({ id: soon })
      .update({ nextRunAt: present() + 3_600_000 });
    await run('Was', { recurringId: later, projectId: elsewhere, kind: 'scheduled', status: 'failed' });
    const page = await open(`/console/overview`);
    await page.getByRole('link', { name: 'Schedules', exact: true }).click();
    const names = page.locator('.task-row .row-link');
    await page.getByText('Sweep the floor').waitFor();
    await page.getByLabel('Project').selectOption('Elsewhere');
    await expect.poll(() => names.allTextContents()).toEqual(['Soon', 'Later', 'At rest']);
    await page
      .locator('.task-row', { hasText: 'Later' })
      .getByRole('link', { name: /failed/ })
      .waitFor();
    await pages.inspect(page, 'schedules');
    await page.getByLabel('State').selectOption('paused');
    await expect.poll(() => names.allTextContents()).toEqual(['At rest']);
    await page.getByRole('link', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Create an automation' }).waitFor();
    await page.goBack();
    await page.getByLabel('State').selectOption('Any');
    await page.getByRole('link', { name: 'Soon' }).click();
    await page.getByRole('heading', { name: 'Soon', level: 1 }).waitFor();
  });

  it('the page of a failed mission shows the end of its log, the cost of each step and its artifacts', async () => {
    const id = await run('Make it faster', { status: 'failed', lastError: 'The tests failed.', issueId: 'iss_9' });
    const sandbox = await startSandbox(shop, { runId: id, issueId: 'iss_9' });
    const sitting = await startSession(sandbox, { sessionId: 'one', outcome: 'failed' });
    const red = '\u001b[31mnot ok 3\u001b[0m';
    await writeLog(sitting, 'session', [
      `${Array.from({ length: 1_000 }, (_, n) => `line ${n}`).join('\n')}\n`,
      `${red}\n`,
    ]);
    await writeSteps(shop, id, [{ costUsd: 0.75 }, { role: 'reviewer', costUsd: 0.25 }]);
    await leaveArtifact(shop, '{"p95":40}', {
      ...{
        sandboxId: sandbox.id,
        issueId: 'iss_9',
        kind: 'report',
        contentType: 'application/json',
        caption: 'Figures',
      },
    });
    const page = await open(`/console/runs/${id}`);
    const end = page.getByRole('region', { name: 'Where it failed' });
    await end.getByText('not ok 3').waitFor();
    expect(await end.locator('mark .ansi-red').textContent()).toBe('not ok 3');
    expect(await page.getByRole('progressbar').count()).toBe(0);
    await page.getByRole('tab', { name: /^Artifacts/ }).click();
    await page.getByText('Show Figures').click();
    await page.getByText('p95: 40').waitFor();
    await page.getByText('Copy', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Copy id' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id);
    await page.getByText(`aep show ${id}`).waitFor();
    await pages.inspect(page, 'copy-as');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied: Copy as curl' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl -H "Authorization: Bearer $TOKEN" '${world.url}/v1/runs/${id}'`,
    );
    await page.keyboard.press('Escape');

    await end.getByRole('link', { name: 'Whole log' }).click();
    await page.getByText('1001 lines').waitFor();
    expect(await page.locator('.ansi-red').textContent()).toBe('not ok 3');
    await page.getByLabel('Find in the log').fill('LINE 99');
    await page.getByText('11 of 1001 lines').waitFor();
    await page.getByRole('button', { name: 'Wrap lines' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe('builder-one-session.log');
  });

  it('an agent’s Markdown is shown without HTML and pictures, and its JSON can be folded', async () => {
    const markdown = `# Report

All **well** &amp; done. <script>alert(1)</script><img src="http://evil.example/a.png" onerror="alert(1)">

![a picture](http://evil.example/b.png) [press](javascript:alert(1)) [local](/console/tokens) [docs](https://example.com/a)

- [x] measured

| p95 | p99 |
|---|---|
| 40 | 90 |
`;
    const leave = (content: string, contentType: string, caption: string) =>
      leaveArtifact(shop, content, { kind: 'report', contentType, caption });
    await leave(markdown, 'text/markdown', 'Report');
    await leave('>'.repeat(20_000), 'text/markdown', 'Deep');
    const list = Array.from({ length: 250 }, (_, n) => ({ n, at: { depth: [n] } }));
    await leave(JSON.stringify({ list, ok: true, who: '<b>' }), 'application/json', 'Figures of today');
    await leave('{"cut": ', 'application/json', 'Half');
    await leave('<h1>Hi</h1>', 'text/html', 'Page');
    const page = await open('/console/artifacts');
    const show = async (name: string) => {
      const artifact = page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
      await artifact.getByText(`Show ${name}`).click();
      return artifact;
    };
    const report = await show('Report');
    await report.getByRole('heading', { name: 'Report', level: 3 }).waitFor();
    await report.getByText('All well & done. <script>alert(1)</script><img src="http://evil.example/a.png"').waitFor();
    await report.getByRole('cell', { name: '90' }).waitFor();
    await report.getByText('☑ measured').waitFor();
    expect(await report.locator('.markdown :is(img, script)').count()).toBe(0);
    const links = report.locator('.markdown a');
    expect(await links.evaluateAll((all) => all.map((link) => String(link)))).toEqual([
      'http://evil.example/b.png',
      'https://example.com/a',
    ]);
    expect(await links.last().getAttribute('rel')).toBe('noopener noreferrer nofollow ugc');
    await (await show('Deep')).getByText('>>>>>').waitFor();
    const figures = await show('Figures of today');
    await figures.getByText('who: "<b>"').waitFor();
    expect(await figures.getByText(/^n: /).count()).toBe(0);
    await figures.getByText('7: { 2 members }', { exact: true }).click();
    await figures.getByText('n: 7').waitFor();
    await figures.getByRole('button', { name: '150 more' }).click();
    await figures.getByText('199: { 2 members }').waitFor();
    await (await show('Half')).getByText('{"cut":').waitFor();
    await (await show('Page')).getByText('<h1>Hi</h1>').waitFor();
    await pages.inspect(page, 'previews');
  });

  it('a long log is read in pieces, rendered only where visible, and followed to its end', async () => {
    const sandbox = await startSandbox(shop);
    const sitting = await startSession(sandbox, { sessionId: 'long' });
    const lines = Array.from({ length: 40_000 }, (_, n) => `line ${n} ${'words '.repeat(n % 20)}`);
    const hostile = '<img src=x onerror=alert(1)>\u001b[38;5;1mred\u001b[38;2;1;2;3m\u001b]0;title\u0007 plain';
    const text = `${lines.join('\n')}\n${'x'.repeat(20_000)}\n${hostile}\n`;
    const pieces = text.match(/[\s\S]{1,60000}/g)!;
    await writeLog(sitting, 'session', pieces);
    const page = await open(`/console/sandboxes/${sandbox.id}`);
    const box = page.getByRole('region', { name: 'Content of the log' });
    const scrollTo = (top: number) =>
      box.evaluate((it, to) => {
        (it as unknown as { scrollTop: number }).scrollTop = to;
      }, top);
    const laidOut = () => page.locator('.log-line').count();
    await box.getByText('<img src=x onerror=alert(1)>red plain').waitFor();
    expect(await page.locator('.ansi-red').textContent()).toBe('red');
    await box.getByText('… 15000 more characters').waitFor();
    await page.getByText(/ lines read, of 2\.\d MB/).waitFor();
    await page.getByRole('button', { name: 'Load whole log' }).click();
    await page.getByText('40002 lines', { exact: true }).waitFor();
    await scrollTo(0);
    await box.getByText('line 0', { exact: true }).waitFor();
    expect(await laidOut()).toBeLessThan(100);
    await page.getByLabel('Find in the log').fill('LINE 3999');
    await page.getByText('11 of 40002 lines').waitFor();
    await page.getByLabel('Find in the log').fill('');
    await page.getByRole('button', { name: 'Wrap lines' }).click();
    await box.getByText('red plain').waitFor();
    // The keys Page Up and Page Down skip no line.
    await scrollTo(100_000);
    await box
      .getByText(/^line 57/)
      .first()
      .waitFor();
    await box.focus();
    const numbers = async () => (await box.innerText()).match(/line \d+/g)!.map((line) => Number(line.slice(5)));
    const before = await numbers();
    await page.keyboard.press('PageDown');
    await expect.poll(async () => (await numbers())[0]).toBeGreaterThan(before[0]!);
    expect((await numbers())[0]).toBeLessThan(before.at(-1)!);
    const more = { sandboxId: sandbox.id, role: 'builder', sessionId: 'long', part: 'session' };
    const appendedAt = Date.UTC(2026, 10, 20, 9, 30, 15);
    await world.knex('sandbox_log_parts').insert({ ...more, seq: pieces.length, content: 'größer\nand', appendedAt });
    await page.getByRole('button', { name: 'Follow' }).click();
    await box.getByText('größer').waitFor();
    await page.getByRole('button', { name: 'Times' }).click();
    const time = await page.evaluate((at) => new Date(at).toTimeString().slice(0, 8), appendedAt);
    await expect.poll(() => box.innerText()).toMatch(new RegExp(`red plain\\n${time} größer\\n${time} and$`));
    await pages.inspect(page, 'log-long');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const saved = readFileSync((await (await downloading).path())!, 'utf8');
    expect(saved).toBe(`${text.replace(hostile, '<img src=x onerror=alert(1)>red plain')}größer\nand`);
    // Without polls, a new line is read when it is announced.
    await page.evaluate(`(() => {
      const { setTimeout } = window;
      window.setTimeout = (act, ms, ...more) => (ms === 2000 ? 0 : setTimeout(act, ms, ...more));
    })()`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('button', { name: 'Follow' }).click();
    for (const [n, content] of [' more\n', 'the newest'].entries()) {
      await world.knex('sandbox_log_parts').insert({ ...more, seq: pieces.length + 1 + n, content, appendedAt });
      announceCommitted(sandbox.id);
      await box.getByText(n ? content : 'and more').waitFor();
    }
  });

  it('with 10,000 missions and 1,000 projects, lists appear after a click, and the test prints how long they take', async () => {
    await world.knex.raw(
      `insert into runs (id, org_id, project_id, scheduled_for, kind, status, mission_title, created_at, updated_at)
       select 'run_many_' || n, ?, ?, n, 'scheduled', 'completed', 'Run number ' || n, n, n from generate_series(1, 10000) n`,
      [shop.orgId, shop.projectId],
    );
    await world.knex.raw(
      `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, created_at)
       select 'prj_many_' || n, ?, 'many-' || n, 'Project ' || n, 'active', 'builtin', 'acme', 'many-' || n, n
       from generate_series(1, 1000) n`,
      [shop.orgId],
    );
    const page = await open('/console/overview');
    await page.getByRole('region', { name: 'Recent missions' }).getByRole('link').first().waitFor();
    const menu = page.getByRole('navigation', { name: 'Console' });
    const times: number[] = [];
    for (const [name, first] of [
      ['Projects', '.rows .row-link'],
      ['Missions', '.rows .row-link'],
      ['Agents', '.rows .row-link'],
    ] as const) {
      await menu.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      const began = Date.now();
      await page.locator(first).first().waitFor();
      times.push(Date.now() - began);
    }
    // The durations are printed and not asserted: no test depends on the speed of a machine.
    console.log(`rows after the heading of projects, missions, agents: ${times.join(', ')} ms`);
  });
});
