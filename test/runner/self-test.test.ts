// The self-test of harnesses. Before the runner offers a program as a harness, the program must complete one turn with a scripted model.
import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { discover } from '../../src/runner/harness/discovery.ts';
import { testedVersions } from '../../src/runner/harness/versions.ts';
import { chooseIsolation } from '../../src/runner/isolation/isolation.ts';
import { runDirectly } from '../../src/runner/isolation/programs.ts';
import { openSelfTest } from '../../src/runner/self-test.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'self-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const version = testedVersions['claude-code'].from;
/** The source of a program that speaks the protocol of Claude Code. A test can replace a part of the source. */
const source = (change: [string, string] = ['', '']) =>
  `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('${version}'); process.exit(0); }
const tell = (event) => console.log(JSON.stringify(event));
const ask = async (messages) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
    method: 'POST',
    headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY },
    body: JSON.stringify({ model: 'm', stream: true, tools: [{ name: 'Bash' }], messages }),
  });
  const lines = (await response.text()).split('\\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice(6)));
};
process.stdin.once('data', async () => {
  tell({ type: 'system', subtype: 'init', session_id: 's' });
  tell({ type: 'user', isReplay: true, message: {} });
  const first = await ask([{ role: 'user', content: 'Begin' }]);
  const { command } = JSON.parse(first.find(({ delta }) => delta?.partial_json).delta.partial_json);
  require('node:child_process').execSync(command);
  const second = await ask([{ role: 'user', content: [{ type: 'tool_result' }] }]);
  for (const event of [...first, ...second]) tell({ type: 'stream_event', event });
  const { text } = second.find(({ delta }) => delta?.text).delta;
  tell({ type: 'result', subtype: 'success', result: text, usage: {} });
});
process.stdin.on('end', () => process.exit(0));
`.replace(...change);

const put = (name: string, change?: [string, string]): string => {
  const file = path.join(folder, name);
  writeFileSync(file, source(change));
  chmodSync(file, 0o755);
  return file;
};
const limits = { cpus: null, memoryBytes: 1024 ** 3, processes: 100, diskBytes: 1024 ** 3 };
async function look(program: string, timeoutMs?: number) {
  const isolation = (await chooseIsolation('none', 'http://127.0.0.1'))!;
  let tests = 0;
  const test = openSelfTest(isolation, limits, path.join(folder, 'data'), timeoutMs);
  const selfTest = (found: Parameters<typeof test>[0]) => {
    tests++;
    return test(found);
  };
  const nowhere = { PATH: '', CODEX_PROGRAM: '/nowhere', OPENCODE_PROGRAM: '/nowhere' };
  const { found, missing } = await discover(
    { ...nowhere, CLAUDE_CODE_PROGRAM: program },
    { run: runDirectly, selfTest },
  );
  expect(tests).toBe(1);
  return found[0] ?? missing.find(({ harness }) => harness === 'claude-code')!.why;
}

it('a harness that passes the self-test with a scripted model is offered, and is tested again only when its file changes', async () => {
  const program = put('good');
  const offered = { harness: 'claude-code', program, version };
  expect(await look(program)).toEqual(offered);
  // The program that has passed the self-test gets a fixed modification time. It is then replaced with a broken program that has the same
  // modification time, so the runner does not test the broken program until the time changes.
  const at = new Date(1_700_000_000_000);
  utimesSync(program, at, at);
  expect(await look(program)).toEqual(offered);
  put('good', ['ask([', 'ask.gone([']);
  utimesSync(program, at, at);
  expect(await look(program)).toEqual(offered);
  utimesSync(program, at, new Date());
  expect(await look(program)).toMatch(`${version} failed its self-test: `);
});

it.each<[string, [string, string], string]>([
  ['deaf', ['execSync(command)', 'execSync("true")'], 'the harness did not run the command that the model requested'],
  ['forgetful', ["subtype: 'init'", "subtype: 'other'"], 'the harness named no session'],
  ['quiet', ['result: text', "result: 'Something else'"], 'its answer was not understood: Something else'],
  ['failing', ["subtype: 'success'", "is_error: true, subtype: 'error'"], 'The self-test is done.'],
  [
    'dying',
    ["tell({ type: 'system'", "console.error('No library'); process.exit(3); tell({ type: 'system'"],
    'No library',
  ],
])('a %s harness fails the self-test and is not offered', async (name, change, why) => {
  expect(await look(put(name, change))).toBe(`${version} failed its self-test: ${why}`);
});

it('a harness that hangs in the self-test is not offered', async () => {
  const program = put('hanging', [
    "process.stdin.once('data'",
    "setInterval(() => {}, 1_000); process.stdin.once('never'",
  ]);
  expect(await look(program, 500)).toBe(`${version} failed its self-test: the harness did not end within 0.5 seconds`);
});
