// The pages on which people set up the environments in which agents work: sandbox templates, networks, secrets and teams. The tests use a real
// browser, where they find elements by role and label.
import { text } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signRun } from '#domain/lifecycle/statements/sign.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { ConnectionVerdict } from '#domain/work/connections/model.ts';
import { addConnections } from '#domain/work/connections/record.ts';
import { recordPreparation } from '#domain/work/preparations/record.ts';
import { Run } from '#domain/work/runs/model.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, present, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Environments in the console', () => {
  const browser = launched as Browser;
  let world: World;
  let pages: PageInspector;
  let acme: Organization;
  let session: Session;
  let projectId: string;

  beforeAll(async () => {
    world = await openWorld();
    pages = createPageInspector(browser, world.url);
    const owner = await createOwner(world, 'Alice', 'Acme');
    acme = owner.organization;
    session = await world.session(owner.person, acme.id);
    projectId = await createProject(world, owner, 'Web shop');
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await world.close();
  });

  const create = async (path: string, body: object): Promise<string> =>
    (await world.rest('POST', path, { session, body })).body.id;
  const read = async (path: string) => (await world.rest('GET', path, { session })).body;
  const open = async (path: string, by = session): Promise<Page> => {
    const page = await pages.open(by);
    await page.goto(`/console/o/${acme.slug}${path}`);
    return page;
  };
  const lastSegment = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1)!;

  it('a sandbox template is created once its invalid fields are corrected, then changed, and deleted when it is unused', async () => {
    const page = await open('/templates');
    await page.getByRole('link', { name: 'Standard' }).waitFor();
    await pages.inspect(page, 'templates');
    await page.getByRole('link', { name: 'Create template' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Node');
    await page.getByLabel('Setup script').fill('npm ci\n');
    await page.getByRole('button', { name: 'Add variable' }).press('Enter');
    await page.keyboard.type('PATH');
    await page.getByRole('textbox', { name: 'Value of variable 1' }).fill('/bin');
    await page.getByRole('button', { name: 'Add service' }).click();
    await page.getByLabel('Name of service number 1').fill('Data base');
    await page.getByLabel('Image of service number 1').fill('postgres:17');
    await page.getByLabel('Variables of service number 1').fill('A=b=c\nPATH=/x');
    await page.getByLabel('Command of service number 1').fill('-c\nfsync=off');
    await page.getByLabel('Health check of service number 1').fill('pg_isready');
    // The page lists the public registries by name.
    await page.getByText(/^npm, JSR, PyPI, .*Alpine$/).waitFor();
    const agents = page.getByRole('group', { name: 'Hosts that agents may connect to' });
    await agents.getByRole('button', { name: 'Add host' }).click();
    await page.keyboard.insertText('API.example.com 10.0.0.1');
    await page.getByText('Outside effects that need approval').click();
    await page.getByLabel(/^Calls of MCP tools/).check();
    const tools = page.getByLabel('Tools that need no approval');
    await tools.fill('no tool');
    await page.getByRole('button', { name: 'Create template' }).click();
    await agents.getByText('Must be a host name, not an IP address.').waitFor();
    await expect.poll(() => page.getByText('PATH is set by the platform.').count()).toBe(2);
    await page.getByText('Must be the name of a server, or server.tool.').waitFor();
    expect(await tools.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Must be lower-case letters, digits and hyphens, beginning with a letter.').waitFor();
    expect(await agents.getByRole('textbox', { name: 'Host 2' }).getAttribute('aria-invalid')).toBe('true');
    expect(await agents.getByRole('textbox', { name: 'Host 1' }).getAttribute('aria-invalid')).toBe(null);
    await pages.inspect(page, 'template-errors');
    await agents.getByRole('button', { name: 'Remove host 2' }).click();
    await page.getByRole('textbox', { name: 'Name of variable 1' }).fill('CI');
    await page.getByLabel('Name of service number 1').fill('db');
    await tools.fill('docs.search\nissues');
    await page.getByLabel('Variables of service number 1').fill('A=b=c\n');
    await page.getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { name: 'Node', level: 1 }).waitFor();
    const templateId = lastSegment(page);
    const policy = { mode: 'packages', hosts: ['api.example.com'] };
    expect(await read(`/sandbox-templates/${templateId}`)).toMatchObject({
      name: 'Node',
      base: 'machine',
      setupScript: 'npm ci\n',
      variables: [{ name: 'CI', value: '/bin' }],
      effectPolicy: { waits: ['mcp_call'], allowedTools: ['docs.search', 'issues'] },
      services: [
        {
          ...{ name: 'db', image: 'postgres:17', variables: [{ name: 'A', value: 'b=c' }] },
          ...{ command: ['-c', 'fsync=off'], healthCheck: 'pg_isready' },
        },
      ],
      ...{ setupNetwork: policy, agentNetwork: policy, memoryMb: null },
    });

    await page.getByLabel('A container image').check();
    await page.getByLabel('Image', { exact: true }).fill('node:20');
    await page.getByLabel('The setup has its own list of hosts').check();
    await agents.getByLabel('No host').check();
    await page.getByText('Limits of a mission').click();
    await page.getByLabel('Memory in MiB').fill('2048');
    await expect.poll(() => page.getByLabel('Maximum minutes of a mission').getAttribute('max')).toBe('1440');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => read(`/sandbox-templates/${templateId}`))
      .toMatchObject({
        ...{ base: 'image', image: 'node:20', memoryMb: 2048 },
        ...{ setupNetwork: policy, agentNetwork: { mode: 'none', hosts: [] } },
      });
    await pages.inspect(page, 'template');

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Sandbox templates' }).waitFor();
    await page.getByRole('link', { name: 'Standard' }).click();
    await page.getByText('Every project and agent that has chosen no other template.').waitFor();
    await page.getByRole('link', { name: 'Duplicate' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect((await world.rest('GET', `/sandbox-templates/${templateId}`, { session })).status).toBe(404);
  });

  const sha = 'c'.repeat(40);

  /** A mission in a separate project, with an attested commit and the reports of its runtime about its environment. */
  async function mission(name: string): Promise<{ runId: string; projectId: string }> {
    const ofMission = await create('/projects', { name, repoFullName: `acme/${name.toLowerCase()}` });
    const runId = newId('run');
    const row = {
      ...{ id: runId, orgId: acme.id, projectId: ofMission, scheduledFor: present(), kind: 'manual' },
      ...{ status: 'completed', missionTitle: 'Build it', createdAt: present(), updatedAt: present() },
    };
    await world.knex('runs').insert(row);
    const place = { orgId: acme.id, projectId: ofMission as Id<'project'> };
    const run = await Run.get({ id: runId });
    const asked = (host: string, verdict: ConnectionVerdict, more: object = {}) => ({
      ...{ host, verdict, port: 443, phase: 'agent' as const, count: 3, sentBytes: 1_200, receivedBytes: 5_000_000 },
      ...more,
    });
    await transaction(async (trx) => {
      const connections = [
        asked('registry.npmjs.org', 'allowed', { phase: 'setup', count: 120, programs: ['npm'] }),
        asked('api.example.com', 'blocked'),
        asked('metrics.example.com', 'blocked', { port: 8443, count: 1 }),
        asked('intranet.example.com', 'not_public'),
      ];
      await addConnections(trx, run as Run, 'standard', 'one', connections);
      const preparation = { templateId: 'standard', lastLines: 'added 120 packages in 9s' };
      const lease = newId('lease');
      await recordPreparation(trx, run as Run, lease, {
        ...preparation,
        notes: ['devcontainer.json: features has no effect here.'],
        key: 'a',
        status: 'ready',
        seconds: 12,
        bytes: 4e8,
      });
      await recordPreparation(trx, run as Run, lease, { ...preparation, key: 'b', status: 'ready', seconds: 0 });
      const failed = { key: 'c', status: 'failed' as const, seconds: 3, lastLines: 'npm error 404 Not Found' };
      await recordPreparation(trx, run as Run, lease, { ...preparation, ...failed });
    });
    await world.knex('attestations').where({ orgId: acme.id, sha }).delete();
    await world.knex('attestations').insert({
      ...{ orgId: acme.id, projectId: ofMission, runId, stepId: newId('runStep'), reporterId: newId('service') },
      ...{ sha, treeSha: sha, position: 1, createdAt: present() },
    });
    await signRun({ runId });
    return { runId, ...place };
  }

  it('the page of a mission shows its environment and network, and one button allows a blocked host', async () => {
    const { runId, projectId: ofMission } = await mission('Blog');
    const page = await open(`/runs/${runId}`);
    const environment = page.getByRole('region', { name: 'Environment' });
    await environment.getByText('took 12 s').waitFor();
    await environment.getByText('reused').waitFor();
    await environment.getByText('devcontainer.json: features has no effect here.').waitFor();
    await environment.getByText('npm error 404 Not Found').waitFor();
    await page.getByRole('tab', { name: 'Network 4' }).click();
    const network = page.getByRole('tabpanel', { name: 'Network' });
    const rows = () => network.getByRole('row').allInnerTexts();
    expect((await rows()).map((row) => row.split(/\s+/).slice(0, 4).join(' '))).toEqual([
      'Host Program Phase Verdict',
      'api.example.com:443 agent blocked 3',
      'metrics.example.com:8443 agent blocked 1',
      'intranet.example.com:443 agent not public',
      'registry.npmjs.org:443 npm setup allowed',
    ]);
    const blocked = page.getByRole('region', { name: 'Blocked hosts' });
    await blocked.getByText('3 attempts in this mission · in 1 mission of the last 30 days').waitFor();
    await pages.inspect(page, 'mission-environment');
    // The built-in template is unchanged: the project gets a template of its own.
    await page.getByRole('button', { name: 'Allow in a new template: api.example.com' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Allow/ })
      .click();
    await blocked.getByText('allowed in Blog').waitFor();
    await page.getByRole('button', { name: 'Allow in Blog: metrics.example.com' }).click();
    await expect.poll(() => blocked.getByText('allowed in Blog').count()).toBe(2);
    await pages.inspect(page, 'mission-allowed');
    const { defaultSandboxTemplateId: id } = await read(`/projects/${ofMission}`);
    const hosts = ['api.example.com', 'metrics.example.com:8443'];
    expect((await read(`/sandbox-templates/${id}`)).agentNetwork).toEqual({ mode: 'packages', hosts });
  });

  it('the page of a mission shows the attestation of a commit, which can be downloaded', async () => {
    const { runId } = await mission('Attested');
    const page = await open(`/runs/${runId}`);
    await page.getByRole('tab', { name: 'Attestation 1' }).click();
    const commit = page.getByRole('region', { name: `Commit ${sha.slice(0, 12)}` });
    await commit.getByText('0 model, 0 tool, 0 network').waitFor();
    await commit.getByText('0.00 USD').waitFor();
    await pages.inspect(page, 'mission-attestation');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      commit.getByRole('button', { name: 'Download attestation' }).click(),
    ]);
    const { envelope } = await read(`/attestations/${sha}`);
    expect(JSON.parse(await text(await file.createReadStream()))).toEqual(envelope);
    expect(file.suggestedFilename()).toBe(`${sha}.attestation.json`);
  });

  it('a template lists the project and agent that use it, and cannot be deleted while it is in use', async () => {
    const templateId = await create('/sandbox-templates', { name: 'Used' });
    const page = await open(`/projects/${projectId}/settings`);
    await page.getByLabel('Sandbox template').selectOption('Used');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const projectTemplate = async () => (await read(`/projects/${projectId}`)).defaultSandboxTemplateId;
    await expect.poll(projectTemplate).toBe(templateId);

    await page.goto(`/console/o/${acme.slug}/agents/new`);
    await page.getByLabel('Name').fill('Careful');
    await page.getByLabel('Sandbox template').selectOption('Used');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { name: 'Careful', level: 1 }).waitFor();
    expect((await read(`/agents/${lastSegment(page)}`)).sandboxTemplateId).toBe(templateId);

    await page.goto(`/console/o/${acme.slug}/templates/${templateId}`);
    await page.getByRole('link', { name: 'Careful' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('is used by the agent Careful, the project Web shop').waitFor();
    await page.getByRole('link', { name: 'Web shop' }).click();
    await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor();
  });

  it('a secret is added after field errors, replaced and deleted; its value is nowhere on the page', async () => {
    const page = await open('/secrets');
    await page.getByText('No secrets or variables yet.').waitFor();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('A secret for requests to hosts').check();
    await page.getByLabel('Name', { exact: true }).fill('API_TOKEN');
    await page.getByRole('textbox', { name: 'Host 1' }).fill('localhost');
    const value = page.getByLabel('Value', { exact: true });
    expect([await value.getAttribute('type'), await value.getAttribute('autocomplete')]).toEqual([
      'password',
      'new-password',
    ]);
    await value.fill('sealed-0123');
    const form = page.getByRole('form', { name: 'Add' });
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Must be a public name with a dot.').waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('sealed-0123');
    await pages.inspect(page, 'secret-new');
    await page.getByRole('textbox', { name: 'Host 1' }).fill('api.example.com');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added API_TOKEN.').waitFor();
    await page.getByText('Secret for api.example.com').waitFor();
    await page.getByText('Never used · Set by Alice').waitFor();

    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('A secret for the setup').check();
    await page.getByLabel('Name', { exact: true }).fill('DEPLOY_KEY');
    await page.getByLabel('The value has several lines').check();
    await page.getByLabel('Value', { exact: true }).fill('first line\nsecond line');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Secret for the setup').waitFor();
    await pages.inspect(page, 'secrets');

    await page.getByRole('button', { name: 'Change API_TOKEN' }).click();
    await page.getByLabel('New value of API_TOKEN').fill('sealed-4567');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed API_TOKEN.').waitFor();
    expect(await page.content()).not.toContain('sealed-');
    const [{ data }, target] = [await read('/secrets'), { scope: 'organization', hosts: ['api.example.com'] }];
    expect(data.find(({ name }: { name: string }) => name === 'API_TOKEN')).toMatchObject(target);
    expect(data.find(({ name }: { name: string }) => name === 'DEPLOY_KEY')).toMatchObject({ setupOnly: true });
    await page.getByRole('button', { name: 'Delete DEPLOY_KEY' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete DEPLOY_KEY' }).click();
    await page.getByText('Deleted DEPLOY_KEY.').waitFor();
    expect((await read('/secrets')).data).toHaveLength(1);
  });

  it('projects and templates have their own secrets; members are told that admins set them', async () => {
    const templateId = await create('/sandbox-templates', { name: 'With secrets' });
    for (const path of [`/projects/${projectId}/settings`, `/templates/${templateId}`]) {
      const page = await open(path);
      const card = page.getByRole('region', { name: 'Secrets and variables' });
      await card.getByRole('button', { name: 'Add' }).click();
      await card.getByLabel('A variable').check();
      await card.getByLabel('Name').fill('LEVEL');
      await card.getByLabel('Value', { exact: true }).fill('high');
      await card.getByRole('form').getByRole('button', { name: 'Add' }).click();
      await card.getByText('Variable for setup and agents').waitFor();
      await pages.inspect(page, path.startsWith('/projects') ? 'project-settings' : 'template-secrets');
    }
    expect((await read(`/secrets?projectId=${projectId}`)).data).toMatchObject([{ name: 'LEVEL', scope: 'project' }]);
    expect((await read(`/secrets?templateId=${templateId}`)).data).toMatchObject([{ name: 'LEVEL' }]);

    const bob = await createMember(world, acme, 'Bob', 'member');
    const page = await open('/secrets', await world.session(bob.person, acme.id));
    await page.getByText('Admins set secrets and variables').waitFor();
    expect(await page.getByRole('button', { name: 'Add' }).count()).toBe(0);
    await pages.inspect(page, 'secrets-member');
  });

  it('one switch turns the planner, reviewer and QA of a project on and off', async () => {
    const page = await open(`/projects/${projectId}`);
    const team = page.getByRole('region', { name: 'Team' });
    await team.getByText('automatic').waitFor();
    await page.getByRole('button', { name: 'Turn on the team' }).click();
    await team.getByText('on', { exact: true }).waitFor();
    await pages.inspect(page, 'project-team');
    const hasTeam = async () => (await world.knex('projects').where({ id: projectId }))[0].hasTeam;
    expect(await hasTeam()).toBe(true);
    await page.getByRole('button', { name: 'Turn off the team' }).click();
    await team.getByText('A builder works without other roles.').waitFor();
    expect(await hasTeam()).toBe(false);
  });

  it('a project limits how often a pull request continues its mission, and how much that may cost', async () => {
    const page = await open(`/projects/${projectId}`);
    const card = page.getByRole('region', { name: 'Pull requests' });
    await card.getByText('up to 5 times within 7 days').waitFor();
    await card.getByRole('button', { name: 'Change the limits for pull requests' }).click();
    await card.getByLabel('Rounds').fill('2');
    await card.getByLabel('Cost in USD').fill('12.5');
    await pages.inspect(page, 'project-pull-requests');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('up to 2 times within 7 days and 12.50 USD').waitFor();
  });
});
