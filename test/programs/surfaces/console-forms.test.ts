// The forms of the console for missions, projects and scheduled tasks, in a real browser. The tests find fields and buttons by role and
// label. A form loses no value when the connection or the session ends, or when another person has saved first.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openBrowser } from '../../support/browser.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/console-world.ts';
import type { PageInspector } from '../../support/page-inspector.ts';
import type { Session, World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Forms of the console', () => {
  let forms: ConsoleWorld;
  let world: World;
  let pages: PageInspector;
  let acme: Organization;
  let session: Session;
  let projectId: string;
  beforeAll(async () => {
    forms = await openConsoleWorld(launched as Browser);
    ({ world, pages, acme, session, projectId } = forms);
  });
  afterEach(() => forms.check());
  afterAll(() => world.close());
  const open = (path: string): Promise<Page> => forms.open(path);
  const asked = (query: string) => forms.asked(query);
  const runsWith = (prompt: string) => world.knex('runs').where({ orgId: acme.id, prompt });

  it('a mission is started with its limits, and can be started again with the same prompt', async () => {
    const page = await open(`/console/projects/${projectId}`);
    await page.getByRole('link', { name: 'Start mission' }).click();
    expect(await page.getByLabel('Project').inputValue()).toBe(projectId);
    await page.getByLabel('Task').fill('Shorten the readme\n\nKeep the commands.');
    await page.getByLabel('Agent').selectOption({ index: 1 });
    await page.getByLabel('Plan').selectOption('Wait until a person has approved it');
    await page.getByLabel('Budget in US dollars').fill('2.5');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('heading', { name: 'Shorten the readme' }).waitFor();
    const first = new URL(page.url()).pathname;
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => /\/runs\/run_/.test(url.pathname) && url.pathname !== first);
    const rows = await runsWith('Shorten the readme\n\nKeep the commands.');
    expect(rows.map(({ budgetUsd, agentId }) => [budgetUsd, agentId !== null])).toEqual([
      [2.5, true],
      [2.5, true],
    ]);
  });

  it('a mission cannot start without a model, and the page says what to connect; a script agent needs none', async () => {
    const known = await world.knex('runtime_harnesses').select();
    await world.knex('runtime_harnesses').delete();
    const page = await open('/console/runs/new');
    await page.getByText('No model is connected').first().waitFor();
    await page.getByLabel('Task').fill('echo it works');
    const start = page.getByRole('button', { name: 'Start mission' });
    expect(await start.isDisabled()).toBe(true);
    await pages.inspect(page, 'mission-without-model');
    await page.getByLabel('Agent').selectOption('Script');
    expect(await page.getByLabel('Script').inputValue()).toBe('echo it works');
    await pages.inspect(page, 'mission-script');
    await start.click();
    await page.getByRole('heading', { name: 'echo it works' }).waitFor();
    expect(await runsWith('echo it works')).toMatchObject([{ agentId: 'agn_builtin_shell' }]);
    await page.goto('/console/runs/new');
    await page.getByRole('link', { name: 'Connect a model' }).click();
    expect(await page.getByLabel('Connection', { exact: true }).inputValue()).toBe('Anthropic: language models');
    await page.goto(`/console/tasks/new?projectId=${projectId}`);
    await page.getByLabel('Template').selectOption({ value: 'script' });
    await page.getByLabel('Script').waitFor();
    await world.knex('runtime_harnesses').insert(known);
  });

  it('an invalid field shows its error and receives the focus', async () => {
    const page = await open('/console/runs/new');
    await page.getByLabel('Task').fill('Look around.');
    await page.getByLabel('Budget in US dollars').fill('20000');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByText('Must be at most 10000.').waitFor();
    const field = page.getByLabel('Budget in US dollars');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await pages.inspect(page, 'form-error');
    expect(await page.getByLabel('Task').inputValue()).toBe('Look around.');
  });

  it('a form that a button opens has the focus, and its button has the focus again when the form closes', async () => {
    const page = await open('/console/audit');
    const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
    const change = page.getByRole('button', { name: 'Change the retention' });
    await change.press('Enter');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('500\n');
    await page.getByText('Events are deleted after 500 days.').waitFor();
    expect(await focused()).toBe('Change the retention');
    await page.goto('/console/billing');
    await page.getByRole('button', { name: 'Add budget' }).press('Enter');
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByRole('button', { name: 'Add budget' }).waitFor();
    expect(await focused()).toBe('Add budget');
  });

  it('a form whose answer was lost takes effect once when it is sent again, and keeps its values without a connection', async () => {
    const page = await open('/console/runs/new');
    const keys: (string | undefined)[] = [];
    let lost = 0;
    const isStart = (text: string | null) => text?.includes('mutation StartMission') ?? false;
    await page.route('**/graphql', async (route) => {
      const request = route.request();
      if (!isStart(request.postData())) return route.continue();
      keys.push(request.headers()['idempotency-key']);
      // The service accepts the request, but its response is lost.
      if (lost++ === 0) await route.fetch();
      return lost < 3 ? route.abort('connectionreset') : route.continue();
    });
    await page.getByLabel('Task').fill('Once only.');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('alert').getByText('No connection').waitFor();
    expect(await page.getByLabel('Task').inputValue()).toBe('Once only.');
    await page.getByRole('button', { name: 'Start mission' }).click();
    await page.getByRole('heading', { name: 'Once only.' }).waitFor();
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect(await runsWith('Once only.')).toHaveLength(1);
    for (const fault of pages.takeProblems()) expect(fault).toContain('ERR_CONNECTION_RESET');
  });

  it('a form keeps its values through a new sign-in when the session ended while it was open', async () => {
    const page = await open('/console/runs/new');
    await page.getByLabel('Task').fill('מרחבא 🌊 dünya');
    // The session ends only when the form is sent. If the session ended earlier, any request that the page makes before the form is sent
    // would lead to the sign-in page.
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation StartMission')) await page.context().clearCookies();
      await route.continue();
    });
    await page.getByRole('button', { name: 'Start mission' }).click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    // Keys that are typed while the dialog is open change no field behind it.
    await ended.waitFor();
    await page.keyboard.type('x\n');
    await ended.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/sign-in?return_to=*');
    await page.context().addCookies([{ name: 'session', value: session.secret, url: world.url }]);
    await page.goto(new URL(page.url()).searchParams.get('return_to')!);
    await page.getByText('Your unsent changes have been restored.').waitFor();
    expect(await page.getByLabel('Task').inputValue()).toBe('מרחבא 🌊 dünya');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await page.getByLabel('Task').inputValue()).toBe('');
    for (const fault of pages.takeProblems()) expect(fault).toContain('401');
  });

  it('a project is created, changed and paused, and is deleted after its name was typed; concurrent edits are reported', async () => {
    const page = await open('/console/projects');
    await page.getByRole('link', { name: 'Create project' }).click();
    // The previous page has a field with the same label.
    await page.getByRole('heading', { name: 'Create a project' }).waitFor();
    const long = 'x'.repeat(120);
    await page.getByLabel('Name').fill(long);
    await page.getByLabel('Repository').fill('no repository');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.locator('[aria-invalid]').waitFor();
    await page.getByLabel('Repository').fill('acme/app');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: long }).waitFor();
    await pages.inspect(page, 'project-long');
    await page.getByRole('link', { name: 'Settings' }).last().click();
    await page.getByRole('heading', { name: 'Project settings' }).waitFor();
    const [size, parent] = [
      page.viewportSize()!,
      page.getByRole('navigation', { name: 'Breadcrumbs' }).getByTitle(long),
    ];
    await page.setViewportSize({ width: 390, height: 844 });
    const isCut = (link: HTMLElement) => link.scrollWidth > link.offsetWidth && link.offsetHeight < 24;
    expect(await parent.evaluate(isCut)).toBe(true);
    await page.setViewportSize(size);
    const linear = {
      orgId: acme.id,
      vendor: 'linear',
      vendorKind: 'tracker',
      displayName: 'Issues',
      credentials: 'lin_api_x',
    } as const;
    const { id: trackerConnectorId } = await connectIntegration(linear);
    await page.reload();
    await page.getByLabel('Issue tracker').selectOption('Issues (Linear)');
    await page.getByLabel('Team').fill('ENG');
    await page.getByRole('button', { name: 'Save connectors' }).click();
    await expect
      .poll(() => world.knex('projects').where({ name: long }).first())
      .toMatchObject({ tracker: 'linear', trackerConnectorId, trackerTeamId: 'ENG' });
    await pages.inspect(page, 'project-settings');
    const other = await pages.open(session);
    await other.goto(page.url());
    await other.getByLabel('Name').fill('شركة التطبيق');
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    const names = async () =>
      (await asked('{ projects { data { name } } }')).projects.data.map(({ name }: { name: string }) => name).sort();
    await expect.poll(names).toEqual(['Web shop', 'شركة التطبيق']);
    await page.getByLabel('Name').fill('App 🚀');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const told = page.getByRole('alert');
    await told.getByText('Name: now “شركة التطبيق”, yours “App 🚀”').waitFor();
    await pages.inspect(page, 'conflict');
    await told.getByRole('button', { name: 'Save my changes' }).click();
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('App 🚀').waitFor();
    await page.getByRole('button', { name: 'Pause project' }).click();
    await page.getByRole('button', { name: 'Resume project' }).waitFor();
    await page.getByLabel('Type App 🚀 to confirm').fill('App 🚀');
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    expect(await names()).toEqual(['Web shop']);
  });

  it('a scheduled task is created from a template and shows its next times; it can be paused, duplicated, run and deleted', async () => {
    const page = await open(`/console/projects/${projectId}`);
    await page.getByRole('link', { name: 'Create scheduled task' }).click();
    await page.getByLabel('Template').selectOption({ index: 1 });
    await page.getByLabel('Name').fill('Look after it');
    await page.getByLabel('Repeats').selectOption('Monthly');
    await page.getByLabel('Day of the month').fill('31');
    await page.getByLabel('Time', { exact: true }).fill('02:30');
    await page.getByLabel('Time zone').fill('Pacific/Auckland');
    const preview = page.getByRole('region', { name: 'Next times' }).locator('time');
    await expect.poll(() => preview.count()).toBe(5);
    const times = await preview.evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
    await pages.inspect(page, 'task-new');
    await page.getByRole('button', { name: 'Create scheduled task' }).click();
    await page.getByRole('heading', { name: 'Look after it' }).waitFor();
    const id = page.url().split('/').at(-1);
    const { scheduledTask } = await asked(`{ scheduledTask(id: "${id}") { upcoming enabled templateKey } }`);
    expect(scheduledTask.upcoming.map((at: number) => new Date(at).toISOString())).toEqual(times);
    expect(scheduledTask.templateKey).not.toBeNull();
    await page.getByLabel('Labels').fill('care, weekly');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await asked(`{ scheduledTask(id: "${id}") { labels } }`)).scheduledTask.labels)
      .toEqual(['care', 'weekly']);
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByText('The schedule is paused.').waitFor();
    // The button was disabled while it was busy. It has the focus again, so that the next key does not begin at the top of the page.
    const resume = page.getByRole('button', { name: 'Resume' });
    await expect.poll(() => resume.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await pages.inspect(page, 'task');
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Create a scheduled task' }).waitFor();
    await page.getByLabel('Name').fill('A copy');
    expect(await page.getByLabel('Labels').inputValue()).toBe('care, weekly');
    await page.getByRole('button', { name: 'Create scheduled task' }).click();
    await page.getByRole('heading', { name: 'A copy' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Look after it' }).click();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL('**/runs/run_*');
    await page.getByRole('link', { name: 'Look after it' }).waitFor();
  });
});
