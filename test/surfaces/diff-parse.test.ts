// Tests the console's parser of git diffs with diffs that the git program of this machine has written.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDiff } from '../../src/console/changes/diff-parse.ts';
import { changedWords, rowsOf } from '../../src/console/changes/diff-rows.ts';

let folder: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });
const write = (name: string, text: string | Buffer) => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
};

const numbered = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n');

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'aep-diff-'));
  git('init', '-q', '-b', 'main');
  write('text.txt', numbered);
  write('src/old name.ts', `${numbered}\n`);
  write('gone.txt', 'gone\n');
  write('run.sh', 'echo\n');
  write('picture.png', Buffer.from([0, 1, 2]));
  write('fool.txt', 'a\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
});
afterAll(() => rmSync(folder, { recursive: true }));

it('every kind of change in a diff is parsed, with names that git quotes and lines that look like headers', () => {
  write('text.txt', numbered.replace('line 1\n', 'line one\n').replace('line 39', 'line 39\nmore'));
  renameSync(path.join(folder, 'src/old name.ts'), path.join(folder, 'src/new name.ts'));
  rmSync(path.join(folder, 'gone.txt'));
  chmodSync(path.join(folder, 'run.sh'), 0o755);
  write('picture.png', Buffer.from([0, 1, 3]));
  write('fool.txt', '-- a/b\n++ c\n@@ -1 +1 @@\ndiff --git a/x b/x\n');
  write('new\nline "ü".txt', 'x\n');
  write('empty', '');
  git('add', '-A');
  const text = git('diff', '--cached', '-M', 'HEAD');
  const files = parseDiff(text);
  const shown = files.map(({ path, oldPath, status, note, insertions, deletions }) => [
    ...[path, oldPath, status, note, insertions, deletions],
  ]);
  expect(shown).toEqual([
    ['empty', null, 'added', null, 0, 0],
    ['fool.txt', null, 'changed', null, 4, 1],
    ['gone.txt', null, 'deleted', null, 0, 1],
    ['new\nline "ü".txt', null, 'added', null, 1, 0],
    ['picture.png', null, 'changed', 'binary', 0, 0],
    ['run.sh', null, 'changed', 'now executable', 0, 0],
    ['src/new name.ts', 'src/old name.ts', 'renamed', null, 0, 0],
    ['text.txt', null, 'changed', null, 3, 2],
  ]);
  const { hunks } = files.at(-1)!;
  expect(hunks).toHaveLength(2);
  expect(hunks[0]!.lines.slice(0, 3)).toEqual([
    { kind: ' ', text: 'line 0', old: 1, new: 1 },
    { kind: '-', text: 'line 1', old: 2, new: null },
    { kind: '+', text: 'line one', old: null, new: 2 },
  ]);
  expect(hunks[1]!.lines.at(-1)).toEqual({ kind: '+', text: 'more', old: null, new: 41, endsFile: true });
  // A diff that was cut off is parsed up to the cut.
  expect(parseDiff(text.slice(0, -30)).at(-1)!.path).toBe('text.txt');
  expect(new Set(files.map(({ digest }) => digest)).size).toBe(8);
});

it('a diff is shown side by side or in one column, and marks changed words; changes of white space are ignored on request', () => {
  const [file] = parseDiff(
    'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n same\n-  if (a) b();\n-two\n-three\n+if (a) b();\n+2\n+three\n',
  );
  const [hunk] = file!.hunks;
  const texts = (isSplit: boolean, ignoresSpace: boolean) =>
    rowsOf(hunk!, { isSplit, ignoresSpace }).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
  expect(texts(true, false)).toEqual([
    ['same', 'same'],
    ['  if (a) b();', 'if (a) b();'],
    ['two', '2'],
    ['three', 'three'],
  ]);
  expect(texts(false, false)).toHaveLength(7);
  expect(texts(false, true)).toEqual([
    ['same', 'same'],
    ['if (a) b();', 'if (a) b();'],
    ['two', null],
    [null, '2'],
    ['three', 'three'],
  ]);
  expect(changedWords('const a = 1;', 'const b = 1;')).toEqual({ old: [[6, 7]], new: [[6, 7]] });
  expect(changedWords('completely', 'different words')).toEqual({ old: [], new: [] });
});
