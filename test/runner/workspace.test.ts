// The repository of a mission: its checkout, its commits, and the limits of a checkout that was tampered with.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushPack } from '../../src/domain/projects/vendors/git-push.ts';
import { openInside } from '../../src/runner/isolation/inside.ts';
import type { Place } from '../../src/runner/isolation/place.ts';
import { createMask } from '../../src/runner/text.ts';
import { unpack, writeSessions } from '../../src/runner/workspace/checkpoint.ts';
import { type Origin, openWorkspace } from '../../src/runner/workspace/workspace.ts';

let folder: string;
let origin: Origin;
let checkouts = 0;

const by = ['-c', 'user.name=Person', '-c', 'user.email=person@example.com', '-c', 'init.defaultBranch=main'];
const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
const git = (directory: string, ...args: string[]): string =>
  execFileSync('git', ['-C', directory, ...by, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim();

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'aep-workspace-'));
  const [seed, url] = [path.join(folder, 'seed'), path.join(folder, 'origin.git')];
  mkdirSync(seed);
  git(seed, 'init', '-q');
  write(seed, 'a.txt', 'old\n');
  git(folder, 'clone', '-q', '--bare', seed, url);
  origin = {
    url,
    username: null,
    password: null,
    defaultBranch: 'main',
    branch: 'mission/run_1',
    pushWaits: false,
    allowLoopback: true,
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(checkout: string, name: string, content: string): void {
  writeFileSync(path.join(checkout, name), content);
  git(checkout, 'add', '.');
  git(checkout, 'commit', '-qm', `Write ${name}`);
}

async function open(
  account?: { uid: number; gid: number },
  reopen = async (own: Origin) => own,
  mirrors = path.join(folder, 'mirrors'),
) {
  const checkout = path.join(folder, `checkout-${++checkouts}`);
  mkdirSync(checkout);
  const author = { name: 'Builder', email: 'builder@example.com' };
  const mask = createMask(['top-secret-token']);
  const own = origin;
  const workspace = await openWorkspace({
    ...{ mirrors, checkout, origin, account, author, mask },
    reopen: () => reopen(own),
    checkpoint: null,
  });
  return { checkout, ...workspace };
}

it('a commit with a secret is not pushed, even when a later commit removes it', async () => {
  const { checkout, deliver } = await open();
  write(checkout, 'key.txt', 'token=top-secret-token\n');
  write(checkout, 'key.txt', 'token=\n');
  await expect(deliver()).rejects.toThrow('A commit contains a secret of the environment: the branch is not pushed.');
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

it('the new commits are those of the agent; their notes are pushed beside those of other missions and runners', async () => {
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
  // A later note replaces the earlier one of its commit.
  const [{ workspace, notes }] = missions as [(typeof missions)[number]];
  await workspace.note([{ ...notes[0]!, text: '{}' }]);
  expect(git(origin.url, 'notes', '--ref=attestations', 'show', notes[0]!.sha)).toBe('{}');
  // An argument of a program could not have this length.
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
  await expect(pushPack(origin, pushed(headSha, [null], staged!.file))).rejects.toThrow(`which is at ${first}`);
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
    'The source host refuses the push to mission/run_1: pre-receive hook declined; frozen',
  );
  rmSync(hook);
  await pushPack(origin, pushed(more.headSha, [headSha], more.staged!.file));
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(more.headSha);
});

it('commits are pushed to the new address of a repository that has moved', async () => {
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

it('commits of a person on the branch are not overwritten; the reason for a refused push is named', async () => {
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
  await refusal(`Somebody has pushed to mission/run_1, which is at ${theirs}, while the agent worked`);
  expect(git(origin.url, 'rev-parse', 'mission/run_1')).toBe(theirs);
  git(person, 'reset', '-q', '--hard', 'HEAD^^');
  git(person, 'push', '-qf');
  await refusal(`which is at ${git(person, 'rev-parse', 'HEAD')}, while the agent worked`);
  git(person, 'push', '-q', 'origin', ':mission/run_1');
  await refusal('Somebody has deleted mission/run_1, while the agent worked');
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

it('only the sessions of a checkpoint are written to the session folder of a harness', async () => {
  const [repository, home] = ['sessions', 'home'].map((name) => path.join(folder, name)) as [string, string];
  const thread = '01a20362-3bf2-7e10-89e7-fcd099a892af';
  const rollout = `.codex/sessions/2026/11/22/rollout-2026-11-22T13-11-39-${thread}.jsonl`;
  for (const name of [
    '.claude/projects/-tmp-old-work/one.jsonl',
    rollout,
    '.claude/projects/a/b/two.jsonl',
    '.bashrc',
  ]) {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), `of ${path.basename(name)}\n`);
  }
  git(repository, 'init', '-q');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'Sessions');
  git(repository, 'update-ref', 'refs/sessions/bundle', 'HEAD');
  const bundle = { file: '/somewhere/bundle.bundle', commitSha: '' };
  const written = await writeSessions(repository, bundle, { home, work: '/tmp/mission-x/work' } as Place);
  expect(written.sort()).toEqual([thread, 'one']);
  const own = '.claude/projects/-tmp-mission-x-work/one.jsonl';
  expect(readFileSync(path.join(home, own), 'utf8')).toBe('of one.jsonl\n');
  const files = readdirSync(home, { recursive: true }).filter((name) => String(name).endsWith('.jsonl'));
  expect(files.sort()).toEqual([own, rollout].sort());
  expect(existsSync(path.join(home, '.bashrc'))).toBe(false);
});

it('no error message of the workspace contains a password', async () => {
  origin = { ...origin, url: 'http://127.0.0.1:9/a/b.git', username: 'x', password: 'hunter2' };
  await expect(open()).rejects.toThrow(/^git fetch: (?!.*hunter2)/);
});

it('a checkpoint that is not a bundle is refused, because git would read another repository through it', async () => {
  const other = path.join(folder, 'other');
  mkdirSync(other);
  git(other, 'init', '-q');
  write(other, 'secret.txt', 'secret');
  git(other, 'update-ref', 'refs/checkpoint/work', 'HEAD');
  git(other, 'update-ref', 'refs/checkpoint/sessions', 'HEAD');
  const file = path.join(folder, 'one.bundle');
  writeFileSync(file, `gitdir: ${other}/.git\n`);
  const bundle = { file, commitSha: git(other, 'rev-parse', 'HEAD') };
  await expect(unpack(origin.url, bundle)).rejects.toThrow('it is not a git bundle');
  expect(git(origin.url, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

describe('files in the folder of a run', () => {
  it('can be opened through a link inside the folder, but not through a link that leads out of it', async () => {
    const [inside, outside] = ['inside', 'outside'].map((name) => path.join(folder, name)) as [string, string];
    for (const one of [inside, outside]) mkdirSync(one);
    writeFileSync(path.join(inside, 'a.txt'), 'a');
    symlinkSync('a.txt', path.join(inside, 'b.txt'));
    const opened = await openInside(inside, path.join(inside, 'b.txt'));
    expect(await opened.readFile('utf8')).toBe('a');
    await opened.close();
    const pipe = path.join(outside, 'pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync(pipe, path.join(inside, 'pipe'));
    symlinkSync(outside, path.join(inside, 'folder'));
    // The text goes to the first process that opens the pipe.
    const writer = spawn('sh', ['-c', `echo kept > ${pipe}`]);
    for (const name of ['pipe', 'folder/pipe', 'folder'])
      await expect(openInside(inside, path.join(inside, name))).rejects.toThrow('not a file of this folder');
    expect(execFileSync('cat', [pipe], { encoding: 'utf8' })).toBe('kept\n');
    writer.kill();
  });
});

describe('a source host in the workspace of a run', () => {
  const login = { username: 'x', password: 'hunter2' };
  const asked: string[] = [];
  const servers: Server[] = [];
  const serve = async (answer: (response: ServerResponse) => void): Promise<string> => {
    const server = createServer(({ url, headers }, response) => {
      asked.push(`${headers.host?.replace(/:\d+$/, '')} ${url} ${headers.authorization}`);
      answer(response);
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `:${(server.address() as AddressInfo).port}/a/b.git`;
  };
  afterEach(() => {
    asked.length = 0;
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it('is not followed when it redirects, and the login is not sent on', async () => {
    const internal = await serve((response) => response.writeHead(404).end());
    const host = await serve((response) => response.writeHead(302, { location: `http://127.0.0.1${internal}` }).end());
    origin = { ...origin, url: `http://127.0.0.1${host}`, ...login };
    await expect(open()).rejects.toThrow(/^git fetch: .*302/);
    expect(asked).toEqual(['127.0.0.1 /a/b.git/info/refs?service=git-upload-pack Basic eDpodW50ZXIy']);
  });

  it('is contacted at the checked address, whatever git would resolve its name to', async () => {
    const at = await serve((response) => response.writeHead(404).end());
    let addresses: [string, ...string[]] = ['127.0.0.1'];
    const resolve = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )) as never;
    origin = { ...origin, url: `http://code.example${at}`, resolve };
    await expect(open()).rejects.toThrow(/not found/);
    expect(asked).toEqual([expect.stringMatching(/^code\.example /)]);
    for (const [found, allowLoopback] of [
      ['10.0.0.7', true],
      ['127.0.0.1', false],
    ] as const) {
      addresses = ['1.1.1.1', found];
      origin = { ...origin, url: 'https://code.example/a/b.git', allowLoopback };
      await expect(open()).rejects.toThrow('code.example is not at a public address');
    }
  });

  it.each([
    'ssh://127.0.0.1/a/b.git',
    'ext::sh -c true',
    'http://127.0.0.1:9@code.example/a/b.git',
    'https://code.example\\@127.0.0.1/a/b.git',
    'http://0x7f.1/a/b.git',
  ])('%s is refused', async (url) => {
    origin = { ...origin, url };
    await expect(open()).rejects.toThrow(/is not a (plain|public) address/);
  });
});

describe('a checkout that was tampered with', () => {
  it('runs nothing when its commits are read', async () => {
    const { checkout, deliver } = await open();
    const [trap, sprung, hooks] = ['trap.sh', 'sprung', 'hooks'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(hooks);
    for (const file of [
      trap,
      ...['pre-push', 'reference-transaction', 'post-checkout'].map((hook) => `${hooks}/${hook}`),
    ]) {
      writeFileSync(file, `#!/bin/sh\ntouch ${sprung}\n`);
      chmodSync(file, 0o755);
    }
    write(checkout, 'b.txt', 'b\n');
    for (const key of ['core.fsmonitor', 'core.sshCommand', 'uploadpack.packObjectsHook', 'remote.origin.uploadpack'])
      git(checkout, 'config', key, trap);
    git(checkout, 'config', 'core.hooksPath', hooks);
    expect((await deliver())!.diff).toContain('b.txt');
    expect(existsSync(sprung)).toBe(false);
    // The forbidden action: any git command in the checkout itself.
    git(checkout, 'status');
    expect(existsSync(sprung)).toBe(true);
  });

  it.each<[string, (own: string, other: string) => void]>([
    [
      'borrows the objects of another repository',
      (own, other) => writeFileSync(`${own}/objects/info/alternates`, `${other}/objects\n`),
    ],
    [
      'is a link',
      (own, other) => {
        renameSync(own, `${own}-moved`);
        symlinkSync(other, own);
      },
    ],
    [
      'is a file that names another repository',
      (own, other) => {
        renameSync(own, `${own}-moved`);
        writeFileSync(own, `gitdir: ${other}\n`);
      },
    ],
    ['shares the folder of another repository', (own, other) => writeFileSync(`${own}/commondir`, `${other}\n`)],
    [
      'links to the objects of another repository',
      (own, other) => {
        renameSync(`${own}/objects`, `${own}/moved`);
        symlinkSync(`${other}/objects`, `${own}/objects`);
      },
    ],
    [
      'links to a pack of another repository',
      (own, other) => symlinkSync(`${other}/HEAD`, `${own}/objects/pack/pack-1.pack`),
    ],
  ])('is refused when it %s', async (_, tamper) => {
    const other = path.join(folder, 'other');
    mkdirSync(other);
    git(other, 'init', '-q');
    write(other, 'secret.txt', 'secret');
    const { checkout, deliver } = await open();
    tamper(path.join(checkout, '.git'), path.join(other, '.git'));
    await expect(deliver()).rejects.toThrow('no longer its own git repository');
  });
});
