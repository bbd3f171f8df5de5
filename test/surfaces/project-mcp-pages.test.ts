// The console page of a project's MCP servers: over HTTP for what it decides, and in a real browser by role and label.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { openRemoteMcp, type RemoteMcp, tool } from '../support/fake-mcp-server.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../support/mcp-world.ts';
import { createPageInspector, type PageInspector } from '../support/page-inspector.ts';
import type { Session } from '../support/world.ts';

const launched = await launchBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

let world: McpWorld;
let remote: RemoteMcp;
beforeAll(async () => {
  [world, remote] = await Promise.all([openMcpWorld(), openRemoteMcp()]);
});
afterAll(() => Promise.all([world.close(), remote.close()]));
beforeEach(() => {
  Object.assign(remote.settings, { token: null, tools: [tool('search'), tool('write')] });
});

const addressOf = ({ id }: McpProject): string => `/console/projects/${id}/mcp`;
const show = (project: McpProject, session: Session = project.session) =>
  world.request('GET', addressOf(project), { session });

function send(project: McpProject, fields: Record<string, string>, session: Session = project.session) {
  const body = new URLSearchParams({ csrf_token: session.csrf, server: 'docs', ...fields }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return world.request('POST', addressOf(project), { session, headers, body });
}

async function declared(config: unknown = { docs: { url: remote.url } }): Promise<McpProject> {
  const project = await world.project();
  await project.declare(config);
  return project;
}

/** The value that the form of the page holds. */
const seenOn = (body: string): string => /name="seen" value="([^"]+)"/.exec(body)![1]!;

async function approved(): Promise<McpProject> {
  const project = await declared();
  await send(project, { do: 'bind', roles: 'builder' });
  const { body } = await send(project, { do: 'refresh' });
  await send(project, { do: 'approve', seen: seenOn(body), 'tool-0': 'all', 'tool-1': 'builder' });
  return project;
}

describe('what it shows', () => {
  it('200 · nothing declared yet; declared and not bound; bound and no longer declared', async () => {
    const project = await world.project();
    expect((await show(project)).body).toContain('No servers yet');
    await project.declare({ docs: { url: remote.url }, old: { command: 'python', args: ['x.py'] } });
    const unbound = (await show(project)).body;
    expect(unbound).toContain('Not bound: no mission can use it.');
    expect(unbound).toContain('This server may not run: python.');
    await send(project, { do: 'bind', roles: 'builder' });
    await project.declare({});
    const { status, body } = await show(project);
    expect([status, body.includes('Not in the config file, or no longer.')]).toEqual([200, true]);
    expect(body).toContain('does not declare this server');
  });

  it('200 · an invalid config file is explained', async () => {
    const project = await declared('mcpServers: [');
    expect((await show(project)).body).toMatch(/service\.yml<\/code>[\s\S]*invalid/);
  });

  it('200 · what has changed since it was approved, line by line; words of a server stay text', async () => {
    const project = await approved();
    remote.settings.tools = [tool('search', { description: 'Now <script>alert(1)</script>.' }), tool('third')];
    const { body } = await send(project, { do: 'refresh' });
    expect(body).toContain('needs review');
    expect(body).toMatch(/<del>- +&quot;description&quot;: &quot;Does search\.&quot;,\n<\/del>/);
    expect(body).toMatch(/<ins>\+ +&quot;description&quot;: &quot;Now &lt;script&gt;/);
    expect(body).not.toContain('<script>alert');
    expect(body).toMatch(/third<\/code><\/strong> <span class="tag">new/);
    expect(body).toMatch(/write<\/code><\/strong> <span class="tag">removed/);
  });

  it('200 · the calls of the last day, and none that is older', async () => {
    const project = await approved();
    const run = await world.run(project);
    await world.request('POST', run.at('docs'), {
      token: run.token,
      headers: { ...run.headers, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: {} } },
    });
    const { body } = await show(project);
    expect(body).toContain('docs: 1 succeeded');
    expect(body).toContain(`/console/runs/${run.runId}`);
    await world
      .knex('mcp_calls')
      .where({ runId: run.runId })
      .decrement('createdAt', 25 * 3_600_000);
    expect((await show(project)).body).toContain('No mission has called a tool in the last 24 hours.');
  });

  it('303 · not signed in; 403 · without the scope; 404 · of another organization', async () => {
    const project = await declared();
    expect((await world.request('GET', addressOf(project))).status).toBe(303);
    expect((await show(project, (await world.project()).session)).status).toBe(404);
    const viewer = await world.person('Viewer');
    await world.join(project.organization, viewer, 'viewer');
    const session = await world.session(viewer, project.organization.id);
    const seen = await show(project, session);
    expect([seen.status, seen.body.includes('value="bind"')]).toEqual([200, false]);
    expect((await send(project, { do: 'bind' }, session)).status).toBe(403);
  });
});

