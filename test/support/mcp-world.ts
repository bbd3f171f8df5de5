// A world with a project whose repository is a folder on this machine, where a test writes the config file, and a runtime that holds
// one of the project's runs.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createOwner, createProject } from './callers.ts';
import { createRuntime, type Held } from './runtime-client.ts';
import { type Answer, openWorld, type Session } from './world.ts';

export type McpWorld = Awaited<ReturnType<typeof openMcpWorld>>;
export type McpProject = Awaited<ReturnType<McpWorld['project']>>;

export async function openMcpWorld() {
  openOutbound({ allowLoopback: true });
  const world = await openWorld();
  const folder = await mkdtemp(path.join(tmpdir(), 'aep-mcp-'));
  let count = 0;

  /** A project of a new organization, with its owner signed in. */
  async function project() {
    const n = ++count;
    const { person: owner, organization } = await createOwner(world, `Owner-${n}`, `Acme ${n}`);
    const connect = { orgId: organization.id, vendor: 'builtin' as const, displayName: 'Code' };
    await connectIntegration({ ...connect, vendorKind: 'tracker' });
    await connectIntegration({ ...connect, vendorKind: 'scm', externalOrgId: folder });
    const session = await world.session(owner, organization.id);
    const repository = path.join(folder, 'acme', `shop-${n}`);
    await mkdir(repository, { recursive: true });
    git(repository, ['init', '-q', '-b', 'main']);
    let parent = '';
    const id = await createProject(world, { session }, `Shop ${n}`);
    const base = `/mcp/projects/${id}`;
    const ask = (method: string, at: string, body?: unknown, as: Session = session): Promise<Answer> =>
      world.rest(method, base + at, { session: as, ...(body !== undefined && { body }) });
    return {
      id: id as string,
      owner,
      organization,
      session,
      /** Commits the config file. */
      async declare(config: unknown, file = 'service.yml'): Promise<void> {
        const text = typeof config === 'string' ? config : JSON.stringify({ mcpServers: config });
        const content = `M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
        const commit = 'commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 0\n';
        git(repository, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], commit + parent + content);
        parent = 'from refs/heads/main^0\n';
      },
      view: async () => (await ask('GET', '')).body,
      ask,
      put: (server: string, body: unknown) => ask('PUT', `/servers/${server}`, body),
      refresh: (server: string) => ask('POST', `/servers/${server}/tools/refresh`),
      server: async (name: string) => {
        const { servers } = (await ask('GET', '')).body;
        return servers.find((one: { name: string }) => one.name === name);
      },
    };
  }

  /** A run of the project, claimed by a runtime, with an agent of the role. */
  async function run({ id, session }: { id: string; session: Session }, role = 'builder') {
    const agent = { name: `Agent ${++count}`, role, harness: 'codex', model: 'gpt-5.5' };
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const { body } = await world.rest('POST', '/agents', { session, body: { ...agent, sandbox } });
    const mission = { projectId: id, prompt: 'Nightly work.', agentId: body.id };
    await world.rest('POST', '/runs', { session, body: mission });
    const runtime = await createRuntime(world);
    const { token } = runtime;
    const { runId, leaseId } = (await runtime.claim({ harnesses: ['codex'] })) as Held;
    const headers = { 'x-lease-id': leaseId };
    return {
      runId,
      leaseId,
      token,
      headers,
      runtime,
      at: (server: string) => `/mcp/runs/${runId}/${server}`,
    };
  }

  return {
    ...world,
    project,
    run,
    async close(): Promise<void> {
      await world.close();
      await rm(folder, { recursive: true });
      openOutbound({ allowLoopback: false });
    },
  };
}

const git = (cwd: string, args: string[], input = ''): void =>
  void execFileSync('git', args, {
    cwd,
    input,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  });
