// Claude Code, Codex and OpenCode, the real programs, with stand-in models: each starts, works, is charged, steered, interrupted and
// resumed, calls a tool over MCP, and answers in the requested shape.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { harnesses } from '../../src/domain/projects/agents/catalog.ts';
import type { AgentHarness } from '../../src/runner/harness/port.ts';
import { scripted } from '../support/harness-turns.ts';
import { fileOf, isolation, openWorld, programs, selfTest, whyMissing } from './world.ts';

const table: Record<string, Record<string, string>> = {};
const columns = ['start', 'stream', 'cost', 'steer', 'interrupt', 'resume', 'MCP', 'structured answer'];
/** The table for docs/harnesses.md, which contains only results of the tests. */
function markdown(rows: typeof table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const lines = Object.entries(rows).map(([name, row]) => line([name, ...columns.map((column) => row[column] ?? '')]));
  return [line(['harness', ...columns]), `|${'---|'.repeat(columns.length + 1)}`, ...lines].join('\n');
}
let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
  const places = { cell: 'in cells', container: 'in containers', none: 'in no cell: bubblewrap does not work here' };
  console.log(`\n${places[isolation.level as keyof typeof places]}`);
  console.log(markdown(table));
  for (const [name, row] of Object.entries(table))
    if (row.steered) console.log(`${name} was steered in ${row.steered} ms`);
});

const kinds = (fragments: { kind: string }[]) => new Set(fragments.map(({ kind }) => kind));

interface Variant {
  name: AgentHarness;
  model: string;
  tokens: [input: number, output: number];
  mode: string;
}
const anthropic: [number, number] = [1_200, 50];
// OpenAI includes the 200 cached tokens in the input.
const openai: [number, number] = [1_000, 50];
const variants: Variant[] = [
  { name: 'claude-code', model: 'claude-sonnet-4-5', tokens: anthropic, mode: '' },
  { name: 'codex', model: 'gpt-5.5', tokens: openai, mode: '' },
  { name: 'opencode', model: 'claude-sonnet-4-5', tokens: anthropic, mode: '' },
  // OpenCode, through the Agent Client Protocol.
  { name: 'acp', model: 'claude-sonnet-4-5', tokens: anthropic, mode: '' },
  { name: 'codex', model: 'gpt-6.1-sol', tokens: openai, mode: 'code mode' },
  { name: 'opencode', model: 'gpt-5.5', tokens: openai, mode: 'Responses' },
  { name: 'opencode', model: 'compatible/some-model', tokens: openai, mode: 'Chat Completions' },
  { name: 'opencode', model: 'messages/some-model', tokens: anthropic, mode: 'Messages' },
];

const work = [
  { think: 'I look first.', read: 'a.txt' },
  { plan: [{ content: 'Edit', status: 'in_progress' }] },
  { edit: { file: 'a.txt', old: 'hello old world', new: 'hello new world' } },
  { write: { file: 'b.txt', content: 'made\n' } },
  { mcp: { tool: 'comment', args: { text: 'half way' } } },
  { shell: 'git add -A && git commit -qm work' },
  { say: 'All done.' },
];

