// MCP servers in the sandboxes of missions: packages of a registry and files of the repository, alongside an agent (a stand-in for Claude
// Code). test/domain/mcp-sandbox.test.ts tests the platform's part.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { launchOf } from '../../../src/runner/isolation/isolation.ts';
import { makePlace } from '../../../src/runner/isolation/place.ts';
import { startStdioServer } from '../../../src/runner/protocol/stdio-server.ts';
import { createProject } from '../../support/callers.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import { startRegistry } from '../../support/stand-in-registry.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const standIn = fileURLToPath(new URL('../../support/stand-in-stdio-mcp.mjs', import.meta.url));

describe('an MCP server in a sandbox', () => {
  async function start(behavior: string) {
    const place = await makePlace('');
    const log: string[] = [];
    onTestFinished(place.remove);
    const launch = launchOf('none', place, undefined, 100, false);
    const env = { BEHAVIOR: behavior, TOKEN: 'abc' };
    const command = { program: process.execPath, args: [standIn, 'one'], env };
    const server = await startStdioServer(launch, command, (text) => void log.push(text));
    onTestFinished(server.end);
    return { server, log };
  }
  const never = new AbortController().signal;

  it('an MCP server in a sandbox lists its tools, answers calls, and can report that its tools have changed; its own requests are refused', async () => {
    const { server, log } = await start('');
    expect((await server.listTools()).map(({ name }) => name)).toEqual(['look', 'grow', 'write']);
    expect((await server.call('look', {}, never)).content[0].text).toMatch(/^one token abc key none in {2}home /);
    await server.call('grow', {}, never);
    expect(server.hasChanged()).toBe(true);
    expect((await server.listTools()).map(({ name }) => name)).toContain('danger');
    expect(server.hasChanged()).toBe(false);
    await expect(server.call('none', {}, never)).rejects.toThrow('no such tool');
    expect(log).toEqual(['started with abc\n']);
  });

  it.each([
    ['quit', 'the server has ended (exit code 3)'],
    ['garbage', 'the server wrote too much output that answers no request'],
    ['flood', 'the server wrote too much output that answers no request'],
  ])(
    'an MCP server in a sandbox does not start when it is invalid (%s), and the reason is reported',
    async (behavior, reason) => {
      await expect(start(behavior).then(({ server }) => server.call('wait', {}, never))).rejects.toThrow(reason);
    },
  );

  it('an MCP server in a sandbox fails the current and all later calls when it ends or returns too much; a call that the agent abandons is canceled', async () => {
    const { server } = await start('');
    const left = new AbortController();
    const waiting = server.call('wait', {}, left.signal);
    left.abort();
    await expect(waiting).rejects.toThrow('the agent no longer waits');
    await expect(server.call('fill', {}, never)).rejects.toThrow('the server wrote too much');
    await expect(server.call('look', {}, never)).rejects.toThrow('the server wrote too much');
    const other = await start('');
    await expect(other.server.call('leave', {}, never)).rejects.toThrow('the server has ended (exit code 3)');
  });

  it('the log keeps only the beginning of the output of an MCP server that writes endlessly', async () => {
    const { log } = await start('loud');
    await expect.poll(() => log.at(-1)).toBe('The rest of the output is left out.\n');
    expect(log.join('').length).toBeLessThan(250_000);
  });
});

