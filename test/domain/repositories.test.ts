// Reads a file of a project's repository at a ref. A repository on GitHub is read through a stand-in that checks each request against
// GitHub's published API. A repository in a folder of this machine is read with git, and nothing outside that folder is ever opened.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Vendor } from '#domain/projects/integrations/model.ts';
import type { Project } from '#domain/projects/projects/model.ts';
import { vendorPauseMs } from '#domain/projects/vendors/connection.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { hostOf, readRepositoryFile } from '#domain/projects/vendors/source-host-of.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { Problem } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { createOwner } from '../support/callers.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { openWorld, type World } from '../support/world.ts';

const token = 'ghp_OfAcmeAndOfNobodyElse';
let world: World;
let github: GitHub;
let folder: string;
let count = 0;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  github = await openGitHub(token);
  [world, folder] = await Promise.all([
    openWorld({ vendors: { github: github.address } }),
    mkdtemp(path.join(tmpdir(), 'aep-repositories-')),
  ]);
  await layRepositories();
});
afterAll(async () => {
  await Promise.all([world.close(), github.close(), rm(folder, { recursive: true })]);
  openOutbound({ allowLoopback: false });
});
beforeEach(() => github.clear('acme/shop'));
afterEach(() => {
  vi.restoreAllMocks();
  expect(github.violations).toEqual([]);
});

/** A project of a new organization, connected to the source host. */
async function projectOn(
  vendor: Vendor,
  more: { externalOrgId?: string; credentials?: string; baseUrl?: string } = {},
) {
  const { person: owner, organization } = await createOwner(world, `Owner-${++count}`, `Acme ${count}`);
  await connectIntegration({ orgId: organization.id, vendor, vendorKind: 'scm', displayName: 'Code', ...more });
  const session = await world.session(owner, organization.id);
  const body = { name: 'Shop', repoFullName: 'acme/shop' };
  return (await world.rest('POST', '/projects', { session, body })).body as Project;
}

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error) => {
      expect(error).toBeInstanceOf(Problem);
      expect(JSON.stringify([error.message, error.stack, error.body])).not.toContain(token);
      const { status, body } = error as Problem;
      return [status, body.retryable, body.description];
    },
  );
const noText = [400, false, 'path: the file is not a text file.'];
const tooLarge = [400, false, `path: the file has more than ${bytes.repositoryFile} bytes.`];

describe('paths and refs in a repository', () => {
  it.each(['', '/etc/passwd', 'a/../b', '..', './a', 'a//b', 'a/', '-a', 'a\0b', 'a\nHEAD:b', 'a\x7f'])(
    '400 · a file is refused when its path is invalid: %j',
    async (name) => {
      const project = await projectOn('builtin', { externalOrgId: folder });
      expect(await problemOf(readRepositoryFile(project, name))).toEqual([
        400,
        false,
        'path: must be a path relative to the root of the repository, without . and .. in it.',
      ]);
    },
  );

  it.each([
    '',
    '-p',
    '--all',
    'main..other',
    '@',
    'HEAD@{1}',
    'main~1',
    'main^',
    ':/text',
    'a:b',
    'a b',
    'a\n',
    '/a',
    'a/',
  ])('400 · a file is refused when its ref is invalid: %j', async (ref) => {
    const project = await projectOn('builtin', { externalOrgId: folder });
    expect(await problemOf(readRepositoryFile(project, 'README.md', ref))).toEqual([
      400,
      false,
      'ref: must be the name of a branch, a tag or a commit.',
    ]);
  });
});

