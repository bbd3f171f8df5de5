// Tests the console page that shows a project’s MCP servers, in a real browser. The tests find the elements of the page by their roles and
// labels. The rules that apply to MCP servers are tested in test/domain/mcp-*.test.ts.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../support/browser.ts';
import { createMember } from '../../support/callers.ts';
import { openRemoteMcp, type RemoteMcp, tool } from '../../support/fake-mcp-server.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../../support/mcp-world.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import type { Session } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

const addressOf = ({ id, organization }: McpProject): string => `/console/o/${organization.slug}/projects/${id}/mcp`;

describe.skipIf(typeof launched === 'string')('MCP servers of a project in the console', () => {
  let world: McpWorld;
  let remote: RemoteMcp;
  let pages: PageInspector;
  beforeAll(async () => {
    [world, remote] = await Promise.all([openMcpWorld(), openRemoteMcp()]);
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await Promise.all([world.close(), remote.close()]);
  });

  async function declared(config: unknown = { docs: { url: remote.url } }): Promise<McpProject> {
    Object.assign(remote.settings, { token: null, tools: [tool('search'), tool('write')] });
    const project = await world.project();
    await project.declare(config);
    return project;
  }
  async function show(project: McpProject, session: Session = project.session): Promise<Page> {
    const page = await pages.open(session);
    await page.goto(addressOf(project));
    await page.getByRole('heading', { name: 'Config file' }).waitFor();
    return page;
  }

  it('a person binds an MCP server, reads its tools, approves them, and reviews a change', async () => {
    const project = await declared();
    const page = await show(project);
    await page.getByText('Not bound: no mission can use it.').waitFor();
    await pages.inspect(page, 'mcp-unbound');
    await page.getByLabel('reviewer').check();
    await page.getByRole('button', { name: 'Bind docs' }).press('Enter');
    await page.getByText('Saved. Roles that may use it: builder, reviewer.').waitFor();
    await page.getByRole('button', { name: 'Read tools of docs' }).press('Enter');
    await page.getByText('New or changed tools').first().waitFor();

    const search = page.getByRole('group', { name: 'Who may use search of docs' });
    await search.getByLabel('All roles: the tool changes nothing').check();
    const write = page.getByRole('group', { name: 'Who may use write of docs' });
    await write.getByLabel('Builders').check();
    await pages.inspect(page, 'mcp-review');
    await page.getByRole('button', { name: 'Approve tools of docs' }).press('Enter');
    await page.getByText('Approved 2 tools.').waitFor();
    await page.getByText('builder (2), reviewer (1)').waitFor();
    await page.getByText('Definition of search').press('Enter');
    await page.getByText('"description": "Does search."').waitFor();

    // Text from an MCP server is shown as plain text.
    const description = 'Now <script>alert(1)</script>.';
    remote.settings.tools = [tool('search', { description }), tool('write')];
    await page.getByRole('button', { name: 'Read tools of docs' }).press('Enter');
    await page.locator('del', { hasText: '"description": "Does search."' }).waitFor();
    await page.locator('ins', { hasText: description }).waitFor();
    await page.getByText('changed', { exact: true }).waitFor();
    // For a changed tool, `Nobody` is selected, so a person who does not look at the tool does not approve it.
    expect(await search.getByLabel('Nobody').isChecked()).toBe(true);
    expect(await write.getByLabel('Builders').isChecked()).toBe(true);
    await pages.inspect(page, 'mcp-changed');
    await page.getByRole('button', { name: 'Remove the binding of docs' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the binding of docs' }).click();
    await page.getByText('Removed the binding').waitFor();
    await page.getByText('Not bound: no mission can use it.').waitFor();
  });

  it('tools that change while the page is open are not approved, and the choices for other tools are kept', async () => {
    const project = await declared();
    await project.put('docs', { roles: ['builder'] });
    await project.refresh('docs');
    const page = await show(project);
    const search = page.getByRole('group', { name: 'Who may use search of docs' });
    const write = page.getByRole('group', { name: 'Who may use write of docs' });
    await search.getByLabel('Builders').check();
    await write.getByLabel('Builders').check();
    remote.settings.tools = [tool('search', { description: 'Drops everything.' }), tool('write')];
    world.clock.turn(1);
    await project.refresh('docs');
    await page.getByRole('button', { name: 'Approve tools of docs' }).click();
    await page.getByText('The server has changed').waitFor();
    await page.getByText('Drops everything.').waitFor();
    expect(await search.getByLabel('Nobody').isChecked()).toBe(true);
    expect(await write.getByLabel('Builders').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Approve tools of docs' }).click();
    await page.getByText('Approved 1 tool.').waitFor();
    expect((await project.server('docs')).binding.approvedTools).toEqual([{ name: 'write', attestedReadOnly: false }]);
  });

  it('the page never shows a stored credential of a server, and keeps the credential if its field is left empty; a conflict between tabs is reported', async () => {
    const project = await declared({ docs: { url: remote.url, headers: { 'x-key': '${secret:KEY}' } } });
    const page = await show(project);
    await page.getByLabel('KEY').fill('two\u00e9');
    await page.getByRole('button', { name: 'Bind docs' }).click();
    await page.getByText('Must be one line of printable ASCII characters').waitFor();
    await page.getByLabel('KEY').fill('very-secret-value');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('very-secret');
    await page.getByRole('button', { name: 'Bind docs' }).click();
    await page.getByText('Saved. Roles that may use it: builder.').waitFor();
    await page.getByRole('button', { name: 'Change roles and credentials of docs' }).click();
    await page.getByText('Stored. Leave the field empty to keep the value.').waitFor();
    expect(await page.getByLabel('KEY').inputValue()).toBe('');
    await page.getByLabel('planner').check();
    await project.put('docs', { roles: ['qa'] });
    await page.getByRole('button', { name: 'Save binding of docs' }).click();
    await page.getByText('Roles: now “qa”, yours “planner, builder”').waitFor();
    await pages.inspect(page, 'mcp-conflict');
    await page.getByRole('button', { name: 'Save my changes' }).click();
    await page.getByText('Saved. Roles that may use it: planner, builder.').waitFor();
    const { binding } = await project.server('docs');
    expect(binding).toMatchObject({ roles: ['planner', 'builder'], credentialFields: ['KEY'] });
    expect(await page.content()).not.toContain('very-secret-value');
    await page.getByLabel('Disabled').check();
    await page.getByRole('button', { name: 'Save binding of docs' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Read tools of docs' }).count()).toBe(0);
  });

  it('a person who connects an MCP server first sees to which host the connection leads, and is sent back to the page afterwards', async () => {
    const project = await declared();
    await project.put('docs', { roles: ['builder'] });
    remote.settings.token = 'none yet';
    const page = await show(project);
    await page.getByRole('button', { name: 'Connect with OAuth to docs' }).press('Enter');
    const link = page.getByRole('link', { name: `Continue to ${new URL(remote.origin).host}` });
    await link.waitFor();
    expect(await link.evaluate('document.activeElement.textContent')).toContain('Continue');
    await pages.inspect(page, 'mcp-connect');
    const address = new URL((await link.getAttribute('href'))!);
    expect(address.origin + address.pathname).toBe(`${remote.origin}/authorize`);
    await page.goto(`/console/mcp/callback?code=c&state=${address.searchParams.get('state')}`);
    await page.getByText('OAuth', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(addressOf(project));
  });

  it('new tools are listed first among hundreds, and other tools are found by name', async () => {
    const project = await declared();
    const many = (count: number) => Array.from({ length: count }, (_, i) => tool(`tool-${i}`));
    remote.settings.tools = many(300);
    await project.put('docs', { roles: ['builder'] });
    await project.refresh('docs');
    await project.put('docs', { roles: ['builder'], approvedTools: many(300).map(({ name }) => ({ name })) });
    remote.settings.tools = many(302);
    world.clock.turn(1);
    await project.refresh('docs');
    const page = await show(project);
    const rows = page.getByRole('list', { name: 'Tools of docs' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(50);
    expect(await rows.first().innerText()).toContain('tool-300');
    await page.getByText('302 in all; 2 new, changed or removed').waitFor();
    await page.getByLabel('Find a tool').fill('tool-29');
    await expect.poll(() => rows.count()).toBe(11);
    await page.getByRole('group', { name: 'Who may use tool-299 of docs' }).getByLabel('Nobody').check();
    await page.getByRole('button', { name: 'Approve tools of docs' }).click();
    await page.getByText('Approved 299 tools.').waitFor();
  });

  it('the page says what is missing, refused or wrong in the config file; a viewer cannot change anything', async () => {
    const project = await declared({ old: { command: 'python', args: ['x.py'] } });
    const page = await show(project);
    await page.getByText('This server is not allowed: python.').waitFor();
    expect(await page.getByRole('button', { name: 'Bind old' }).count()).toBe(0);
    await project.declare('mcpServers: [', 'other.yml');
    await page.getByLabel('Path in the repository').fill('other.yml');
    await page.getByRole('button', { name: 'Save path' }).click();
    await page.getByText('invalid', { exact: true }).waitFor();
    await page.getByText('No servers yet').waitFor();
    await pages.inspect(page, 'mcp-invalid');
    await page.getByLabel('Path in the repository').fill('');
    await page.getByRole('button', { name: 'Save path' }).click();
    await page.getByText('ok', { exact: true }).waitFor();

    const { person: viewer } = await createMember(world, project.organization, 'Viewer', 'viewer');
    await project.declare({ docs: { url: remote.url } });
    await project.put('docs', { roles: ['builder'] });
    await project.refresh('docs');
    const theirs = await show(project, await world.session(viewer, project.organization.id));
    await theirs.getByText('Definition of write').waitFor();
    expect(await theirs.getByRole('button', { name: /docs|path/ }).count()).toBe(0);
    const stranger = (await world.project()).session;
    expect((await world.request('GET', addressOf(project), { session: stranger })).status).toBe(404);
  });
});
