// The driver of harnesses that speak the Agent Client Protocol, with a stand-in that calls a scripted model and MCP servers through the
// gateway.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Fragment } from '../../../src/runner/contract.ts';
import { filled, readCommand } from '../../../src/runner/harness/acp-command.ts';
import { acpEvents } from '../../../src/runner/harness/acp-events.ts';
import { discover } from '../../../src/runner/harness/discovery.ts';
import type { HarnessEvent, Task } from '../../../src/runner/harness/port.ts';
import { chooseIsolation } from '../../../src/runner/isolation/isolation.ts';
import { runDirectly } from '../../../src/runner/isolation/programs.ts';
import { openGateway } from '../../../src/runner/protocol/gateway.ts';
import { peopleServer } from '../../../src/runner/protocol/people-server.ts';
import { openQuestions } from '../../../src/runner/protocol/questions.ts';
import { openSelfTest } from '../../../src/runner/self-test.ts';
import { begin, scripted } from '../../support/harness-turns.ts';
import { startModels } from '../../support/stand-in-models.ts';

const program = fileURLToPath(new URL('../../support/stand-in-acp.mjs', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'acp-'));
const questions = openQuestions('run', new Set());
const asked: Fragment[] = [];
questions.begin({ show: (fragment) => void asked.push(fragment) });
let models: Awaited<ReturnType<typeof startModels>>;
let gateway: Awaited<ReturnType<typeof openGateway>>;
const ending: (() => Promise<void>)[] = [];

beforeAll(async () => {
  models = await startModels();
  const headers = { 'x-api-key': 'real-key' };
  const upstreams = {
    anthropic: { base: models.url, headers },
    openai: { base: `${models.url}/v1`, headers },
    mcp: { people: { own: peopleServer(questions) } },
  };
  gateway = await openGateway(upstreams, null);
});
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});
afterAll(async () => {
  await gateway.close();
  await models.close();
  rmSync(folder, { recursive: true });
});

/** Starts one turn of the stand-in for a harness, in `home` or in a new folder. */
function start(prompt: string, { flags = [], ...more }: Partial<Task> & { flags?: string[] } = {}) {
  const home = more.home ?? mkdtempSync(path.join(folder, 'home-'));
  const cwd = path.join(home, 'work');
  mkdirSync(cwd, { recursive: true });
  mkdirSync(path.join(home, 'tmp'), { recursive: true });
  writeFileSync(path.join(cwd, 'a.txt'), 'hello old world\n');
  const url = `http://127.0.0.1:${gateway.port}`;
  const played = begin('acp', {
    ...{ program, command: { args: flags, env: {} }, home, cwd, prompt },
    ...{ gateway: { url, key: gateway.key }, mcp: { people: `${url}/mcp/people` }, model: 'claude-sonnet-4-5' },
    ...more,
  });
  ending.push(played.harness.end);
  return { ...played, home, cwd };
}

const edit = { edit: { file: 'a.txt', old: 'old', new: 'new' } };
const forever = { shell: 'exec tail -f /dev/null' };

