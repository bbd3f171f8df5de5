// Recordings of missions. If the organization has consented, the gateway keeps the model calls and tool calls of its missions. The tests check
// what a recording contains, who may read it, how it is replayed, and when it is deleted.
import { execFileSync, spawn } from 'node:child_process';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { deleteOldRecordings } from '#domain/work/recordings/operations.ts';
import { days } from '#foundation/clock.ts';
import { openGateway } from '../../../src/runner/protocol/gateway.ts';
import { openRecorder, recordingBounds } from '../../../src/runner/protocol/recorder.ts';
import { hasSplitSecret } from '../../../src/runner/protocol/split-secrets.ts';
import { modelsFrom } from '../../../src/runner/protocol/upstreams.ts';
import { createMask } from '../../../src/runner/text.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { scripted } from '../../support/harness-turns.ts';
import { openMissionWorld, standInAcp } from '../../support/mission-world.ts';
import { compiled, projectFolder } from '../../support/processes.ts';
import type { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let world: World;
let token: string;
beforeAll(async () => {
  missions = await openMissionWorld();
  ({ world } = missions);
  ({ token } = missions.alice);
  await missions.team('acp', 'builder');
  const secret = {
    scope: 'project',
    projectId: missions.projectId,
    kind: 'secret',
    name: 'SHOP_KEY',
    hosts: ['api.example.com'],
    value: secretValue,
  };
  const session = await world.session(missions.alice.person, missions.alice.organization.id);
  expect((await world.rest('POST', '/secrets', { session, body: secret })).status).toBe(201);
  missions.startRunner({ CLAUDE_CODE_PROGRAM: '/nowhere', ACP_HARNESS: JSON.stringify({ command: standInAcp }) });
});
afterAll(() => missions.close());

const levels = {
  ...{ CONFINEMENT: 'none', ISOLATION: 'none', HARNESS_INSTALL: 'off', HARNESS_TEST: 'off' },
  ACP_HARNESS: JSON.stringify({ command: standInAcp }),
};
const secretValue = 'hunter2-of-the-shop';
const set = (isEnabled: boolean, keptDays = 30, by = token) =>
  world.graphql(`mutation { setRecordingSettings(isEnabled: ${isEnabled}, days: ${keptDays}) { isEnabled days } }`, {
    token: by,
  });
const recordingOf = (runId: string, by = token) => world.rest('GET', `/runs/${runId}/recording`, { token: by });
const contents = () =>
  readdirSync(world.contents, { recursive: true, encoding: 'utf8' })
    .filter((name) => /cnt_/.test(name))
    .map((name) => path.join(world.contents, name));
const fileOf = (key: string) => contents().find((name) => name.endsWith(key))!;

/** A mission that asks a person, and runs a command that prints a secret. */
async function work(): Promise<string> {
  const question = { question: 'Which colour?', choices: ['Red', 'Blue'] };
  const runId = await missions.mission(
    scripted(
      { mcp: { tool: 'ask_person', args: question } },
      { shell: `echo ${secretValue}; echo blue > colour.txt` },
      { say: 'All done.' },
    ),
  );
  const ask = 'query ($r: String!) { run(runId: $r) { questions { sandboxId seq } } }';
  const { sandboxId, seq } = await missions.until(async () => (await missions.graphql(ask, { r: runId })).questions[0]);
  const answer =
    'mutation ($r: String!, $s: String!, $n: Int!) { answerElicitation(runId: $r, sandboxId: $s, seq: $n, text: "Blue") { id } }';
  await missions.graphql(answer, { r: runId, s: sandboxId, n: seq });
  expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null });
  return runId;
}

