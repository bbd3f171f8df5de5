// Features of the MCP server other than tools, with the official client: resources, completion, prompts, progress, and the limits on the
// size of a response.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox, SandboxSession } from '#domain/work/sandboxes/model.ts';
import { bytes } from '#limits.ts';
import { type McpProject, type McpWorld, openMcpWorld } from '../support/mcp-world.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { leaveArtifact, type Place, startSandbox, startSession, writeLog } from '../support/runtime-records.ts';

let world: McpWorld;
let project: McpProject;
let place: Place;
let token: string;
let client: Client;
let runtime: Runtime;
let run: Awaited<ReturnType<McpWorld['run']>>;
let sandbox: Sandbox;
let session: SandboxSession;

async function connect(bearer: string): Promise<Client> {
  const made = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  await made.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
  return made;
}

beforeAll(async () => {
  world = await openMcpWorld();
  project = await world.project();
  place = { orgId: project.organization.id, projectId: project.id as Place['projectId'] };
  token = await world.token(project.owner, project.organization);
  runtime = await createRuntime(world);
  run = await world.run(project);
  sandbox = await startSandbox(place, { runId: run.runId as NonNullable<Sandbox['runId']> });
  session = await startSession(sandbox, { sessionId: 'a/b c' });
  await writeLog(session, 'session', ['first line\n', 'last line\n']);
  client = await connect(token);
});
afterAll(() => world.close());

const read = async (uri: string, by = client) => (await by.readResource({ uri })).contents[0]!;
const asJson = async (uri: string) => JSON.parse(((await read(uri)) as { text: string }).text);

describe('MCP resources', () => {
  test('the list of MCP resources has projects, runs, sandboxes and artifacts, and each can be read', async () => {
    const artifact = await leaveArtifact(place, 'proof');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      for (const { uri, name, title, mimeType } of page.resources) {
        expect([uri, mimeType]).toEqual([expect.stringContaining(`/${name}`), 'application/json']);
        expect(title).toEqual(expect.any(String));
        expect(Object.values(await asJson(uri)).length).toBeGreaterThan(0);
        seen.push(uri);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([
      `aep://projects/${project.id}`,
      `aep://runs/${run.runId}`,
      `aep://sandboxes/${sandbox.id}`,
      `aep://artifacts/${artifact.id}`,
    ]);
    await expect(client.listResources({ cursor: 'moons' })).rejects.toThrow('cursor: is invalid.');
  });

  test('an MCP resource returns the answer of its tool', async () => {
    const { structuredContent } = await client.callTool({ name: 'get_run', arguments: { runId: run.runId } });
    expect(await asJson(`aep://runs/${run.runId}`)).toEqual(structuredContent);
  });

  test('each part of a log is an MCP resource, and the URI of the resource contains the encoded id of the session', async () => {
    const uri = `aep://sandboxes/${sandbox.id}/logs/builder/${encodeURIComponent(session.sessionId)}/session`;
    expect(await read(uri)).toEqual({ uri, mimeType: 'text/plain', text: 'first line\nlast line\n' });
    await expect(read(uri.replace(/session$/, 'diary'))).rejects.toThrow(/part/);
  });

  test('the content of an artifact is returned as text or bytes; if it is too large, the error names the download URL', async () => {
    const text = await leaveArtifact(place, 'all good', { contentType: 'text/plain' });
    const image = await leaveArtifact(place, 'png', { contentType: 'image/png' });
    const at = ({ id }: { id: string }) => `aep://artifacts/${id}/content`;
    expect(await read(at(text))).toEqual({ uri: at(text), mimeType: 'text/plain', text: 'all good' });
    expect(await read(at(image))).toEqual({ uri: at(image), mimeType: 'image/png', blob: 'cG5n' });
    const large = await leaveArtifact(place, 'x', { sizeBytes: bytes.mcpContent + 1 });
    await expect(read(at(large))).rejects.toThrow(/the maximum is 1048576. Download it from http/);
  });

  test('the list of MCP resource templates depends on the scopes of the caller', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'aep://projects/{projectId}',
      'aep://runs/{runId}',
      'aep://sandboxes/{sandboxId}',
      'aep://sandboxes/{sandboxId}/logs/{role}/{sessionId}/{part}',
      'aep://artifacts/{artifactId}',
      'aep://artifacts/{artifactId}/content',
    ]);
    const narrow = await connect(await world.token(project.owner, project.organization, { scopes: ['missions:read'] }));
    expect((await narrow.listResourceTemplates()).resourceTemplates.map(({ name }) => name)).toEqual(['run']);
    expect((await narrow.listResources()).resources.map(({ uri }) => uri)).toEqual([`aep://runs/${run.runId}`]);
    await expect(read(`aep://projects/${project.id}`, narrow)).rejects.toThrow('missing-scope:projects:read');
  });

  test('unknown, malformed and foreign MCP resources are not found', async () => {
    const foreign = await world.project();
    const missing = ['run_1', `runs/${run.runId}/more`, '%E0%A4%A', 'projects/%E0%A4%A', `projects/${foreign.id}`];
    for (const uri of [...missing.map((one) => `aep://${one}`), 'https://example.com/']) {
      await expect(read(uri)).rejects.toMatchObject({ code: -32602, data: { uri } });
    }
  });
});