describe('an ACP harness', () => {
  it('an ACP harness reports thoughts and a plan, runs tools with permission, and answers with the model of the gateway', async () => {
    models.seen.length = 0;
    const steps = [
      { think: 'I look first.', shell: 'echo from-the-shell' },
      { plan: [{ content: 'Edit', status: 'in_progress' }] },
    ];
    const played = start(scripted(...steps, edit, { shell: 'exit 3' }, { say: 'All done.' }), {
      instructions: 'You are the builder.',
    });
    expect(await played.turn(0), played.logs()).toEqual({
      ...{ status: 'completed', text: 'All done.', structured: undefined, error: null },
    });
    expect(readFileSync(path.join(played.cwd, 'a.txt'), 'utf8')).toBe('hello new world\n');
    expect(played.fragments()).toMatchObject([
      { kind: 'thought', body: 'I look first.' },
      { kind: 'action', action: 'execute', parameter: 'echo from-the-shell' },
      { kind: 'action', action: 'execute', result: 'from-the-shell', failed: false },
      { kind: 'plan', items: [{ content: 'Edit', status: 'in_progress' }] },
      { kind: 'action', action: 'edit' },
      { kind: 'action', action: 'edit', result: 'Edited.', failed: false },
      { kind: 'action', action: 'execute', parameter: 'exit 3' },
      { kind: 'action', action: 'execute', result: '', failed: true },
      { kind: 'response', body: 'All done.' },
    ]);
    expect(played.logs()).toContain('from-the-shell\n');
    expect(models.seen).toHaveLength(5);
    for (const { headers, body } of models.seen) {
      expect(headers['x-api-key']).toBe('real-key');
      expect(body.model).toBe('claude-sonnet-4-5');
    }
    expect(models.seen[0]!.body.messages[0].content).toMatch(/^You are the builder\.\n\nDo what stands here\./);
  });

  it('an ACP harness asks a person through the server of the runner, and gets the answer', async () => {
    const question = { mcp: { tool: 'ask_person', args: { question: 'Which colour?', choices: ['Red', 'Blue'] } } };
    const played = start(scripted(question, { say: 'Blue it is.' }));
    const open = await vi.waitUntil(() => asked.find(({ kind }) => kind === 'elicitation'));
    expect(open).toMatchObject({ body: 'Which colour?', choices: ['Red', 'Blue'] });
    const answer = { messageId: 'm', author: 'Alice', questionId: open.toolUseId!, text: 'Blue', approved: null };
    questions.take(answer);
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'Blue it is.' });
    expect(played.fragments().map(({ action }) => action)).toContain('people_ask_person');
    expect(JSON.stringify(models.seen.at(-1)!.body)).toContain('Alice answers: Blue');
  });

  it('an ACP harness accepts a message while it works, is interrupted once, continues, and can be resumed by another process', async () => {
    const played = start(scripted(forever, { say: 'never' }));
    await played.seen('tail -f');
    expect(await played.harness.send(scripted({ shell: 'echo steered > s.txt' }, { say: 'steered' }))).toBe('steered');
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'steered', error: null });
    expect(await played.harness.send(scripted(forever))).toBe('begun');
    await vi.waitUntil(() => played.fragments().filter(({ parameter }) => parameter?.includes('tail -f')).length === 2);
    await played.harness.interrupt();
    expect(await played.turn(1)).toMatchObject({ status: 'interrupted', text: '' });
    await played.harness.send(scripted({ say: 'went on' }));
    expect(await played.turn(2)).toMatchObject({ status: 'completed', text: 'went on' });
    await played.harness.end();
    const again = start(scripted({ say: 'resumed' }), { home: played.home, resume: played.session() });
    expect(await again.turn(0)).toMatchObject({ status: 'completed', text: 'resumed' });
    expect(again.session()).toBe(played.session());
    // The history is not shown again.
    expect(again.fragments()).toEqual([{ kind: 'response', body: 'resumed' }]);
    expect(JSON.stringify(models.seen.at(-1)!.body)).toContain('went on');
  });

  it('an ACP harness answers in the requested JSON shape, even inside a code block', async () => {
    const schema = { type: 'object', properties: { verdict: { type: 'string' } } };
    const played = start(scripted({ say: 'So:\n```json\n{"verdict":"approve"}\n```' }), { schema });
    expect(await played.turn(0)).toMatchObject({ status: 'completed', structured: { verdict: 'approve' } });
    expect(JSON.stringify(models.seen.at(-1)!.body)).toContain('of this JSON Schema');
    const prose = start(scripted({ say: 'It is fine.' }), { schema });
    expect(await prose.turn(0)).toMatchObject({ status: 'completed', structured: undefined });
  });

  it('an ACP harness works for a read-only agent only in an isolation that mounts the checkout read-only', async () => {
    const open = start(scripted({ say: 'Read.' }), { readOnly: true });
    const error = 'A read-only agent of an ACP harness needs a runner with cells or containers.';
    expect(await open.turn(0)).toMatchObject({ status: 'failed', error });
  });

  it('an ACP harness chooses the model among the options of the session', async () => {
    const played = start(scripted({ say: 'Chosen.' }), { flags: ['--models'] });
    expect(await played.turn(0)).toMatchObject({ status: 'completed' });
    expect(models.seen.at(-1)!.body.model).toBe('claude-sonnet-4-5');
    const other = start(scripted({ say: 'Other.' }), { flags: ['--models'], effort: 'high' });
    expect(await other.turn(0)).toMatchObject({ status: 'completed' });
    expect(other.logs()).toBe('The harness has no option effort high: it uses low.\n');
  });

  it('an ACP harness reports no session if sessions cannot be loaded', async () => {
    const played = start(scripted({ say: 'Done.' }), { flags: ['--no-load'] });
    expect(await played.turn(0)).toMatchObject({ status: 'completed' });
    expect(played.session()).toBeUndefined();
  });

  it('an ACP harness stops at the limits of its step, according to the calls that the gateway counts', async () => {
    const tokens = { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1 };
    const metered: Task['metered'] = (listener) => {
      for (const usageId of ['1', '2']) listener({ usageId, model: 'm', ...tokens });
    };
    const played = start(scripted(forever), { maxCalls: 2, metered });
    expect(await played.turn(0)).toMatchObject({ status: 'failed', error: 'The limit of 2 model calls is reached.' });
    expect(played.usages()).toHaveLength(2);
  });

  it('an ACP harness fails with the error of its model, its protocol, or its process', async () => {
    const fail = { status: 400, type: 'invalid_request_error', message: 'no such thing' };
    const failed = async (played: ReturnType<typeof start>) => {
      const { status, error } = await played.turn(0);
      expect(status).toBe('failed');
      return error;
    };
    expect(await failed(start(scripted({ fail })))).toBe('Internal error: The model failed: no such thing');
    expect(await failed(start('x', { flags: ['--no-http'] }))).toBe(
      'The harness does not support MCP servers over HTTP, which missions need.',
    );
    expect(await failed(start('x', { flags: ['--auth'] }))).toBe('Authentication required');
    const killed = start(scripted({ shell: 'kill -KILL $PPID' }));
    expect(await failed(killed)).toBe('killed by SIGKILL');
    const wrap = (): [string, string[]] => ['sh', ['-c', 'echo "out of order" >&2; exit 3']];
    expect(await failed(start('x', { wrap }))).toBe('out of order');
  });

  it('an ACP harness authenticates by the method that the setting names', async () => {
    const played = start(scripted({ say: 'Known.' }), { command: { args: ['--auth'], env: {}, authMethod: 'key' } });
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'Known.' });
  });
});