describe('what it does', () => {
  it('bind, read the tools, approve each for its roles', async () => {
    const project = await approved();
    const { binding } = await project.server('docs');
    expect(binding).toMatchObject({
      status: 'ready',
      approvedTools: [
        { name: 'search', attestedReadOnly: true },
        { name: 'write', attestedReadOnly: false },
      ],
      effectiveToolCounts: { builder: 2 },
    });
    await send(project, { do: 'remove' });
    expect((await project.server('docs')).binding).toBeNull();
  });

  it('409 · tools that changed while the page was open are not approved', async () => {
    const project = await approved();
    const seen = seenOn((await show(project)).body);
    remote.settings.tools = [tool('drop_everything')];
    await project.refresh('docs');
    const { status, body } = await send(project, { do: 'approve', seen, 'tool-0': 'all' });
    expect([status, body.includes('The tools have changed since the page was opened.')]).toEqual([409, true]);
    expect((await project.server('docs')).binding.status).toBe('needs_review');
  });

  it('credentials are stored and never shown; an empty field keeps them', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of the config file
    const project = await declared({ docs: { url: remote.url, headers: { 'x-key': '${secret:KEY}' } } });
    const bound = await send(project, { do: 'bind', roles: 'builder', 'secret:KEY': 'very-secret-value' });
    expect([bound.status, bound.body.includes('very-secret-value')]).toEqual([200, false]);
    await send(project, { do: 'bind', roles: 'planner', 'secret:KEY': '' });
    expect((await project.server('docs')).binding).toMatchObject({ roles: ['planner'], credentialFields: ['KEY'] });
    const refused = await send(project, { do: 'bind', 'secret:KEY': 'two\nlines' });
    expect(refused.status).toBe(400);
  });

  it('connect shows where a person is sent, and that page leads there', async () => {
    remote.settings.token = 'none yet';
    const project = await declared();
    await send(project, { do: 'bind', roles: 'builder' });
    const { status, body } = await send(project, { do: 'connect' });
    expect(status).toBe(200);
    expect(body).toContain(`href="${remote.origin}/authorize?`);
    const state = /state=([\w-]+)/.exec(body)![1]!;
    const back = await world.request('GET', `/console/mcp/callback?code=c&state=${state}`, {
      session: project.session,
    });
    expect([back.status, back.headers.get('location')]).toEqual([303, addressOf(project)]);
  });

  it('403 · a form of another site; 400 · a form without sense', async () => {
    const project = await declared();
    expect((await send(project, { do: 'bind', csrf_token: 'x' })).status).toBe(403);
    expect((await send(project, { do: 'explode' })).status).toBe(400);
    expect((await send(project, { do: 'bind', server: '../x' })).status).toBe(400);
  });
});

describe.skipIf(typeof launched === 'string')('in a browser', () => {
  let pages: PageInspector;
  beforeAll(() => {
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => (launched as Browser).close());

  it('a person binds a server, reads its tools, approves them, and reviews a change, by role and label', async () => {
    const project = await declared();
    const page = await pages.open(project.session);
    await page.goto(addressOf(project));
    await page.getByRole('heading', { name: 'MCP servers' }).waitFor();
    await pages.inspect(page, 'mcp-unbound');
    await page.getByLabel('reviewer').check();
    await page.getByRole('button', { name: 'Bind docs' }).press('Enter');
    await page.getByText('Saved. docs is bound for builder, reviewer.').waitFor();
    await page.getByRole('button', { name: 'Read tools docs' }).press('Enter');
    await page.getByText('New or changed tools').first().waitFor();
    await pages.inspect(page, 'mcp-review');

    const search = page.getByRole('group', { name: 'Who may use search of docs' });
    await search.getByLabel('All roles: it changes nothing').check();
    const write = page.getByRole('group', { name: 'Who may use write of docs' });
    await write.getByLabel('Builders').check();
    await page.getByRole('button', { name: 'Approve tools of docs' }).press('Enter');
    await page.getByText('Approved 2 tools of docs.').waitFor();
    await page.getByText('builder (2)').waitFor();
    await page.getByText('reviewer (1)').waitFor();

    remote.settings.tools = [tool('search', { description: 'Does something else.' }), tool('write')];
    await page.getByRole('button', { name: 'Read tools docs' }).press('Enter');
    await page.getByText('Does something else.').first().waitFor();
    await page.getByText('changed', { exact: true }).waitFor();
    // What has changed is not approved by leaving the form as it is.
    expect(await search.getByLabel('Nobody').isChecked()).toBe(true);
    expect(await write.getByLabel('Builders').isChecked()).toBe(true);
    await pages.inspect(page, 'mcp-changed');
    await page.locator('summary', { hasText: 'Remove docs' }).press('Enter');
    await page.getByRole('button', { name: 'Remove docs now' }).press('Enter');
    await page.getByText('Removed the binding of docs').waitFor();
  });
});