describe('repositories on GitHub', () => {
  const files = () => github.repositories.get('acme/shop')!.files;

  it('a file on GitHub is read unchanged, on the default branch or at a ref', async () => {
    const project = await projectOn('github', { credentials: token });
    files().set('main:docs/a b#?.md', Buffer.from('\uFEFFÜ\n'));
    files().set('v1.0/x:package.json', Buffer.from('{"a":1}'));
    expect(await readRepositoryFile(project, 'docs/a b#?.md')).toEqual({
      path: 'docs/a b#?.md',
      ref: 'HEAD',
      content: '\uFEFFÜ\n',
    });
    expect(await readRepositoryFile(project, 'package.json', 'v1.0/x')).toEqual({
      path: 'package.json',
      ref: 'v1.0/x',
      content: '{"a":1}',
    });
  });

  it('files and git repositories on an organization’s own GitHub server can be read, but only at public IP addresses', async () => {
    const own = await openGitHub(token);
    own.clear('acme/shop');
    own.repositories.get('acme/shop')!.files.set('main:a.txt', Buffer.from('Theirs'));
    const { port } = new URL(own.address);
    const addresses: Record<string, string> = { 'api.own.example': '127.0.0.1', 'own.example': '127.0.0.2' };
    const resolve = async (host: string) => [{ address: addresses[host]!, family: 4 }];
    openOutbound({ allowLoopback: true, resolve });
    try {
      const project = await projectOn('github', { credentials: token, baseUrl: `http://api.own.example:${port}` });
      expect(await readRepositoryFile(project, 'a.txt')).toMatchObject({ content: 'Theirs' });
      const { connector, host } = await hostOf(project);
      expect(await host.access(project, connector)).toMatchObject({
        url: `http://own.example:${port}/acme/shop.git`,
        password: token,
      });
      addresses['own.example'] = '10.0.0.7';
      expect(await problemOf(host.access(project, connector))).toEqual([502, true, 'GitHub is unreachable.']);
      expect([github.asked, own.violations]).toEqual([[], []]);
    } finally {
      openOutbound({ allowLoopback: true });
      await own.close();
    }
  });

  it('no file is found on GitHub for a missing path, a missing ref or a folder', async () => {
    const project = await projectOn('github', { credentials: token });
    files().set('main:docs', null);
    expect(await readRepositoryFile(project, 'docs')).toBe(null);
    expect(await readRepositoryFile(project, 'README.md')).toBe(null);
    expect(await readRepositoryFile(project, 'docs', 'gone')).toBe(null);
  });

  it('400 · a file on GitHub that is not text or is too large cannot be read', async () => {
    const project = await projectOn('github', { credentials: token });
    files().set('main:full', Buffer.alloc(bytes.repositoryFile, 'a'));
    files().set('main:large', Buffer.alloc(bytes.repositoryFile + 1, 'a'));
    files().set('main:zero', Buffer.from('a\0b'));
    files().set('main:latin', Buffer.from([0xfc]));
    expect((await readRepositoryFile(project, 'full'))!.content).toHaveLength(bytes.repositoryFile);
    expect(await problemOf(readRepositoryFile(project, 'large'))).toEqual(tooLarge);
    expect(await problemOf(readRepositoryFile(project, 'zero'))).toEqual(noText);
    expect(await problemOf(readRepositoryFile(project, 'latin'))).toEqual(noText);
  });

  it('failures from GitHub say whether they are temporary', async () => {
    const project = await projectOn('github', { credentials: token });
    github.disturb('repos/get-content', { status: 502 });
    expect(await problemOf(readRepositoryFile(project, 'a'))).toEqual([502, true, 'GitHub failed (status 502).']);
    github.disturb('repos/get-content', { status: 429 });
    expect(await problemOf(readRepositoryFile(project, 'a'))).toEqual([
      503,
      true,
      'GitHub limits the rate of requests.',
    ]);
    world.clock.turn(vendorPauseMs.default);
    github.disturb('repos/get-content', 'lose the answer');
    expect(await problemOf(readRepositoryFile(project, 'a'))).toEqual([502, true, 'GitHub is unreachable.']);
    github.settings.token = 'another';
    expect(await problemOf(readRepositoryFile(project, 'a'))).toEqual([
      409,
      false,
      'GitHub rejected the credentials of the scm connector (Bad credentials): replace them.',
    ]);
  });

  it('409 · without credentials no request is sent to GitHub', async () => {
    expect(await problemOf(readRepositoryFile(await projectOn('github'), 'a'))).toEqual([
      409,
      false,
      'The connector Code has no credentials: set new ones.',
    ]);
    expect(github.asked).toEqual([]);
  });
});