describe('Completion of MCP arguments', () => {
  const complete = async (
    ref: { type: 'ref/resource'; uri: string } | { type: 'ref/prompt'; name: string },
    name: string,
    value: string,
    given: Record<string, string> = {},
  ) => (await client.complete({ ref, argument: { name, value }, context: { arguments: given } })).completion.values;
  const log = {
    type: 'ref/resource',
    uri: 'aep://sandboxes/{sandboxId}/logs/{role}/{sessionId}/{part}',
  } as const;

  test('ids are completed by their prefix or by the name of their record', async () => {
    const runs = { type: 'ref/prompt', name: 'explain_run' } as const;
    expect(await complete(runs, 'runId', 'run_')).toEqual([run.runId]);
    expect(await complete(runs, 'runId', 'NIGHT')).toEqual([run.runId]);
    expect(await complete(runs, 'runId', 'nothing')).toEqual([]);
    const projects = { type: 'ref/resource', uri: 'aep://projects/{projectId}' } as const;
    expect(await complete(projects, 'projectId', 'shop')).toEqual([project.id]);
  });

  test('arguments of a log resource are completed one after another', async () => {
    expect(await complete(log, 'sandboxId', 'sbx_')).toEqual([sandbox.id]);
    expect(await complete(log, 'role', 'b')).toEqual(['builder']);
    expect(await complete(log, 'sessionId', '', { sandboxId: sandbox.id, role: 'builder' })).toEqual(['a/b c']);
    expect(await complete(log, 'sessionId', '')).toEqual([]);
    expect(await complete(log, 'part', 's')).toEqual(['session', 'system']);
  });

  test('an argument without values gets no suggestions; an unknown reference is an error', async () => {
    expect(await complete(log, 'constructor', '')).toEqual([]);
    await expect(complete({ type: 'ref/prompt', name: 'moons' }, 'runId', '')).rejects.toThrow('ref: is unknown.');
  });
});

describe('MCP prompts', () => {
  test('an MCP prompt is listed only if the credential may call every tool that the prompt uses', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ title }) => title)).toEqual([
      'What failed last night?',
      'Explain a run',
      'How is this project doing?',
      'What did the missions cost this week?',
      'Run a scheduled task now',
    ]);
    const narrow = await connect(await world.token(project.owner, project.organization, { scopes: ['missions:read'] }));
    expect((await narrow.listPrompts()).prompts).toEqual([]);
    await expect(narrow.getPrompt({ name: 'explain_run' })).rejects.toThrow('Unknown prompt: explain_run');
  });

  test('each MCP prompt mentions no tool that does not exist, and states the current time', async () => {
    const { tools } = await client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    for (const { name, arguments: all = [] } of (await client.listPrompts()).prompts) {
      const own: Record<string, string> = { projectId: project.id, runId: run.runId, scheduledTaskId: 'sch_1' };
      const given = Object.fromEntries(all.map((one) => [one.name, own[one.name]!]));
      const { messages } = await client.getPrompt({ name, arguments: given });
      const { text } = messages[0]!.content as { text: string };
      for (const [tool] of text.replaceAll(run.runId, '').matchAll(/\b(?:get|list|run)_[a-z]\w+/g))
        expect([...names]).toContain(tool);
      expect(text).toMatch(/It is now 2026-11-\d\dT[\d:.]+Z \(\d+ milliseconds since 1970\)\.$/);
    }
  });

  test('an MCP prompt about one record contains the record', async () => {
    const { messages } = await client.getPrompt({ name: 'explain_run', arguments: { runId: run.runId } });
    const uri = `aep://runs/${run.runId}`;
    expect(messages[1]!.content).toEqual({ type: 'resource', resource: await read(uri) });
    const ask = (runId: string) => client.getPrompt({ name: 'explain_run', arguments: { runId } });
    await expect(ask('run_nothing')).rejects.toThrow('No such run.');
    await expect(ask('')).rejects.toThrow('runId: is required.');
    await expect(ask('x'.repeat(201))).rejects.toThrow('runId: must be at most 200 characters.');
  });
});