describe('a mission with MCP servers in its sandbox', () => {
  let missions: Awaited<ReturnType<typeof openMissionWorld>>;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  let project: Awaited<ReturnType<typeof createProject>>;
  const put = async (server: string, body: Json) => {
    const at = `/mcp/projects/${project}/servers/${server}`;
    const answer = await missions.world.rest('PUT', at, { token: missions.alice.token, body });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  const server = async (name: string): Promise<Json> => {
    const { body } = await missions.world.rest('GET', `/mcp/projects/${project}`, { token: missions.alice.token });
    return body.servers.find((one: Json) => one.name === name).binding;
  };

  beforeAll(async () => {
    [missions, registry] = await Promise.all([openMissionWorld(), startRegistry()]);
    const { folder, alice, world } = missions;
    const source = await readFile(standIn, 'utf8');
    registry.publish('files-mcp', '1.0.0', 'server.mjs', source, { bin: 'server.mjs' });
    const repository = path.join(folder, 'acme/tools');
    await mkdir(path.join(repository, 'tools'), { recursive: true });
    await writeFile(path.join(repository, 'tools/server.mjs'), source);
    const npx = (spec: string) => ({ command: 'npx', args: ['-y', spec, '--root', '.'] });
    const env = { TOKEN: '${secret:TOKEN}' };
    const mcpServers = {
      files: { ...npx('files-mcp@1.0.0'), env },
      own: { command: 'node', args: ['tools/server.mjs'] },
      gone: npx('gone-mcp@1.0.0'),
      list: { command: 'node', args: ['tools/server.mjs'], env: { BEHAVIOR: 'list' } },
      lost: { ...npx('files-mcp@1.0.0'), env: { TOKEN: '$'.concat('{secret:LOST}') } },
    };
    await writeFile(path.join(repository, 'service.yml'), JSON.stringify({ mcpServers }));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: repository });
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'first');
    const connection = { orgId: alice.organization.id, vendor: 'builtin' as const, vendorKind: 'scm' as const };
    await connectIntegration({ ...connection, displayName: 'Code', externalOrgId: folder });
    project = await createProject(world, alice, 'Files', { repoFullName: 'acme/tools' });
    const { token } = alice;
    const variables = [{ name: 'npm_config_registry', value: registry.url }];
    const { body } = await world.rest('POST', '/sandbox-templates', { token, body: { name: 'Registry', variables } });
    await world.knex('projects').where({ id: project }).update({ defaultSandboxTemplateId: body.id });
    await missions.team('claude-code', 'builder');
  });
  afterAll(() => Promise.all([missions.close(), registry.close()]));

  const run = async (prompt: string) => {
    const runId = await missions.mission(prompt, project);
    const { status, lastError } = await missions.ended(runId);
    expect([status, lastError]).toEqual(['completed', null]);
    return { runId, shown: (await missions.shown(runId)).join('\n'), log: await missions.log(runId) };
  };
  const approve = (...names: string[]) =>
    names.map((name) => ({ name, attestedReadOnly: false, alwaysAsk: name === 'write' }));

  it('a mission installs and starts the MCP servers of its sandbox, offers approved tools, and shows why a server is not available', async () => {
    missions.startRunner({ DATA_DIR: path.join(missions.folder, 'first') });
    await put('files', { roles: ['builder'], credentials: { TOKEN: 'a-long-token-of-files' } });
    for (const name of ['own', 'gone', 'list', 'lost']) await put(name, { roles: ['builder'] });
    expect((await server('files')).statusDetail).toContain('Its tools are read when the next mission');
    const first = await run('[use:files] [use:gone] [use:own.look {}]');
    expect(first.shown).toMatch(/files: $/m);
    expect(first.shown).toContain('gone: undefined');
    expect(first.shown).toContain('own: error: look: is unknown.');
    expect(first.log).toContain('files: started with [secret]\n');
    const reasons = {
      gone: 'gone-mcp@1.0.0 could not be installed: the package registry does not have it (E404)',
      list: 'The server returned an invalid definition of a tool with an unusual name.',
      lost: 'the secret LOST is missing: the server has no credential LOST, and the environment has no secret LOST limited to a list of hosts',
    };
    for (const [name, reason] of Object.entries(reasons)) {
      expect(first.log).toContain(`The MCP server ${name} is not available: ${reason}\n`);
      expect(await server(name)).toMatchObject({ status: 'error', statusDetail: reason });
    }
    expect(await server('files')).toMatchObject({
      status: 'needs_review',
      statusDetail: 'New or changed tools: look, grow, write.',
    });

    const asked = registry.asked.length;
    await put('files', { roles: ['builder'], approvedTools: approve('look', 'grow', 'write') });
    await put('own', { roles: ['builder'], approvedTools: approve('look') });
    for (const name of ['gone', 'list', 'lost']) await put(name, { roles: ['builder'], enabled: false });
    const second = await run('[use:files] [use:files.look {}] [use:own.look {}] [use:files.grow {}] [use:files]');
    expect(second.shown).toContain('files: look,grow,write');
    expect(second.shown).toMatch(/files: --root,\. token \[secret\] key none in \.git,service\.yml,tools home /);
    expect(second.shown).toMatch(/own: {2}token {2}key none in \.git,service\.yml,tools home /);
    expect(second.shown).toContain('files: grown');
    expect(second.shown).not.toContain('danger');
    expect((await server('files')).statusDetail).toBe('New or changed tools: danger.');
    // The second mission used the installation of the first, without a request to the registry.
    expect(registry.asked.length).toBe(asked);
    const calls = await missions.world.knex('mcp_calls').where({ runId: second.runId }).select('tool', 'outcome');
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ outcome }) => outcome))).toEqual(new Set(['ok']));
  });

  it('a mission asks a person before a call of an MCP tool that needs approval, and refuses a denied call', async () => {
    for (const [approved, text, result] of [
      [true, '', 'files: wrote a.txt'],
      [false, 'Not now', 'files: Alice denied this call: Not now'],
    ] as const) {
      const runId = await missions.mission('[use:files.write {"name":"a.txt"}]', project);
      await missions.isShown(runId, 'May I call write');
      const answer =
        'mutation ($r: String!, $t: String!, $a: Boolean) { answerElicitation(runId: $r, text: $t, approve: $a) { id } }';
      await missions.graphql(answer, { r: runId, t: text, a: approved });
      await missions.ended(runId);
      expect((await missions.shown(runId)).join('\n')).toContain(result);
    }
  });

  it('a mission does not start an MCP server whose package has a different checksum than at its first run', async () => {
    await missions.killRunners();
    registry.publish('files-mcp', '1.0.0', 'server.mjs', `${await readFile(standIn, 'utf8')}\n`, { bin: 'server.mjs' });
    missions.startRunner({ DATA_DIR: path.join(missions.folder, 'second') });
    const { shown, log } = await run('[use:files]');
    expect(shown).toContain('files: undefined');
    expect(log).toContain('files-mcp@1.0.0 has a different checksum than at its first run.');
    expect(log).not.toContain('files: started');
    expect((await server('files')).status).toBe('error');
  });
});
