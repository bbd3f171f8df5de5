// The limits of a mission's checkout: foreign source hosts, links, checkpoints with unexpected content, and a checkout that was tampered with.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInside } from '../../../src/runner/isolation/inside.ts';
import type { Place } from '../../../src/runner/isolation/place.ts';
import { unpack, writeSessions } from '../../../src/runner/workspace/checkpoint.ts';
import type { Origin } from '../../../src/runner/workspace/workspace.ts';
import { type CheckoutSettings, createOrigin, git, openCheckout, write } from '../../support/git-origin.ts';

let folder: string;
let origin: Origin;
beforeEach(() => {
  ({ folder, origin } = createOrigin());
});
afterEach(() => rmSync(folder, { recursive: true }));
const open = (...more: CheckoutSettings) => openCheckout(folder, origin, ...more);

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
  await expect(unpack(origin.url, bundle)).rejects.toThrow('the file is not a git bundle');
  expect(git(origin.url, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

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

it('files in the folder of a run can be opened through a link inside the folder, but not through a link that leads out of it', async () => {
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
    await expect(openInside(inside, path.join(inside, name))).rejects.toThrow('the path is not a file in this folder');
  expect(execFileSync('cat', [pipe], { encoding: 'utf8' })).toBe('kept\n');
  writer.kill();
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

  it('a source host cannot redirect git, so no other server gets the credentials for the host', async () => {
    const internal = await serve((response) => response.writeHead(404).end());
    const host = await serve((response) => response.writeHead(302, { location: `http://127.0.0.1${internal}` }).end());
    origin = { ...origin, url: `http://127.0.0.1${host}`, ...login };
    await expect(open()).rejects.toThrow(/^git fetch: .*302/);
    expect(asked).toEqual(['127.0.0.1 /a/b.git/info/refs?service=git-upload-pack Basic eDpodW50ZXIy']);
  });

  it('a source host is contacted at the checked address, whatever git would resolve its name to', async () => {
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
    await expect(open()).rejects.toThrow(/must be a canonical URL|is not a public address/);
  });
});

describe('a checkout that was tampered with', () => {
  it('a checkout that was tampered with runs nothing when its commits are read', async () => {
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
    // `git status` in the checkout runs the trap. This shows that the trap works, and that the calls above avoided it.
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
  ])('a checkout is refused when it %s', async (_, tamper) => {
    const other = path.join(folder, 'other');
    mkdirSync(other);
    git(other, 'init', '-q');
    write(other, 'secret.txt', 'secret');
    const { checkout, deliver } = await open();
    tamper(path.join(checkout, '.git'), path.join(other, '.git'));
    await expect(deliver()).rejects.toThrow('no longer an independent git repository');
  });
});
