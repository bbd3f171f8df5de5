// Runs, sandboxes and artifacts in the console, in a real browser. Their pages show changes as they happen, and a person can act on them there. No
// page may have failures, send requests to other machines, or have serious accessibility problems that axe finds.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { seconds } from '#foundation/clock.ts';
import { openBrowser } from '../../support/browser.ts';
import { film, type Morning, openMorning } from '../../support/console-morning.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import { leaveArtifact, noteArtifact, showFragments, startSandbox, writeSteps } from '../../support/runtime-records.ts';
import { present, type Session } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Missions in the console', () => {
  let morning: Morning;
  let world: Morning['world'];
  let pages: Morning['pages'];
  let acme: Morning['acme'];
  let shop: Morning['shop'];
  let sandbox: Morning['sandbox'];
  let another: Morning['another'];
  let project: Morning['project'];
  let schedule: Morning['schedule'];
  let recurring: Morning['recurring'];
  let run: Morning['run'];
  let held: Morning['held'];
  beforeAll(async () => {
    morning = await openMorning(launched as Browser);
    ({ world, pages, acme, shop, sandbox, another, project, schedule, recurring, run, held } = morning);
  });
  afterEach(() => morning.check());
  afterAll(() => morning.close());

  const open = (session: Session | null = acme.session, options?: BrowserContextOptions) =>
    pages.open(session, options);
  const inspect = (page: Page, name: string) => pages.inspect(page, name);

  it('a person answers a question with one of its choices, and denies a tool call with a reason', async () => {
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

  it('"Run now" starts a run and opens its page, which follows the run to its end without a reload', async () => {
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

  it('the page of a run polls when server-sent events are blocked', async () => {
    const id = await run({ ...held(), missionTitle: 'Behind a proxy', missionActivity: 'Beginning' });
    const page = await open(acme.session, {});
    await page.route('**/graphql?*', (route) => route.abort());
    await page.clock.install();
    await page.goto(`/console/runs/${id}`);
    await page.getByText('Beginning').waitFor();
    await world.knex('runs').where({ id }).update({ missionActivity: 'Half way' });
    await page.clock.runFor(seconds(5));
    await page.getByText('Half way').waitFor();
    for (const fault of pages.takeProblems()) expect(fault).toContain('net::ERR_FAILED');
  });

  it('a person approves the plan of a run, interrupts and resumes its agent, and sends it a message', async () => {
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

  it('a mission that waits for a person to act is marked on the overview, and found by the filter "Needs me"', async () => {
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

  it('a run is canceled only after a confirmation', async () => {
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

  it('the page of a sandbox shows its logs by session and part, describes its charts, and says when it was killed', async () => {
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

  it('artifacts are filtered by project; pictures are shown, videos load in a player, and other files are downloaded', async () => {
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
});
