// Some editors cannot sign a person in to a remote MCP server. The program mcp-remote connects such an editor with the server. The editor
// starts mcp-remote as a child process, and speaks MCP with it over stdio. mcp-remote registers itself as a client, sends the person to the
// consent page, and keeps the tokens.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwner } from '../../support/callers.ts';
import { freePort } from '../../support/mcp-reference-servers.ts';
import { hiddenRequest } from '../../support/oauth-world.ts';
import { openWorld, type Session, type World } from '../../support/world.ts';

let world: World;
let acme: Awaited<ReturnType<World['found']>>;
let session: Session;
let folder: string;

beforeAll(async () => {
  world = await openWorld();
  const alice = await createOwner(world, 'Alice', 'Acme');
  acme = alice.organization;
  session = await world.session(alice.person, acme.id);
  folder = await mkdtemp(path.join(tmpdir(), 'aep-bridge-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const bridge = fileURLToPath(new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));

async function approve(address: URL, scopes: string[]): Promise<void> {
  const page = await world.request('GET', address.pathname + address.search, { session });
  const form = new URLSearchParams({
    ...{ csrf_token: session.csrf, request: hiddenRequest(page), decision: 'approve' },
    ...{ org_id: acme.id, project_id: '', expires_in_days: '30' },
  });
  for (const scope of scopes) form.append('scopes', scope);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await world.request('POST', '/oauth/authorize', { session, headers, body: form.toString() });
  const { status } = await fetch(sent.headers.get('location')!);
  expect([sent.status, status]).toEqual([303, 200]);
}

/** An editor that starts the bridge; its PATH has no browser, so the person takes the URL from the output. */
async function editor(onAsked: (address: URL) => Promise<void>): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bridge, `${world.url}/mcp`, `${await freePort()}`],
    env: { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, PATH: folder },
    stderr: 'pipe',
  });
  let [printed, isAsked] = ['', false];
  let failed: unknown;
  transport.stderr!.on('data', (chunk: Buffer) => {
    printed += chunk;
    const address = /http\S+\/oauth\/authorize\?\S+(?=\s)/.exec(printed)?.[0];
    if (!address || isAsked) return;
    isAsked = true;
    onAsked(new URL(address)).catch((error) => (failed = error));
  });
  const client = new Client({ name: 'editor', version: '1' });
  await client.connect(transport, { timeout: 100_000 }).catch((error) => {
    throw new Error(`${failed ?? error}: ${printed}`);
  });
  return client;
}

test('an editor signs a person in through mcp-remote, uses the granted access, and reconnects without asking again', async () => {
  const client = await editor((address) => approve(address, ['projects:read', 'projects:write']));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('create_project');
  const created = await client.callTool({
    name: 'create_project',
    arguments: { name: 'Bridged', repoFullName: 'acme/bridged' },
  });
  expect(created.structuredContent).toMatchObject({ name: 'Bridged' });
  const { resources } = await client.listResources();
  expect(resources.map(({ title }) => title)).toEqual(['Bridged']);
  await client.close();

  const again = await editor(() => Promise.reject(new Error('the person was asked again')));
  expect((await again.callTool({ name: 'get_me', arguments: {} })).structuredContent).toMatchObject({
    scopes: ['projects:read', 'projects:write'],
  });
  await again.close();
});