function git(directory: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.com', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', ['-C', directory, ...who, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

let firstCommit: string;

/**
 * Creates four repositories: acme/shop (ordinary), acme/bare.git (bare), acme/inside (a link within the folder) and
 * acme/outside (a link out of it).
 */
async function layRepositories(): Promise<void> {
  const shop = path.join(folder, 'root/acme/shop');
  await mkdir(path.join(shop, 'docs'), { recursive: true });
  git(shop, 'init', '-q');
  await writeFile(path.join(shop, 'README.md'), 'first\n');
  git(shop, 'add', '.');
  git(shop, 'commit', '-qm', 'first');
  firstCommit = git(shop, 'rev-parse', 'HEAD');
  git(shop, 'tag', 'v1');
  await Promise.all([
    writeFile(path.join(shop, 'README.md'), 'second\n'),
    writeFile(path.join(shop, 'docs/a b:c.md'), 'Ü'),
    writeFile(path.join(shop, 'empty'), ''),
    writeFile(path.join(shop, 'full'), Buffer.alloc(bytes.repositoryFile, 'a')),
    writeFile(path.join(shop, 'large'), Buffer.alloc(bytes.repositoryFile + 1, 'a')),
    writeFile(path.join(shop, 'larger'), Buffer.alloc(2 * bytes.repositoryFile, 'a')),
    writeFile(path.join(shop, 'zero'), 'a\0b'),
    symlink('docs/a b:c.md', path.join(shop, 'link')),
    symlink('/etc/passwd', path.join(shop, 'escape')),
    symlink('../../../secret/README.md', path.join(shop, 'climb')),
  ]);
  git(shop, 'add', '.');
  git(shop, 'commit', '-qm', 'second');
  await writeFile(path.join(shop, 'README.md'), 'not committed\n');
  const secret = path.join(folder, 'secret');
  git(folder, 'clone', '-q', '--bare', shop, path.join(folder, 'root/acme/bare.git'));
  git(folder, 'clone', '-q', shop, secret);
  await Promise.all([
    symlink(shop, path.join(folder, 'root/acme/inside')),
    symlink(secret, path.join(folder, 'root/acme/outside')),
    symlink(path.join(secret, '.git'), path.join(folder, 'root/acme/outside-bare.git')),
    mkdir(path.join(folder, 'root/acme/nothing')),
  ]);
  // The folder that contains the test repositories becomes a git repository itself. When git is asked to read a folder that is not a
  // repository, git searches the enclosing folders. It would find this outer repository, which the service must not read.
  git(folder, 'init', '-q');
}

describe('repositories on the machine of the service', () => {
  let project: Project;
  beforeAll(async () => {
    project = await projectOn('builtin', { externalOrgId: path.join(folder, 'root') });
  });
  const of = (scmRepo: string, scmOwner = 'acme') => Object.assign({}, project, { scmOwner, scmRepo });
  const contentOf = async (file: string, ref?: string) => (await readRepositoryFile(project, file, ref))?.content;

  it('a local file is read in its committed version, on the default branch or at a branch, tag or commit', async () => {
    expect(await readRepositoryFile(project, 'README.md')).toEqual({
      path: 'README.md',
      ref: 'HEAD',
      content: 'second\n',
    });
    expect(await readRepositoryFile(project, 'README.md', 'v1')).toEqual({
      path: 'README.md',
      ref: 'v1',
      content: 'first\n',
    });
    expect(await contentOf('README.md', firstCommit)).toBe('first\n');
    expect(await contentOf('README.md', 'refs/heads/main')).toBe('second\n');
    expect(await contentOf('docs/a b:c.md', 'main')).toBe('Ü');
    expect(await contentOf('empty')).toBe('');
  });

  it('a local file is read from a bare repository, and from one behind a symbolic link within the folder', async () => {
    for (const repository of ['bare', 'bare.git', 'inside']) {
      expect((await readRepositoryFile(of(repository), 'README.md'))!.content).toBe('second\n');
    }
  });

  it('reading a file of a local repository returns null for a missing path, a missing ref and a folder', async () => {
    for (const [file, ref] of [['gone'], ['README.md/a'], ['docs'], ['README.md', 'gone'], ['empty', 'v1']] as const) {
      expect(await readRepositoryFile(project, file, ref)).toBe(null);
    }
  });

  it('a symbolic link in a commit is followed only within that commit', async () => {
    expect(await contentOf('link')).toBe('Ü');
    expect(await readRepositoryFile(project, 'escape')).toBe(null);
    expect(await readRepositoryFile(project, 'climb')).toBe(null);
  });

  it('400 · a local file that is not text or is too large cannot be read', async () => {
    expect(await contentOf('full')).toHaveLength(bytes.repositoryFile);
    expect(await problemOf(contentOf('large'))).toEqual(tooLarge);
    expect(await problemOf(contentOf('larger'))).toEqual(tooLarge);
    expect(await problemOf(contentOf('zero'))).toEqual(noText);
  });

  it.each([
    ['gone', 'acme'],
    ['nothing', 'acme'],
    ['outside', 'acme'],
    ['outside-bare', 'acme'],
    ['secret', '..'],
    ['..', 'acme'],
    ['.', '.'],
    ['a\\..\\..\\secret', 'acme'],
  ])('409 · no repository is found in the folder for the name %s and the owner %s', async (repository, owner) => {
    expect(await problemOf(readRepositoryFile(of(repository, owner), 'README.md'))).toEqual([
      409,
      false,
      `The connector Code has no repository ${owner}/${repository}.`,
    ]);
  });

  it('environment variables cannot lead git to another repository', async () => {
    vi.stubEnv('GIT_DIR', path.join(folder, 'secret/.git'));
    expect(await contentOf('README.md').finally(() => vi.unstubAllEnvs())).toBe('second\n');
  });

  it.each([[undefined], ['repositories']])('409 · a connector whose folder is %s is refused', async (externalOrgId) => {
    const lost = await projectOn('builtin', { externalOrgId });
    expect(await problemOf(readRepositoryFile(lost, 'README.md'))).toEqual([
      409,
      false,
      'The connector Code has no folder of repositories: connect it again, with the absolute path of the folder.',
    ]);
  });

  it('409 · a machine without git reads no repository', async () => {
    vi.stubEnv('PATH', path.join(folder, 'secret'));
    expect(await problemOf(contentOf('README.md').finally(() => vi.unstubAllEnvs()))).toEqual([
      409,
      false,
      'git is not installed on the machine of the service.',
    ]);
  });

  it('502 · a local repository that git cannot read is reported', async () => {
    await mkdir(path.join(folder, 'root/acme/broken.git'));
    await writeFile(path.join(folder, 'root/acme/broken.git/HEAD'), 'nonsense');
    expect(await problemOf(readRepositoryFile(of('broken'), 'README.md'))).toEqual([
      502,
      true,
      'git cannot read the repository.',
    ]);
  });
});

it('409 · a project without a connector has no repository to read', async () => {
  const project = await projectOn('github', { credentials: token });
  expect(await problemOf(readRepositoryFile(Object.assign({}, project, { scmConnectorId: null }), 'a'))).toEqual([
    409,
    false,
    'The project has no scm connector: connect one to the organization.',
  ]);
});