/** The lines of a recording, from its signed URL. */
async function linesOf(runId: string): Promise<Json[]> {
  const { body } = await recordingOf(runId);
  const text = await (await fetch(body.url)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Exit code and last line of a replay. */
const replay = async (changed: Json[], ...more: string[]) => {
  const file = path.join(missions.folder, 'recording.jsonl');
  writeFileSync(file, changed.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const env = { PATH: process.env.PATH, TMPDIR: missions.folder, CLAUDE_CODE_PROGRAM: '/nowhere', ...levels };
  const child = spawn(process.execPath, [compiled('runner/runner'), 'replay', file, ...more], {
    cwd: projectFolder,
    env,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const [code] = await once(child, 'close');
  return [code, output.trim().split('\n').at(-1)];
};

describe('recordings', () => {
  it('recordings are off by default, and only an owner can switch them on', async () => {
    const read = 'query { recordingSettings { isEnabled days } }';
    expect((await world.graphql(read, { token })).body.data.recordingSettings).toEqual({ isEnabled: false, days: 30 });
    const admin = await createMember(world, missions.alice.organization, 'Ada', 'admin');
    expect((await set(true, 30, admin.token)).body.errors[0].message).toBe(
      'Only an owner can decide whether missions are recorded.',
    );
    expect((await set(true, 366)).body.errors[0].extensions.problem.code).toBe('invalid_request');
    const runId = await work();
    expect(await recordingOf(runId)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await world.knex('recording_parts')).toEqual([]);
  });

  it('recordings contain each model call and each tool call without secrets, and are not found by other organizations', async () => {
    expect((await set(true, 5)).body.data.setRecordingSettings).toEqual({ isEnabled: true, days: 5 });
    await numberAllChanges();
    const [event] = await world.knex('audit_events').where({ action: 'recordings.updated' });
    expect(event.changes).toEqual([
      { path: 'days', before: null, after: 5 },
      { path: 'isEnabled', before: null, after: true },
      expect.objectContaining({ path: 'personalValues', sealed: expect.any(Object) }),
    ]);
    const runId = await work();
    const { status, body } = await recordingOf(runId);
    const createdAt = expect.any(Number);
    expect([status, body]).toEqual([
      200,
      {
        ...{
          runId,
          calls: 5,
          omitted: 0,
          sizeBytes: expect.any(Number),
          createdAt,
          expiresAt: body.createdAt + days(5),
        },
        url: expect.stringMatching(
          new RegExp(`^${world.url}/recordings/${runId}\\?expires=\\d+&signature=[\\w-]{43}$`),
        ),
      },
    ]);
    const { id: stepId } = (await missions.look(runId)).steps[0];
    const at = expect.any(Number);
    const [step, ...lines] = await linesOf(runId);
    expect(step).toMatchObject({
      ...{ type: 'step', stepId, run: { runId, orgId: missions.alice.organization.id }, start: null, mcp: ['people'] },
      ...{
        harness: { harness: 'acp', version: '1.2.3' },
        order: { stepId, prompt: expect.stringContaining('All done.') },
      },
    });
    expect(step.order.environment.secrets).toMatchObject([
      { name: 'SHOP_KEY', hosts: ['api.example.com'], value: '[secret]' },
    ]);
    const calls: Json[] = lines.slice(0, -1);
    const json = { 'content-type': 'application/json' };
    const model = {
      ...{
        type: 'call',
        stepId,
        at,
        method: 'POST',
        path: '/anthropic/v1/messages',
        requestHeaders: expect.objectContaining(json),
      },
      ...{ request: expect.any(String), status: 200, responseHeaders: json, response: expect.any(String) },
      // A small answer usually arrives in one piece.
      ...{ pieces: expect.arrayContaining([[at, expect.any(Number)]]), isWhole: true, isOmitted: false },
    };
    const tool = { ...model, path: '/mcp/people' };
    const streamed = { responseHeaders: { 'content-type': 'text/event-stream' }, pieces: expect.any(Array) };
    expect(calls).toEqual([
      { ...tool, number: 1 },
      { ...model, number: 2 },
      { ...tool, number: 3, ...streamed },
      { ...model, number: 4 },
      { ...model, number: 5 },
    ]);
    expect(lines.at(-1)).toEqual({
      type: 'end',
      stepId,
      at,
      failure: '',
      tree: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    const asked = calls.map(({ request }) => JSON.parse(request));
    expect(asked.map(({ method, messages }) => method ?? messages.length)).toEqual([
      'tools/list',
      1,
      'tools/call',
      3,
      5,
    ]);
    expect(JSON.parse(calls[2].response.split('data: ').at(-1))).toEqual({
      ...{
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: 'Alice answers: Blue' }], isError: false },
      },
    });
    expect(asked[4].messages.at(-1).content[0].content).toBe('[secret]\n');
    expect(JSON.parse(calls[4].response).content).toEqual([{ type: 'text', text: 'All done.' }]);
    const all = JSON.stringify([step, lines]);
    for (const secret of [secretValue, 'real-key', missions.service]) expect(all).not.toContain(secret);

    const stranger = await createOwner(world, 'Mallory', 'Globex');
    expect(await recordingOf(runId, stranger.token)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await fetch(body.url.replace(/.$/, 'x'))).status).toBe(403);
  });

  it('recordings are replayed without models or people: the mission ends in the same tree, or the first call that differs is named', async () => {
    const { runId } = await world.knex('recording_parts').first();
    const lines = await linesOf(runId);
    const asked = missions.models.seen.length;
    const { tree } = lines.at(-1);
    expect(await replay(lines)).toEqual([
      0,
      `The replay of ${runId} ends as recorded: 1 step, 5 calls, the tree ${tree}.`,
    ]);
    const [step, ...rest] = lines;
    const other = rest.map((line) =>
      line.number === 5 ? { ...line, request: line.request.replaceAll('[secret]', 'other') } : line,
    );
    expect(await replay([step, ...other])).toEqual([
      1,
      expect.stringMatching(
        /^The replay of run_\w+ differs after 4 calls\. Call 5 \(POST \/anthropic\/v1\/messages\) differs from call 5 of the recording: messages\[0\]\.content has ".*echo \[secret\];.*" around character \d+; the recording has ".*echo other;.*"\.$/,
      ),
    ]);
    const ending = lines.map((line) => (line.type === 'end' ? { ...line, tree: 'b'.repeat(40) } : line));
    expect(await replay(ending)).toEqual([
      1,
      `The replay of ${runId} differs after 5 calls. The step of the builder ends in the tree ${tree}; the recording has ${'b'.repeat(40)}.`,
    ]);
    expect(missions.models.seen.length).toBe(asked);
  });

  it('recordings of missions with a repository are replayed from the commit that the mission began from', async () => {
    const repository = path.join(missions.folder, 'acme/site');
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@a', ...args], {
        encoding: 'utf8',
      });
    mkdirSync(repository, { recursive: true });
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(repository, 'a.txt'), 'old\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    const { id: orgId } = missions.alice.organization;
    const scm = { vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: missions.folder } as const;
    await connectIntegration({ orgId, ...scm });
    const site = await createProject(world, missions.alice, 'Site', { repoFullName: 'acme/site' });
    const runId = await missions.mission(
      scripted({ shell: 'cat a.txt; echo new > a.txt; git commit -qam new' }, { say: 'Done.' }),
      site,
    );
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed' });
    writeFileSync(path.join(repository, 'a.txt'), 'later\n');
    git('commit', '-qam', 'later');
    const lines = await linesOf(runId);
    expect(git('rev-parse', `mission/${runId}^{tree}`).trim()).toBe(lines.at(-1).tree);
    expect(await replay(lines, repository)).toEqual([
      0,
      `The replay of ${runId} ends as recorded: 1 step, 3 calls, the tree ${lines.at(-1).tree}.`,
    ]);
    const { start } = lines[0];
    expect(await replay(lines)).toEqual([
      1,
      `The recording needs a clone of ${start.url}: give its folder as the argument after the file.`,
    ]);
  });

  it('recordings are not returned when a byte of the stored content has changed', async () => {
    const [{ runId, contentKey }] = await world.knex('recording_parts');
    const bytes = readFileSync(fileOf(contentKey));
    bytes[40]! ^= 1;
    writeFileSync(fileOf(contentKey), bytes);
    const { body } = await recordingOf(runId);
    const answer = await fetch(body.url);
    expect([answer.status, ((await answer.json()) as Json).description]).toEqual([
      502,
      'Part 1 of the recording was altered in the storage: it cannot be decrypted.',
    ]);
    bytes[40]! ^= 1;
    writeFileSync(fileOf(contentKey), bytes);
    expect((await fetch(body.url)).status).toBe(200);
  });

  it('recordings are deleted after the chosen number of days, and when an owner switches them off; their contents are deleted too', async () => {
    const { runId, contentKey } = await world.knex('recording_parts').first();
    const at = (await recordingOf(runId)).body.expiresAt;
    missions.turn(at - Date.now() - 60_000);
    await deleteOldRecordings();
    await sweepArtifacts();
    expect((await recordingOf(runId)).status).toBe(200);
    expect(fileOf(contentKey)).toBeDefined();
    missions.turn(120_000);
    expect((await recordingOf(runId)).status).toBe(404);
    await deleteOldRecordings();
    await sweepArtifacts();
    expect(await world.knex('recording_parts')).toEqual([]);
    expect(fileOf(contentKey)).toBeUndefined();

    const kept = await missions.mission(scripted({ say: 'All done.' }));
    await missions.ended(kept);
    const { url } = (await recordingOf(kept)).body;
    expect((await set(false)).body.data.setRecordingSettings).toEqual({ isEnabled: false, days: 30 });
    expect([(await recordingOf(kept)).status, (await fetch(url)).status]).toEqual([404, 404]);
    expect([await world.knex('recording_parts'), await world.knex('recording_keys')]).toEqual([[], []]);
  });

  it('recordings leave out an answer whose events contain a secret in pieces, even when events of different outputs are interleaved', () => {
    const mask = createMask([secretValue]);
    const stream = (...events: Json[]) =>
      events.map((event) => `event: delta\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join('');
    const piece = (text: string, index = 0) => ({ index, note: '\u2028', delta: { text } });
    const split = [piece('it is hunter2'), piece('x', 1), piece('-of-the'), piece('-shop.')];
    expect(hasSplitSecret(stream(...split), mask)).toBe(true);
    expect(hasSplitSecret(stream({ choices: split.slice(0, 3) }, { choices: split.slice(3) }), mask)).toBe(true);
    expect(hasSplitSecret('data: hunter2-of\n\ndata: -the-shop', mask)).toBe(true);
    expect(hasSplitSecret(stream(...split.slice(0, 3), piece('.')), mask)).toBe(false);
    expect(hasSplitSecret(mask(stream(piece(`it is ${secretValue}`), piece('.'))), mask)).toBe(false);
  });

  it('recordings leave out the content of a call that exceeds the body size limit', async () => {
    const parts: { file: Buffer; report: Json }[] = [];
    const key = randomBytes(32).toString('base64');
    const platform = {
      mask: (text: string) => text,
      mutate: async (_: unknown, report: Json) => (report.contentKey ? parts.push({ file, report }) : { key }),
      upload: async (_: unknown, __: string, content: FileHandle) => {
        file = await content.readFile();
        return 'cnt_1';
      },
    } as never;
    let file = Buffer.alloc(0);
    const recorder = openRecorder(platform, { runId: 'run_1', leaseId: 'lse_1' }, missions.folder);
    const upstreams = { ...modelsFrom({ OPENAI_BASE_URL: `${missions.models.url}/v1`, OPENAI_API_KEY: 'k' }), mcp: {} };
    const gateway = await openGateway(upstreams, null, null, undefined, recorder);
    const call = async (input: string) => {
      const sent = {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ input }),
      };
      await (await fetch(`http://127.0.0.1:${gateway.port}/openai/v1/responses`, sent)).text();
    };
    await call('before the step');
    recorder.begin('stp_1', {});
    await call('x'.repeat(recordingBounds.body));
    await call('short');
    expect(await recorder.end({ failure: '', tree: null })).toBe('');
    await gateway.close();
    const [{ report, file: stored }] = parts as [(typeof parts)[0]];
    expect(report).toMatchObject({ runId: 'run_1', calls: 2, omitted: 1 });
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64'), stored.subarray(0, 12));
    decipher.setAuthTag(stored.subarray(12, 28));
    const text = brotliDecompressSync(
      Buffer.concat([decipher.update(stored.subarray(28)), decipher.final()]),
    ).toString();
    expect(Buffer.byteLength(text)).toBe(report.sizeBytes);
    const [, long, short, ...end] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(long).toMatchObject({ number: 1, status: 200, request: null, response: null, pieces: [], isOmitted: true });
    expect(short).toMatchObject({ number: 2, request: '{"input":"short"}', isOmitted: false });
    expect(end).toMatchObject([{ type: 'end' }]);
  });
});