describe('the models of the catalog', () => {
  const modelsOf = (name: AgentHarness) => harnesses.find(({ id }) => id === name)!.models.map(({ id }) => id);

  it('the models of the catalog are in Codex’s list', async ({ skip }) => {
    skip(whyMissing('codex') !== null, whyMissing('codex') ?? '');
    const printed = execFileSync(programs.codex, ['debug', 'models'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const known = JSON.parse(printed).models.map(({ slug }: { slug: string }) => slug);
    expect(known).toEqual(expect.arrayContaining(modelsOf('codex')));
  });

  it('the models of the catalog are known to Claude Code by their names', async ({ skip }) => {
    skip(whyMissing('claude-code') !== null, whyMissing('claude-code') ?? '');
    // The file that .bin links to may be a script that only starts the program, so the test reads the program itself.
    const native = path.resolve(programs['claude-code'], '../../@anthropic-ai/claude-code-linux-x64/claude');
    skip(!existsSync(native), 'there is no program for Linux on x64');
    const program = readFileSync(native);
    expect(modelsOf('claude-code').filter((model) => !program.includes(`"${model}"`))).toEqual([]);
  });
});

const changes = [
  { read: 'a.txt' },
  { edit: { file: 'a.txt', old: 'hello old world', new: 'hello new world' } },
  { write: { file: 'b.txt', content: 'made\n' } },
  { shell: "sh -c 'echo made > c.txt; git commit -qam made'" },
  { mcp: { tool: 'comment', args: { text: 'read only' } } },
  { say: 'All read.' },
];

describe.each(variants)('$name $mode', ({ name, model, tokens, mode }) => {
  const title = mode ? `${name}, ${mode}` : name;
  const passed = (...columns: string[]) => {
    table[title] ??= {};
    for (const column of columns) table[title]![column] = 'yes';
  };

  it('a harness plans, reads and edits files, creates a commit, and calls tools of the platform; each call of its model is counted', async ({
    skip,
  }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    const start = await world.prepare(name);
    world.models.seen.length = world.mcp.calls.length = 0;
    const played = start({
      model,
      prompt: scripted(...work),
      instructions: 'You are the builder.',
      effort: mode ? null : 'high',
    });
    expect(await played.turn(0), played.logs()).toMatchObject({ status: 'completed', text: 'All done.', error: null });
    expect([fileOf(played.place, 'a.txt'), fileOf(played.place, 'b.txt')]).toEqual(['hello new world\n', 'made\n']);
    const log = execFileSync('git', ['-c', 'safe.directory=*', '-C', played.place.work, 'log', '--format=%s']);
    expect(String(log)).toBe('work\nfirst\n');
    expect(kinds(played.fragments())).toEqual(new Set(['thought', 'action', 'plan', 'response']));
    passed('start', 'stream');
    const counted = played.usages();
    expect(counted.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual(
      world.calls().map(() => tokens),
    );
    passed('cost');
    expect(world.mcp.calls).toMatchObject([{ arguments: { text: 'half way' } }]);
    passed('MCP');
    // The gateway added the key, which the agent never saw.
    for (const { headers } of world.calls()) expect(headers['x-api-key'] ?? headers.authorization).toMatch(/real-key$/);
    expect(JSON.stringify(world.calls()[0]!.body)).toContain('You are the builder.');
    await played.harness.end();
  });

  it('a harness changes no file as a read-only agent, and can call tools of the platform', async ({ skip }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    const start = await world.prepare(name);
    world.mcp.calls.length = 0;
    const played = start({ model, readOnly: true, prompt: scripted(...changes) });
    expect(await played.turn(0), played.logs()).toMatchObject({ status: 'completed', text: 'All read.' });
    expect(JSON.stringify(played.events)).toContain('hello old world');
    const git = (...args: string[]) =>
      String(execFileSync('git', ['-c', 'safe.directory=*', '-C', played.place.work, ...args]));
    expect([git('status', '--porcelain'), git('log', '--format=%s')]).toEqual(['', 'first\n']);
    expect(world.mcp.calls).toMatchObject([{ arguments: { text: 'read only' } }]);
    await played.harness.end();
  });

  if (mode) return;

  it('a harness passes the self-test of the runner', async ({ skip }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    expect(await selfTest(name)).toBeNull();
  });

  it('a harness asks a person and waits for the answer; a tool call waits for a person’s decision', async ({
    skip,
  }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    const start = await world.prepare(name);
    world.mcp.calls.length = world.asked.length = 0;
    world.guarded.add('comment');
    const call = { mcp: { tool: 'comment', args: { text: 'deploy' } } };
    const question = { mcp: { tool: 'ask_person', args: { question: 'Which colour?', choices: ['Red', 'Blue'] } } };
    const played = start({ model, prompt: scripted(question, call, call, { say: 'decided' }) });
    const reply = async (n: number, words: { text: string; approved: boolean | null }) => {
      await vi.waitUntil(() => world.asked.filter(({ kind }) => kind === 'elicitation').length > n, {
        timeout: 60_000,
      });
      const { toolUseId } = world.asked.filter(({ kind }) => kind === 'elicitation')[n]!;
      played.questions.take({ messageId: `m${n}`, author: 'Alice', questionId: toolUseId!, ...words });
    };
    await reply(0, { text: 'Blue', approved: null });
    await reply(1, { text: 'not today', approved: false });
    await reply(2, { text: '', approved: true });
    expect(await played.turn(0), played.logs()).toMatchObject({ status: 'completed', text: 'decided' });
    expect(world.mcp.calls).toMatchObject([{ arguments: { text: 'deploy' } }]);
    const said = JSON.stringify(world.calls().at(-1)!.body);
    for (const words of ['Alice answers: Blue', 'Alice denied this call: not today']) expect(said).toContain(words);
    expect(world.asked).toMatchObject([
      { kind: 'elicitation', body: 'Which colour?', choices: ['Red', 'Blue'] },
      { kind: 'action', action: 'ask_person', result: 'Alice: Blue', failed: false },
      { kind: 'elicitation', action: 'platform.comment', parameter: '{"text":"deploy"}' },
      { result: 'Denied by Alice: not today', failed: true },
      { kind: 'elicitation', action: 'platform.comment' },
      { result: 'Approved by Alice.', failed: false },
    ]);
    world.guarded.clear();
    await played.harness.end();
  });

  it('a harness accepts a message while working, is interrupted, continues, and is resumed by another process', async ({
    skip,
  }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    const start = await world.prepare(name);
    const played = start({ model, prompt: scripted({ shell: 'sleep 1.5' }, { say: 'first' }) });
    await played.harness.ready;
    await played.seen('sleep 1.5');
    const since = Date.now();
    await played.harness.send(scripted({ shell: 'echo steered > s.txt' }, { say: 'steered' }));
    expect(await played.turn(0)).toMatchObject({ status: 'completed', text: 'steered' });
    expect(fileOf(played.place, 's.txt')).toBe('steered\n');
    passed('steer');
    table[name]!.steered = String(Date.now() - since);
    await played.harness.send(scripted({ shell: 'timeout 33 tail -f /dev/null' }, { say: 'never' }));
    await played.seen('timeout 33');
    await played.harness.interrupt();
    expect(await played.turn(1)).toMatchObject({ status: 'interrupted' });
    passed('interrupt');
    await played.harness.send(scripted({ say: 'went on' }));
    expect(await played.turn(2)).toMatchObject({ status: 'completed', text: 'went on' });
    await played.harness.end();
    world.models.seen.length = 0;
    const again = start({ model, resume: played.session(), prompt: scripted({ say: 'resumed' }) });
    expect(await again.turn(0)).toMatchObject({ status: 'completed', text: 'resumed' });
    expect([again.session(), again.usages().length]).toEqual([played.session(), 1]);
    expect(JSON.stringify(world.calls().map(({ body }) => body))).toContain('went on');
    passed('resume');
    await again.harness.end();
  });

  it('a harness answers in the requested JSON shape', async ({ skip }) => {
    skip(whyMissing(name) !== null, whyMissing(name) ?? '');
    const verdict = { type: 'string' };
    const schema = { type: 'object', properties: { verdict }, required: ['verdict'], additionalProperties: false };
    const start = await world.prepare(name);
    const played = start({ model, schema, prompt: scripted({ read: 'a.txt' }, { json: { verdict: 'approve' } }) });
    expect(await played.turn(0)).toMatchObject({ status: 'completed', structured: { verdict: 'approve' } });
    passed('structured answer');
    await played.harness.end();
  });
});
