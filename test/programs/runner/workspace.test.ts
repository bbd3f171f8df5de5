// The repository of a mission: its checkout, and the commits that are pushed, wait for approval, or are refused.
import { execFileSync } from 'node:child_process';
import { chmodSync, createReadStream, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pushPack } from '../../../src/domain/projects/vendors/git-push.ts';
import type { Origin } from '../../../src/runner/workspace/workspace.ts';
import { type CheckoutSettings, createOrigin, env, git, openCheckout, write } from '../../support/git-origin.ts';

let folder: string;
let origin: Origin;
beforeEach(() => {
  ({ folder, origin } = createOrigin());
});
afterEach(() => rmSync(folder, { recursive: true }));
const open = (...more: CheckoutSettings) => openCheckout(folder, origin, ...more);

it('a commit with a secret is not pushed, even when a later commit removes it', async () => {
  const { checkout, deliver } = await open();
  write(checkout, 'key.txt', 'token=top-secret-token\n');
  write(checkout, 'key.txt', 'token=\n');
  await expect(deliver()).rejects.toThrow(
    'A commit contains a secret of the environment, so the branch was not pushed.',
  );
});

it('the commits of the branch are pushed, and so are later ones; nothing is pushed without commits', async () => {
  const { checkout, deliver, markReported } = await open();
  expect(await deliver()).toBe(null);
  expect([git(checkout, 'branch', '--show-current'), git(checkout, 'remote')]).toEqual(['mission/run_1', '']);
  expect(execFileSync('git', ['-C', checkout, 'config', 'user.name'], { env, encoding: 'utf8' })).toBe('Builder\n');
  write(checkout, 'a.txt', 'new\n');
  const first = await deliver();
  expect(first).toEqual({
    headSha: git(checkout, 'rev-parse', 'HEAD'),
    size: { commits: 1, files: 1, insertions: 1, deletions: 1 },
    diff: expect.stringContaining('-old\n+new\n'),
    commits: [expect.objectContaining({ subject: 'Write a.txt', author: 'Person' })],
    baseSha: git(origin.url, 'rev-parse', 'main'),
    newCommits: [{ sha: git(checkout, 'rev-parse', 'HEAD'), tree: git(checkout, 'rev-parse', 'HEAD^{tree}') }],
    staged: null,
  });
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(first!.headSha);
  // The commits of a failed report are delivered again, with later ones, until a report succeeds.
  expect(await deliver()).toEqual(first);
  write(checkout, 'b.txt', 'b\n');
  const both = (await deliver())!;
  expect(both.newCommits.map(({ sha }) => sha)).toEqual([first!.headSha, both.headSha]);
  markReported(both);
  expect(await deliver()).toBe(null);
  git(checkout, 'commit', '-q', '--amend', '-m', 'Say new');
  const second = await deliver();
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(second!.headSha);
  expect(git(origin.url, 'rev-parse', 'main')).not.toBe(second!.headSha);
});

it('the new commits of a branch are only those of the agent; their git notes are pushed without losing notes of other missions and runners', async () => {
  write(path.join(folder, 'seed'), 'b.txt', 'b\n');
  git(path.join(folder, 'seed'), 'push', '-q', origin.url, 'HEAD:refs/heads/later');
  const openMission = async (i: number) => {
    origin = { ...origin, branch: `mission/run_${i}` };
    const workspace = await open(undefined, undefined, path.join(folder, `mirrors-${i}`));
    write(workspace.checkout, 'new.txt', `${i}\n`);
    git(workspace.checkout, 'fetch', '-q', origin.url, 'later');
    git(workspace.checkout, 'merge', '-q', '-m', 'Merge', 'FETCH_HEAD');
    const { newCommits } = (await workspace.deliver())!;
    expect(newCommits.map(({ sha }) => git(origin.url, 'log', '-1', '--format=%s', sha))).toEqual([
      'Write new.txt',
      'Merge',
    ]);
    return { workspace, notes: newCommits.map(({ sha }) => ({ sha, text: `{"of":"${sha}"}` })) };
  };
  const missions = [];
  for (const i of [1, 2, 3]) missions.push(await openMission(i));
  await Promise.all(missions.map(({ workspace, notes }) => workspace.note(notes)));
  for (const { sha, text } of missions.flatMap(({ notes }) => notes))
    expect(git(origin.url, 'notes', '--ref=attestations', 'show', sha)).toBe(text);
  // A later note about a commit replaces the earlier note about it.
  const [{ workspace, notes }] = missions as [(typeof missions)[number]];
  await workspace.note([{ ...notes[0]!, text: '{}' }]);
  expect(git(origin.url, 'notes', '--ref=attestations', 'show', notes[0]!.sha)).toBe('{}');
  // The text is longer than an argument of a program can be.
  const long = JSON.stringify('x'.repeat(200_000));
  await workspace.note([{ ...notes[0]!, text: long }]);
  expect(git(origin.url, 'notes', '--ref=attestations', 'show', notes[0]!.sha)).toBe(long);
});

