// Discovery of a runner's harnesses, and the isolation of their agents from the machine.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discover } from '../../src/runner/harness/discovery.ts';
import { isTested, rangeOf, testedVersions } from '../../src/runner/harness/versions.ts';
import { chooseIsolation } from '../../src/runner/isolation/isolation.ts';
import { runDirectly } from '../../src/runner/isolation/programs.ts';

let folder: string;
const put = (name: string, script: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
};
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'programs-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('the harnesses of a machine are programs of a tested version that are in PATH or named by a setting', async () => {
  const claude = put('claude', `echo "${testedVersions['claude-code'].from} (Claude Code)"`);
  const elsewhere = put('my-codex', `echo "codex-cli ${testedVersions.codex.from}"`);
  put('opencode', 'echo 1.0.0');
  const { found, missing } = await discover(
    { PATH: `/nowhere:${folder}`, CODEX_PROGRAM: elsewhere },
    { run: runDirectly },
  );
  expect(found).toEqual([
    { harness: 'claude-code', program: claude, version: testedVersions['claude-code'].from },
    { harness: 'codex', program: elsewhere, version: testedVersions.codex.from },
  ]);
  expect(missing).toEqual([
    { harness: 'opencode', why: `1.0.0 is not among the tested releases: ${rangeOf('opencode')}`, isRefused: true },
  ]);
});

it('the harnesses of a machine are offered only in a tested range of releases', () => {
  const { from, below } = testedVersions.codex;
  expect([from, below, '0.99.0', '0.167.12', '1.0.0'].map((version) => isTested('codex', version))).toEqual([
    ...[true, false, false, true, false],
  ]);
});

it('the harnesses of a machine have a writable home directory while they are probed', async () => {
  const writing = put('writing', `mkdir "$HOME/.cache" && echo ${testedVersions.opencode.from}`);
  const { found } = await discover({ PATH: '/nowhere', OPENCODE_PROGRAM: writing }, { run: runDirectly });
  expect(found.map(({ program }) => program)).toEqual([writing]);
});

it('the harnesses of a machine are each reported as missing, with the reason, if their program is not found or does not work', async () => {
  const broken = put('broken', 'echo "no such library" >&2; exit 1');
  const silent = put('silent', 'true');
  const env = { PATH: '/nowhere', CODEX_PROGRAM: '/nowhere/codex', OPENCODE_PROGRAM: silent };
  const { missing } = await discover(env, { run: runDirectly });
  expect(missing.map(({ why }) => why)).toEqual([
    'there is no claude in PATH, and CLAUDE_CODE_PROGRAM is not set',
    'CODEX_PROGRAM: /nowhere/codex is not a program',
    `${silent} does not print its version`,
  ]);
  const failing = await discover({ CLAUDE_CODE_PROGRAM: broken }, { run: runDirectly });
  expect(failing.missing[0]!.why).toBe(`${broken} cannot be run: no such library`);
});

it('the error of a harness that crashes is the reason, and not the version of Node.js or Bun, which is the last line', async () => {
  const lines = [
    "EACCES: permission denied, mkdir '/tmp/x'",
    '    path: "/tmp/x",',
    '',
    'Bun v1.3.14 (Linux x64 baseline)',
  ];
  const bun = put('bun', `cat >&2 <<'END'\n${lines.join('\n')}\nEND\nexit 1`);
  const node = put('node', `'${process.execPath}' --eval 'throw new TypeError("no key")'`);
  for (const [program, why] of [
    [bun, lines[0]],
    [node, 'TypeError: no key'],
  ]) {
    const { missing } = await discover({ CLAUDE_CODE_PROGRAM: program }, { run: runDirectly });
    expect(missing[0]!.why).toBe(`${program} cannot be run: ${why}`);
  }
});

describe('the isolation of agents', () => {
  const local = 'http://localhost:4000';
  const [can, cannot] = [async () => null, async () => 'there is no bubblewrap'];

  it('the isolation of agents is a bubblewrap sandbox; if bubblewrap does not work, agents are refused unless ISOLATION is none', async () => {
    expect((await chooseIsolation(undefined, local, can))!.level).toBe('cell');
    expect(await chooseIsolation(undefined, local, cannot)).toBeNull();
    expect(await chooseIsolation('none', local, can)).toMatchObject({
      level: 'none',
      description: expect.stringContaining('NOT isolated'),
    });
  });

  it('the isolation of agents is the one that the setting names; an isolation that does not work is an error', async () => {
    const asked = (wanted: string, url: string) => chooseIsolation(wanted, url, cannot);
    await expect(asked('cell', local)).rejects.toThrow('ISOLATION=cell does not work on this machine: there is no');
    await expect(asked('docker', local)).rejects.toThrow('ISOLATION: must be cell, container or none.');
    await expect(asked('none', 'https://platform.example.com')).rejects.toThrow(
      'ISOLATION=none is allowed only if the platform runs on this',
    );
  });
});
