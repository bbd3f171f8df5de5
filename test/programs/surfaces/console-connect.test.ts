// Connecting an organization with vendors and runtimes in the console. The tests use a real browser, where they find elements by role and label.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { openGitHub } from '../../support/fake-github.ts';
import { openLinear } from '../../support/fake-linear.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { startModels } from '../../support/stand-in-models.ts';
import { openWorld, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Connections in the console', () => {
  const browser = launched as Browser;
  let world: World;
  let models: Awaited<ReturnType<typeof startModels>>;
  let linear: Awaited<ReturnType<typeof openLinear>>;
  let github: Awaited<ReturnType<typeof openGitHub>>;
  let pages: PageInspector;
  let acme: Organization;
  let owner: Session;
  let viewer: Session;

  beforeAll(async () => {
    [linear, github, models] = await Promise.all([openLinear('lin_api_right'), openGitHub('ghp_right'), startModels()]);
    world = await openWorld({ vendors: { linear: linear.address, github: github.address } });
    openOutbound({ allowLoopback: true });
    pages = createPageInspector(browser, world.url);
    const alice = await createOwner(world, 'Alice', 'Acme');
    acme = alice.organization;
    const victor = await createMember(world, acme, 'Victor', 'viewer');
    await world.knex('integrations').where({ orgId: acme.id }).delete();
    owner = await world.session(alice.person, acme.id);
    viewer = await world.session(victor.person, acme.id);
    await createProject(world, alice, 'Shop');
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
    expect([linear.violations, github.violations]).toEqual([[], []]);
  });
  afterAll(async () => {
    openOutbound({ allowLoopback: false });
    await Promise.all([world.close(), models.close(), linear.close(), github.close()]);
  });

  const open = async (path: string, session = owner): Promise<Page> => {
    const page = await pages.open(session);
    await page.goto(path);
    return page;
  };
  const rowOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

  it('a person connects GitHub, checks and rotates its token, and disconnects it from the project that uses it', async () => {
    const page = await open('/console/integrations');
    await page.getByText('Nothing is connected.').waitFor();
    await page.getByLabel('Connection').selectOption('GitHub: repositories');
    await page.getByLabel('Name').fill('Our code');
    await page.getByLabel('Token').fill('ghp_wrong');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('ghp_wrong');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Bad credentials').waitFor();
    expect(await page.getByLabel('Token').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Token').fill('ghp_right');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await rowOf(page, 'Our code').getByText('acme-bot').waitFor();
    await rowOf(page, 'Our code').getByText('1 project', { exact: true }).waitFor();
    expect(await page.getByLabel('Connection').inputValue()).toBe('Linear: issues');
    expect(await page.locator(':user-invalid').count()).toBe(0);

    github.settings.token = 'ghp_next';
    await page.getByRole('button', { name: 'Check Our code' }).click();
    await rowOf(page, 'Our code').getByText('Bad credentials').waitFor();
    await page.getByRole('button', { name: 'Rotate the credentials of Our code' }).click();
    await page.getByLabel('New token').fill('ghp_right');
    await page.getByRole('button', { name: 'Replace token' }).click();
    await page.locator('[aria-invalid]').waitFor();
    await pages.inspect(page, 'integrations-rotation');
    await page.getByLabel('New token').fill('ghp_next');
    await page.getByRole('button', { name: 'Replace token' }).click();
    await rowOf(page, 'Our code').getByText('connected', { exact: true }).waitFor();
    expect(await page.getByLabel('New token').count()).toBe(0);

    await page.getByRole('button', { name: 'Disconnect Our code' }).click();
    await page.getByText('1 project uses it as source host and will have none: missions that need one fail').waitFor();
    await pages.inspect(page, 'integrations-disconnect');
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect Our code' }).click();
    await page.getByText('Nothing is connected.').waitFor();
    expect(await world.knex('projects').where({ orgId: acme.id })).toMatchObject([{ scmConnectorId: null }]);
  });

  it('Linear is connected even while it does not answer; a viewer sees the connection but cannot change it', async () => {
    linear.disturb('Whose', 'lose the answer');
    const page = await open('/console/integrations');
    await page.getByLabel('Name').fill('Our issues');
    await page.getByLabel('API key').fill('lin_api_right');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Linear is unreachable.').waitFor();
    await page.getByRole('button', { name: 'Check Our issues' }).click();
    await rowOf(page, 'Our issues').getByText('connected', { exact: true }).waitFor();
    await page.getByLabel('Connection').selectOption('Built in: issues in the console');
    await page.getByLabel('Name').fill('Issues here');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: 'Disconnect Issues here' }).waitFor();
    const theirs = await open('/console/integrations', viewer);
    await rowOf(theirs, 'Our issues').waitFor();
    await theirs.getByText('Owners and admins can connect vendors').waitFor();
    expect(await theirs.getByRole('button', { name: /Our issues/ }).count()).toBe(0);
  });

  it('a key for language models is connected, replaced, revoked and disconnected, and not stored in the browser', async () => {
    models.settings.key = 'sk-ant-secret-of-ours';
    const page = await open('/console/integrations');
    await page.getByLabel('Connection').selectOption('Anthropic: language models');
    await page.getByLabel('Name').fill('Our models');
    await page.getByLabel('API key').fill('sk-ant-secret-of-ours');
    await page.getByLabel('Server', { exact: true }).fill(models.url);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('secret-of-ours');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: 'Rotate the credentials of Our models' }).click();
    models.settings.key = 'sk-ant-another';
    await page.getByLabel('New key').fill('sk-ant-another');
    await page.getByRole('button', { name: 'Replace key' }).click();
    await page.getByLabel('New key').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke the credentials of Our models' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the credentials of Our models' }).click();
    await rowOf(page, 'Our models').getByText('The connector has no credentials.').waitFor();
    await page.getByRole('button', { name: 'Disconnect Our models' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect Our models' }).click();
    await page.getByRole('button', { name: 'Disconnect Our models' }).waitFor({ state: 'detached' });
    expect(await world.knex('integrations').where({ orgId: acme.id, vendorKind: 'llm' })).toEqual([]);
  });

  it('a runtime is connected with the command on the page; its token is shown once, listed and revoked', async () => {
    const page = await open('/console/agents');
    await page.getByRole('link', { name: 'Connect a runtime' }).click();
    await page.getByLabel('Name').fill('Rack 7');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('You won’t see the token again.').waitFor();
    await pages.inspect(page, 'runtimes-command');
    const command = await page.locator('pre code').innerText();
    expect(command).toContain(`PLATFORM_URL=${world.url} node --import tsx src/runner/runner.ts`);
    await rowOf(page, 'Rack 7').getByText('never used').waitFor();
    await page.reload();
    await rowOf(page, 'Rack 7').waitFor();
    expect(await page.content()).not.toContain('srv_');

    const seen = () => world.knex('runtime_harnesses').where({ orgId: acme.id });
    const runner = spawn('sh', ['-c', command], {
      detached: true,
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    });
    try {
      await new Promise((resolve) => createInterface({ input: runner.stdout }).once('line', resolve));
      await expect.poll(async () => (await seen()).length).toBeGreaterThan(0);
    } finally {
      const ended = new Promise((resolve) => runner.once('exit', resolve));
      // The shell and the runner that it started.
      process.kill(-runner.pid!, 'SIGTERM');
      await ended;
    }
    await page.reload();
    await page.getByText('1 connected').waitFor();
    await rowOf(page, 'local-runner').getByText('shell').waitFor();
    await rowOf(page, 'Rack 7').filter({ hasText: 'local-runner' }).waitFor();
    await pages.inspect(page, 'runtimes');
    const theirs = await open('/console/runtimes', viewer);
    await theirs.getByText('Owners and admins can create the token').waitFor();
    await theirs.getByText('1 connected').waitFor();
    world.clock.turn(minutes(3));
    await theirs.reload();
    await rowOf(theirs, 'local-runner').getByText('disconnected').waitFor();

    await page.getByRole('button', { name: 'Revoke the token Rack 7' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token Rack 7' }).click();
    await rowOf(page, 'Rack 7').getByText('revoked').waitFor();
    expect(await world.knex('service_tokens').where({ name: 'Rack 7' })).toMatchObject([
      { revokedAt: expect.any(Number) },
    ]);
  });
});