it('the commits of a change are listed with their patches, including unusual names, merges, and empty and binary files', async () => {
  const { checkout, deliver } = await open();
  const strange = 'new\nline \u202e.txt';
  write(checkout, strange, 'one\n');
  const at = [
    '-c',
    'user.name=\u202eMallory top-secret-token',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    `${'x'.repeat(300)}\n\nmore`,
  ];
  git(checkout, ...at, '--date=@1000000000 +0000');
  git(checkout, 'checkout', '-q', '-b', 'side', 'HEAD^');
  writeFileSync(path.join(checkout, 'dot.bin'), Buffer.from([0, 1, 2]));
  // A text whose NUL is beyond the bytes by which git recognizes binary files.
  writeFileSync(path.join(checkout, 'long.txt'), `${'y\n'.repeat(8_000)}a\0b\n`);
  git(checkout, 'add', '.');
  git(checkout, 'commit', '-q', '--allow-empty-message', '-m', '');
  git(checkout, 'checkout', '-q', origin.branch);
  git(checkout, 'merge', '-q', '--no-ff', '-m', 'Merge side', 'side');
  write(checkout, 'a.txt', 'new\n');
  const { commits, headSha, size } = (await deliver())!;
  expect(size.commits).toBe(5);
  const bySubject = (subject: string) => commits.find((one) => one.subject === subject)!;
  expect(commits.map(({ subject }) => subject).slice(-2)).toEqual(['Merge side', 'Write a.txt']);
  expect(commits.at(-1)).toMatchObject({ sha: headSha, patch: expect.stringContaining('-old\n+new\n') });
  expect(commits.at(-1)!.patch).not.toContain('dot.bin');
  expect(bySubject('x'.repeat(200))).toMatchObject({
    ...{ author: '\u202eMallory [secret]', authoredAt: 1_000_000_000_000, patch: '' },
  });
  expect(bySubject('').patch).toContain('Binary files /dev/null and b/dot.bin differ');
  expect(bySubject('').patch).toContain('+a\0b\n');
  expect(bySubject('Merge side').patch).toBe(bySubject('').patch);
  expect(commits[0]!.patch).toContain('+++ "b/new\\nline \\342\\200\\256.txt"\t\n');

  // Patches of the newest commits come first.
  for (const letter of ['v', 'w']) write(checkout, `${letter}.txt`, `${letter.repeat(99)}\n`.repeat(60_000));
  const large = (await deliver())!.commits;
  expect(large.map(({ patch }) => patch !== null)).toEqual([true, true, true, true, true, false, true]);
});

