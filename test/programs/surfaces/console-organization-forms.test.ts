// Forms of the console for agents, members, settings and hooks. The tests use a real browser, where they find elements by role and label.
import { createHmac } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { openBrowser } from '../../support/browser.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/console-world.ts';
import type { PageInspector } from '../../support/page-inspector.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import { present, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Forms of an organization in the console', () => {
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

  it('an agent is created, changed and deleted; a trial of one of its versions is compared with the others; a built-in agent cannot be changed', async () => {
    const runtime = await createRuntime(world, acme);
    await runtime.claim({ runtime: 'Rack 7', harnesses: ['codex'] });
    const page = await open('/console/agents');
    await page.getByRole('region', { name: 'Runtimes' }).getByText('Rack 7').waitFor();
    await pages.inspect(page, 'agents');
    await page.getByRole('link', { name: 'Create agent' }).click();
    await page.getByLabel('Name').fill('Careful reviewer');
    await page.getByLabel('Role').selectOption('reviewer');
    await page.getByLabel('Harness').selectOption('codex');
    await page.getByLabel('Model').selectOption({ index: 1 });
    await page.getByLabel('Repositories with skills').fill('acme/skills');
    await pages.inspect(page, 'agent-new');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByText('Availability: runs on').waitFor();
    await page.getByLabel('Effort').selectOption('High');
    await page.getByRole('button', { name: 'Save' }).click();
    const agents = async () => (await asked('{ agents { data { name effort isBuiltin id } } }')).agents.data;
    const mine = async () => (await agents()).find(({ name }: { name: string }) => name === 'Careful reviewer');
    await expect.poll(async () => (await mine()).effort).toBe('high');
    // Another person saves after the page has compared the versions, and before the page's own change arrives.
    let isFirst = true;
    await page.route('**/graphql', async (route) => {
      if (isFirst && route.request().postData()?.includes('mutation')) {
        isFirst = false;
        const body = { name: 'Careful reviewer', effort: 'low', userPrompt: 'Be kind.' };
        await world.rest('PATCH', `/agents/${(await mine()).id}`, { session, body });
      }
      await route.continue();
    });
    await page.getByLabel('Effort').selectOption('Medium');
    await page.getByRole('button', { name: 'Save' }).click();
    const told = page.getByRole('alert').filter({ hasText: 'Somebody has changed this' });
    await told.getByText('now “low”, yours “medium”').waitFor();
    await told.getByText('now “Be kind.”').waitFor();
    expect((await mine()).effort).toBe('low');
    await told.getByRole('button', { name: 'Save my changes' }).click();
    await expect.poll(async () => (await mine()).effort).toBe('medium');
    const versions = page.getByRole('region', { name: 'Versions' });
    await versions.getByText('Version 4', { exact: true }).waitFor();
    await page.getByLabel('Effort').selectOption('Low');
    await page.getByLabel('Applies to').selectOption('Trial: 25 % of new missions');
    await page.getByLabel('Note').fill('Cheaper?');
    await page.getByRole('button', { name: 'Start trial' }).click();
    await versions.getByText('Version 5 is on trial: 25 % of new missions use it.').waitFor();
    expect(await page.getByLabel('Effort').inputValue()).toBe('medium');
    await versions.getByText('Compare version 5').click();
    await versions.getByLabel('Compared with').selectOption('Version 2');
    await versions.getByText('- Effort: high').waitFor();
    await pages.inspect(page, 'agent-versions');
    await world.knex.raw(
      `insert into runs (id, org_id, project_id, kind, status, scheduled_for, created_at, updated_at, started_at, finished_at, prompt, team)
        select 'run_figures_' || n, ?, ?, 'manual', case when n % 2 = 0 then 'completed' else 'failed' end, at, at, at, at + 60000,
          at + 900000, 'Do it.', jsonb_build_array(jsonb_build_object('agentId', ?::text, 'name', 'Careful reviewer', 'role', 'reviewer',
            'version', case when n <= 20 then 4 else 5 end))
        from generate_series(1, 30) n, lateral (select ?::bigint - n * 7200000 as at) t`,
      [acme.id, projectId, (await mine()).id, present()],
    );
    await page.reload();
    await versions.getByText('+0 points completed, not significant').waitFor();
    await page.goto('/console/quality?by=version');
    await page.getByRole('rowheader', { name: 'Careful reviewer, version 5' }).waitFor();
    await pages.inspect(page, 'quality');
    await page.goBack();
    await versions.getByRole('button', { name: 'Use for all missions' }).click();
    await expect.poll(async () => (await mine()).effort).toBe('low');
    await versions.getByRole('button', { name: 'Restore version 2' }).click();
    await expect.poll(async () => (await mine()).effort).toBe('high');
    await page.goto('/console/agents');
    await page
      .getByRole('link', { name: (await agents()).find((one: { isBuiltin: boolean }) => one.isBuiltin).name })
      .first()
      .click();
    await page.getByText('A built-in agent cannot be changed.').waitFor();
    await pages.inspect(page, 'agent-builtin');
    await page.goto(`/console/agents/${(await mine()).id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    expect(await mine()).toBeUndefined();
  });

  it('a member is invited, and is found in a list of 500; the role of the member is changed, and the member is removed', async () => {
    await world.knex.raw(
      `with made as (insert into people (id, email, name, created_at)
         select 'usr_many_' || n, 'p' || n || '@example.com', 'Person ' || n, 1 from generate_series(1, 500) n returning id)
       insert into memberships (org_id, user_id, role, created_at) select ?, id, 'member', 1 from made`,
      [acme.id],
    );
    const page = await open('/console/members');
    await page.getByText('501 members').waitFor();
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByRole('button', { name: 'Send invite' }).click();
    await page.getByRole('button', { name: 'Resend the invite of new@example.com' }).click();
    const statuses = async () =>
      (await asked('{ invites { invites { status } } }')).invites.invites.map(
        ({ status }: { status: string }) => status,
      );
    await expect.poll(async () => (await statuses()).sort()).toEqual(['pending', 'revoked']);
    await page.getByRole('button', { name: 'Revoke the invite of new@example.com' }).click();
    await page.getByLabel('Find a member').fill('p499@');
    await page.getByLabel('Role of Person 499').selectOption('viewer');
    await page.getByRole('button', { name: 'Save the role of Person 499' }).click();
    await page.getByRole('button', { name: 'Save the role of Person 499' }).waitFor({ state: 'detached' });
    await pages.inspect(page, 'members');
    await page.getByRole('button', { name: 'Remove Person 499' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Person 499' }).click();
    await page.getByText('500 members').waitFor();
  });

  it('kinds of emails are turned off and on, and a conflict between two tabs is reported', async () => {
    const page = await open('/console/notifications');
    const save = (on: Page) =>
      on.getByRole('region', { name: 'Email me when' }).getByRole('button', { name: 'Save' }).click();
    const credits = 'Credits are low or used up';
    await page.getByLabel(credits).uncheck();
    await save(page);
    await page.getByText('Saved.').waitFor();
    await pages.inspect(page, 'notifications');
    const other = await open('/console/notifications');
    expect(await other.getByLabel(credits).isChecked()).toBe(false);
    await other.getByLabel('The credentials of a connector are rejected').uncheck();
    await save(other);
    await other.getByText('Saved.').waitFor();
    await page.getByLabel(credits).check();
    await save(page);
    await page.getByText('The credentials of a connector are rejected: now “no”, yours “yes”').waitFor();
    expect(await page.getByText('Saved.').count()).toBe(0);
    await page.getByRole('button', { name: 'Use their changes' }).click();
    await page.getByLabel(credits).check();
    await save(page);
    await page.getByText('Saved.').waitFor();
    const { noticeMails } = (await world.graphql('{ noticeMails { kind enabled } }', { session })).body.data;
    const off = noticeMails.filter(({ enabled }: { enabled: boolean }) => !enabled);
    expect(off.map(({ kind }: { kind: string }) => kind)).toEqual(['connector_broken']);
  });

  it('the daily cost cap, the choice of agents and the slug of the organization are changed', async () => {
    const page = await open('/console/settings');
    await page.getByLabel('Daily cost cap in US dollars').fill('12.5');
    await page.getByLabel('Plans wait for approval').check();
    await page.getByRole('region', { name: 'Missions' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('of $12.50 spent').waitFor();
    const choice = page.getByRole('region', { name: 'Choice of agents' });
    await choice.getByLabel('Let a model choose').setChecked(false);
    await choice.getByLabel('Model', { exact: true }).selectOption({ index: 1 });
    await choice.getByRole('button', { name: 'Save' }).click();
    const settings = () => world.knex('orchestrators').where({ orgId: acme.id }).first();
    await expect.poll(async () => (await settings()).inferenceEnabled).toBe(false);
    expect((await settings()).model).toBe(await choice.getByLabel('Model', { exact: true }).inputValue());
    await page.getByLabel('Slug').fill('UPPER CASE');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.locator('[aria-invalid]').waitFor();
    await page.getByLabel('Slug').fill('acme-2');
    await page.getByRole('button', { name: 'Save name' }).click();
    await expect
      .poll(async () => (await world.knex('organizations').where({ id: acme.id }).first()).slug)
      .toBe('acme-2');
    await pages.inspect(page, 'settings');
    await page.goto('/console/mcp');
    await page.getByRole('heading', { name: 'MCP servers' }).waitFor();
    await page
      .getByRole('region')
      .first()
      .getByText(/No MCP server is bound/)
      .first()
      .waitFor();
    await pages.inspect(page, 'mcp-servers');
  });

  it('the secret of a new hook is shown once; a rule is previewed on the hook’s events, and starts a mission', async () => {
    const page = await open('/console/hooks');
    await page.getByText('No hooks yet.').waitFor();
    await pages.inspect(page, 'hooks-empty');
    await page.getByLabel('Sender').selectOption('Any system');
    await page.getByLabel('Name', { exact: true }).fill('Errors');
    await page.getByLabel('Signature').selectOption('GitHub’s header');
    await page.getByRole('button', { name: 'Create hook' }).click();
    await page.getByText('You won’t see it again.').waitFor();
    const [secret, address] = await page.locator('.secret code').allTextContents();
    await page.getByRole('button', { name: 'Copy URL' }).waitFor();
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(secret);
    await pages.inspect(page, 'hook-new');
    const report = async (payload: object) => {
      const body = JSON.stringify(payload);
      const signed = `sha256=${createHmac('sha256', secret!).update(body).digest('hex')}`;
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signed, 'x-sender': '<b>CI</b>' };
      expect((await fetch(address!, { method: 'POST', body, headers })).status).toBe(202);
      world.clock.turn(1);
      await world.delivered();
    };
    await report({ type: 'build.passed', job: 'lint' });
    await report({ type: 'build.failed', job: '<i>test</i>' });
    await page.reload();
    await page.getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.goto(`/console/automations/new?projectId=${projectId}`);
    await page.getByLabel('Name', { exact: true }).fill('Mend builds');
    await page.getByLabel('Task').fill('Mend it.');
    await page.getByLabel('Agent').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Add rule' }).click();
    const times = page.getByRole('group', { name: 'Times' });
    await times.getByRole('button', { name: 'Remove' }).click();
    const rule = page.getByRole('group', { name: 'Rule 1' });
    await rule.getByRole('combobox', { name: 'Event' }).selectOption('Any event of a hook');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await rule.getByText('Is required when kind is webhook.').waitFor();
    await rule.getByRole('combobox', { name: 'Hook' }).selectOption('Errors');
    await rule.getByLabel('Filter').fill("type == 'build.failed'");
    await rule.getByLabel('Text for the agent').fill('Mend {{ job }}.');
    await rule.getByRole('button', { name: 'Preview' }).click();
    await rule.getByText('Mend <i>test</i>.').waitFor();
    await rule.getByText('The filter does not match.').waitFor();
    await pages.inspect(page, 'event-rule');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Mend builds', level: 1 }).waitFor();
    await page.getByText('Missions start on events.').waitFor();
    expect(await page.getByLabel('Filter').inputValue()).toBe("type == 'build.failed'");

    await page.goto('/console/schedules');
    await page.getByText('On events of a hook').waitFor();
    await page.goto('/console/hooks');
    await page.getByRole('link', { name: 'Errors' }).click();
    const failed = page.getByRole('listitem').filter({ hasText: 'build.failed' });
    await failed.getByText('No rule matched: no enabled automation or task has a rule for such an event.').waitFor();
    await failed.getByText('Show the event').click();
    await failed.getByText('x-sender: <b>CI</b>').waitFor();
    await failed.getByText('"job": "<i>test</i>"').waitFor();
    await pages.inspect(page, 'hook');
    await failed.getByRole('button', { name: 'Deliver again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deliver again' }).click();
    await expect
      .poll(async () => {
        await world.delivered();
        return world.knex('runs').where({ orgId: acme.id, issueText: 'Mend <i>test</i>.' });
      })
      .toHaveLength(1);
    await page.getByLabel('Outcome').selectOption('started');
    await page.getByText('delivered again').waitFor();
    await page.getByRole('link', { name: /^run_/ }).waitFor();
    await pages.inspect(page, 'hook-started');

    await world
      .knex('inbound_deliveries')
      .where({ orgId: acme.id, event: 'build.passed' })
      .update({ status: 'waiting' });
    await page.getByLabel('Outcome').selectOption('needs approval');
    await page.getByRole('button', { name: 'Start: build.passed' }).click();
    await page.getByText('No event has this outcome.').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Events of this hook are stored but start no missions.').waitFor();
    await page.getByRole('button', { name: 'Replace secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click();
    await page.getByText('You won’t see it again.').waitFor();
    expect(await page.locator('.secret code').first().textContent()).not.toBe(secret);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No hooks yet.').waitFor();
  });
});