describe('Progress of MCP calls', () => {
  const begin = async () => {
    const task = { projectId: project.id, name: 'Now', prompt: 'true', triggers: [{ kind: 'schedule', schedule }] };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token, body: task })).body;
    return { name: 'run_scheduled_task', arguments: { id } };
  };
  const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };

  test('a caller that requests progress learns what the run waits for, and gets the answer when a runtime has claimed it', async () => {
    const heard: unknown[] = [];
    const { structuredContent } = await client.callTool(await begin(), undefined, {
      onprogress(progress) {
        heard.push(progress);
        if (heard.length === 1) void runtime.claim({ harnesses: ['codex'] });
      },
    });
    expect(structuredContent).toMatchObject({ ok: true, runId: expect.stringMatching(/^run_/), status: 'running' });
    expect(heard[0]).toEqual({ progress: 0, message: expect.stringMatching(/^Waiting: /) });
    expect(heard.at(-1)).toEqual({ progress: heard.length - 1, message: 'The run is running.' });
  });

  test('a caller of MCP version 2026-07-28 gets the progress too', async () => {
    const { Client: NewClient, StreamableHTTPClientTransport: NewTransport } = await import(
      '@modelcontextprotocol/client'
    );
    const made = new NewClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await made.connect(new NewTransport(new URL(`${world.url}/mcp`), { requestInit }));
    const heard: unknown[] = [];
    const { structuredContent } = await made.callTool(await begin(), {
      onprogress(progress) {
        heard.push(progress);
        if (heard.length === 1) void runtime.claim({ harnesses: ['codex'] });
      },
    });
    expect(structuredContent).toMatchObject({ status: 'running' });
    expect(heard.length).toBeGreaterThan(1);
    await made.close();
  });

  test('a tool call with progress returns the latest state of the run', async () => {
    const heard: unknown[] = [];
    const started = { name: 'start_mission', arguments: { projectId: project.id, prompt: 'true' } };
    const { structuredContent } = await client.callTool(started, undefined, {
      onprogress(progress) {
        heard.push(progress);
        if (heard.length === 1) void runtime.claim({ harnesses: ['codex'] });
      },
    });
    expect(structuredContent).toMatchObject({ status: 'running', startedAt: expect.any(Number) });
  });

  test('an MCP call without requested progress is answered at once', async () => {
    const { structuredContent } = await client.callTool(await begin());
    expect(structuredContent).toMatchObject({ status: 'dispatching' });
  });
});

test('a batch of MCP calls is answered within the byte limit: results beyond the limit are errors, the other results are complete', async () => {
  const long = await startSession(sandbox);
  await writeLog(long, 'session', ['x'.repeat(bytes.logContent)]);
  const args = { sandboxId: sandbox.id, role: 'builder', sessionId: long.sessionId };
  const call = (id: number) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'get_sandbox_log', arguments: args } },
  });
  const { status, body } = await world.request('POST', '/mcp', {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: [1, 2, 3, 4].map(call),
  });
  expect(status).toBe(200);
  const results = (body as { result: { isError?: true; structuredContent: { description?: string } } }[]).map(
    ({ result }) => result,
  );
  expect(results.filter(({ isError }) => !isError).length).toBe(3);
  const refused = results.find(({ isError }) => isError)!;
  expect(refused.structuredContent.description).toMatch(
    /^The answer has \d+ bytes; the maximum is \d+\. Ask for fewer/,
  );
});