it('commits that wait for approval are bundled; the service pushes them if the branch has not moved', async () => {
  const pushed = (headSha: string, expected: (string | null)[], file: string) => ({
    ...{ branch: 'mission/run_1', headSha, expected },
    open: async () => ({ content: createReadStream(file), sizeBytes: statSync(file).size }),
  });
  origin.pushWaits = true;
  const { checkout, deliver } = await open();
  write(checkout, 'a.txt', 'new\n');
  const { headSha: first, staged: early } = (await deliver())!;
  write(checkout, 'a.txt', 'newer\n');
  const { headSha, staged } = (await deliver())!;
  expect([early, staged]).toMatchObject([{ expectedSha: null }, { expectedSha: null }]);
  expect(git(origin.url, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');

  await pushPack(origin, pushed(first, [null], early!.file));
  await expect(pushPack(origin, pushed(headSha, [null], staged!.file))).rejects.toThrow(
    `the branch is now at ${first}`,
  );
  await pushPack(origin, pushed(headSha, [null, first], staged!.file));
  await pushPack(origin, pushed(headSha, [null], staged!.file));
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(headSha);

  const other = await open();
  write(other.checkout, 'b.txt', 'b\n');
  const more = (await other.deliver())!;
  expect(more.staged).toMatchObject({ expectedSha: headSha });
  const hook = path.join(origin.url, 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\necho frozen >&2\nexit 1\n', { mode: 0o755 });
  const refused = pushPack(origin, pushed(more.headSha, [headSha], more.staged!.file));
  await expect(refused).rejects.toThrow(
    'The source host refused the push to mission/run_1: pre-receive hook declined; frozen',
  );
  rmSync(hook);
  await pushPack(origin, pushed(more.headSha, [headSha], more.staged!.file));
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(more.headSha);
});

it('commits are pushed to the new URL of a repository that has moved', async () => {
  const url = path.join(folder, 'renamed.git');
  const { checkout, deliver } = await open(undefined, async (own) => ({ ...own, url }));
  write(checkout, 'b.txt', 'new\n');
  renameSync(origin.url, url);
  const { headSha } = (await deliver())!;
  expect(git(url, 'rev-parse', origin.branch)).toBe(headSha);
});

it('an interrupted mission continues from its pushed commits', async () => {
  const first = await open();
  write(first.checkout, 'b.txt', 'b\n');
  const pushed = await first.deliver();
  const second = await open();
  expect(git(second.checkout, 'rev-parse', 'HEAD')).toBe(pushed!.headSha);
  write(second.checkout, 'c.txt', 'c\n');
  expect(git(origin.url, 'rev-parse', 'mission/run_1^')).not.toBe(pushed!.headSha);
  const { size } = (await second.deliver())!;
  expect(size).toEqual({ commits: 2, files: 2, insertions: 2, deletions: 0 });
  expect(git(origin.url, 'rev-parse', 'mission/run_1^')).toBe(pushed!.headSha);
});

it('commits of a person on the branch are not overwritten; the error gives the reason for a refused push', async () => {
  const { checkout, deliver } = await open();
  write(checkout, 'b.txt', 'b\n');
  await deliver();
  const person = path.join(folder, 'person');
  git(folder, 'clone', '-q', '--branch', 'mission/run_1', origin.url, person);
  write(person, 'c.txt', 'c\n');
  git(person, 'push', '-q');
  write(checkout, 'd.txt', 'd\n');
  const theirs = git(person, 'rev-parse', 'HEAD');
  const refusal = (why: string) =>
    expect(deliver()).rejects.toThrow(
      `${why}. The commits of the agent are not pushed; the checkpoint of the run has them.`,
    );
  await refusal(`Somebody has pushed to mission/run_1, which is now at ${theirs}, while the agent worked`);
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(theirs);
  git(person, 'reset', '-q', '--hard', 'HEAD^^');
  git(person, 'push', '-qf');
  await refusal(`which is now at ${git(person, 'rev-parse', 'HEAD')}, while the agent worked`);
  git(person, 'push', '-q', 'origin', ':mission/run_1');
  await refusal('Somebody has deleted mission/run_1 while the agent worked');
  expect(git(origin.url, 'branch', '--list', 'mission/run_1')).toBe('');
  writeFileSync(
    path.join(origin.url, 'hooks/pre-receive'),
    '#!/bin/sh\necho "GH006: Protected branch update failed." >&2\nexit 1\n',
  );
  chmodSync(path.join(origin.url, 'hooks/pre-receive'), 0o755);
  origin = { ...origin, branch: 'mission/run_2' };
  const other = await open();
  write(other.checkout, 'e.txt', 'e\n');
  await expect(other.deliver()).rejects.toThrow(
    'The source host refuses pushes to mission/run_2 (pre-receive hook declined; GH006: Protected branch update failed.). The commits',
  );
});

it('missions of one repository share its mirror, even at the same time', async () => {
  const branches = ['one', 'two', 'three'];
  await Promise.all(
    branches.map(async (branch) => {
      origin = { ...origin, branch };
      const { checkout, deliver } = await open();
      write(checkout, `${branch}.txt`, branch);
      await deliver();
    }),
  );
  expect(git(origin.url, 'branch', '--format=%(refname:short)').split('\n').sort()).toEqual(
    ['main', ...branches].sort(),
  );
});

it.skipIf(process.getuid?.() !== 0)(
  'the checkout belongs to the account of the agent, and the runner can still read it',
  async () => {
    const account = { uid: 54_321, gid: 54_321 };
    const { checkout, deliver } = await open(account);
    expect(statSync(path.join(checkout, '.git', 'HEAD')).uid).toBe(account.uid);
    const safe = ['-c', `safe.directory=${checkout}`];
    writeFileSync(path.join(checkout, 'b.txt'), 'b\n');
    git(checkout, ...safe, 'add', '.');
    git(checkout, ...safe, 'commit', '-qm', 'b');
    expect((await deliver())!.diff).toContain('b.txt');
  },
);

it('a replay begins at the recorded commit, even if the branch of the mission exists; it replaces commits of an earlier replay, but not those of a person', async () => {
  const wanted = git(origin.url, 'rev-parse', 'main');
  async function replay(subject: string) {
    const workspace = await open(undefined, undefined, undefined, wanted);
    const { checkout, startSha } = workspace;
    expect([startSha, git(checkout, 'rev-parse', 'HEAD')]).toEqual([wanted, wanted]);
    execFileSync('git', ['-C', checkout, 'commit', '-q', '--allow-empty', '-m', subject], { env });
    return workspace;
  }
  const subjects = () => git(origin.url, 'log', '--format=%s', 'mission/run_1').split('\n');
  await (await replay('half')).deliver();
  expect((await (await replay('whole')).deliver())!.newCommits).toHaveLength(1);
  expect(subjects()).toEqual(['whole', 'Write a.txt']);
  const seed = path.join(folder, 'seed');
  write(seed, 'b.txt', 'b\n');
  git(seed, 'push', '-qf', origin.url, 'HEAD:mission/run_1');
  await expect((await replay('later')).deliver()).rejects.toThrow('Somebody has pushed to mission/run_1');
  expect(subjects()).toEqual(['Write b.txt', 'Write a.txt']);
});