describe('the setting ACP_HARNESS', () => {
  it('the setting ACP_HARNESS is a command with arguments and variables', () => {
    const command = { command: 'qwen', args: ['--acp'], env: { OPENAI_MODEL: '{AEP_MODEL}' }, authMethod: 'key' };
    const { command: name, ...others } = command;
    expect(readCommand(JSON.stringify(command))).toEqual({ program: name, ...others });
    expect(filled('--model={AEP_MODEL} {OTHER}', { AEP_MODEL: 'm' })).toBe('--model=m {OTHER}');
    const wrong = [
      'qwen',
      '{"command":""}',
      '{"command":"x","args":"acp"}',
      '{"command":"x","env":{"A":1}}',
      '{"command":"x","arg":[]}',
    ];
    expect(wrong.map(readCommand)).toEqual([
      'ACP_HARNESS must be a JSON object such as {"command":"qwen","args":["--acp"]}',
      'ACP_HARNESS.command must be the name or path of a program',
      'ACP_HARNESS.args must be a list of strings',
      'ACP_HARNESS.env must be an object of strings',
      'ACP_HARNESS.arg is unknown: use command, args, env and authMethod',
    ]);
  });

  it('the setting ACP_HARNESS enables the program once a session with it can be opened', async () => {
    const isolation = (await chooseIsolation('none', 'http://127.0.0.1'))!;
    const limits = { cpus: null, memoryBytes: 1024 ** 3, processes: 100, diskBytes: 1024 ** 3 };
    const selfTest = openSelfTest(isolation, limits, path.join(folder, 'data'));
    const look = async (value: unknown) => {
      const nowhere = { CLAUDE_CODE_PROGRAM: '/nowhere', CODEX_PROGRAM: '/nowhere', OPENCODE_PROGRAM: '/nowhere' };
      const env = { PATH: process.env.PATH, ...nowhere, ACP_HARNESS: JSON.stringify(value) };
      const { found, missing } = await discover(env, { run: runDirectly, selfTest });
      return found[0] ?? missing.at(-1);
    };
    const offered = { harness: 'acp', program, version: '1.2.3', command: { args: [], env: {} } };
    expect(await look({ command: program })).toEqual(offered);
    const refused = { harness: 'acp', isRefused: true };
    expect(await look({ command: program, args: ['--auth'] })).toEqual({
      ...refused,
      why: '1.2.3 failed its self-test: Authentication required',
    });
    const dying = path.join(folder, 'dying');
    writeFileSync(dying, '#!/bin/sh\n[ "$1" = --version ] && echo 1.0.0 && exit; echo out of order >&2; exit 3', {
      mode: 0o755,
    });
    expect(await look({ command: dying })).toEqual({ ...refused, why: '1.0.0 failed its self-test: out of order' });
    expect(await look({ command: 'no-such-program' })).toEqual({
      ...refused,
      why: 'ACP_HARNESS.command: no-such-program is not a program',
    });
  });
});

it('an update of an unknown kind is logged, and a list of todos becomes a plan', async () => {
  const told: HarnessEvent[] = [];
  const { take } = acpEvents((event) => void told.push(event));
  await take({ sessionUpdate: 'novelty', x: 1 } as never);
  const todos = [{ content: 'Edit', status: 'in_progress' }];
  await take({ sessionUpdate: 'tool_call', toolCallId: 'p', title: 'todos', status: 'completed', rawInput: { todos } });
  await take({ sessionUpdate: 'usage_update', used: 1, size: 2 });
  await take({
    sessionUpdate: 'tool_call',
    toolCallId: 't',
    title: 'Fetch a page',
    kind: 'fetch',
    status: 'completed',
  });
  expect(told).toEqual([
    { log: '[novelty] sessionUpdate=novelty x=1\n' },
    { fragment: { kind: 'plan', items: todos } },
    { fragment: { kind: 'action', action: 'fetch', parameter: 'Fetch a page', toolUseId: 't' } },
    { fragment: { kind: 'action', action: 'fetch', toolUseId: 't', result: '', failed: false } },
  ]);
});
