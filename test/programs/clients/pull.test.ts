// `aep pull` in real git repositories, with checkpoints that the runner's own script creates in a stand-in for the sandbox.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Checkpoint } from '#domain/execution/checkpoints/model.ts';
import { storage } from '#foundation/storage/storage.ts';
import { takeCheckpoint, unpack, workOf } from '../../../src/runner/workspace/checkpoint.ts';
import { openAep } from '../../support/aep.ts';
import { type Account, createMember, createOwner, createProject } from '../../support/callers.ts';
import { leaveArtifact, writeSteps } from '../../support/runtime-records.ts';
import { openWorld, present, type World } from '../../support/world.ts';

const claudeId = '0b4a7c1e-0000-4000-8000-000000000001';
const codexId = '0b4a7c1e-0000-4000-8000-000000000002';
const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
const env = {
  PATH: process.env.PATH,
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...identity,
};

let world: World;
let ada: Account;
let projectId: Awaited<ReturnType<typeof createProject>>;
let folder: string;
let run: Awaited<ReturnType<typeof openAep>>;
let count = 0;
/** The person's checkout and home folder, the id of the run, and the folder of the mission's sandbox. */
let [checkout, home, runId, sandbox] = ['', '', '', ''];

const git = (where: string, ...args: string[]) =>
  execFileSync('git', ['-C', where, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
const write = (...[where, name, content]: [string, string, string]) => {
  mkdirSync(path.dirname(path.join(where, name)), { recursive: true });
  writeFileSync(path.join(where, name), content);
};
const read = (where: string, name: string) => readFileSync(path.join(where, name), 'utf8');
const pull = (more: string[] = [], token = ada.token) =>
  run(['pull', runId, '-C', checkout, ...more], {
    ...env,
    AEP_URL: world.url,
    AEP_TOKEN: token,
    CLAUDE_CONFIG_DIR: path.join(home, 'claude'),
    CODEX_HOME: path.join(home, 'codex'),
  });
const claudeFile = (id = claudeId) => `claude/projects/${checkout.replace(/[^a-zA-Z0-9]/g, '-')}/${id}.jsonl`;
const state = () => [
  git(checkout, 'symbolic-ref', 'HEAD'),
  git(checkout, 'rev-parse', 'HEAD'),
  git(checkout, 'status', '-s'),
];

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  await world.lift(ada.organization);
  projectId = await createProject(world, ada, 'Shop');
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'aep-pull-test-')));
  run = await openAep();
  const origin = path.join(folder, 'origin');
  git(folder, 'init', '-q', '-b', 'main', 'origin');
  write(origin, 'a.txt', 'old\n');
  write(origin, 'gone.txt', 'gone\n');
  write(origin, '.gitignore', '.env\n');
  git(origin, 'add', '.');
  git(origin, 'commit', '-qm', 'first');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});
beforeEach(async () => {
  const own = path.join(folder, `story ${++count}`);
  [checkout, home, sandbox] = ['checkout', 'home', 'sandbox'].map((name) => path.join(own, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(path.join(sandbox, 'home/tmp'), { recursive: true });
  for (const clone of [checkout, path.join(sandbox, 'work')]) git(folder, 'clone', '-q', 'origin', clone);
  const body = { projectId, prompt: 'Fix it.', agentId: 'agn_builtin_shell' };
  const mutation = `mutation ($prompt: String!, $projectId: String!, $agentId: String) {
    startMission(prompt: $prompt, projectId: $projectId, agentId: $agentId) { id } }`;
  const started = await world.graphql(mutation, { token: ada.token, variables: body });
  runId = started.body.data.startMission.id;
  git(path.join(sandbox, 'work'), 'switch', '-qc', `mission/${runId}`);
});

/** Stores the state of the sandbox as the checkpoint of the only step. */
async function keep(steps: object = { sessionId: claudeId }, content?: string): Promise<void> {
  const [work, ownHome] = [path.join(sandbox, 'work'), path.join(sandbox, 'home')];
  const script = async (text: string, args: string[]) =>
    execFileSync('sh', ['-c', text, 'sh', ...args], { cwd: work, env: { ...env, HOME: ownHome }, encoding: 'utf8' });
  const base = git(path.join(folder, 'origin'), 'rev-parse', 'main');
  const { file, commitSha } = await takeCheckpoint(script, { root: sandbox } as never, base, sandbox);
  const place = { orgId: ada.organization.id, projectId };
  const { id: artifactId } = await leaveArtifact(place, content ?? readFileSync(file), { kind: 'file' });
  await world.knex('checkpoints').where({ runId }).delete();
  await world.knex('run_steps').where({ runId }).delete();
  await writeSteps(place, runId, [steps]);
  const { id: stepId } = await world.knex('run_steps').where({ runId }).first();
  const checkpoint = { stepId, runId, ...place, artifactId, commitSha, createdAt: present() };
  await Checkpoint.query().insert(checkpoint as Partial<Checkpoint>);
}

/** Gives the sandbox a commit, uncommitted changes, and sessions. */
function work(): void {
  const files = path.join(sandbox, 'work');
  write(files, 'a.txt', 'committed\n');
  git(files, 'commit', '-qam', 'work');
  write(files, 'a.txt', 'changed\n');
  write(files, 'new/b.txt', 'new\n');
  rmSync(path.join(files, 'gone.txt'));
  write(sandbox, `home/.claude/projects/-place-work/${claudeId}.jsonl`, '{"n":1}\n');
  write(sandbox, `home/.codex/sessions/2026/11/26/rollout-2026-11-26T05-00-00-${codexId}.jsonl`, '{}\n');
}

it('`aep pull` checks out the branch with the uncommitted files of the agent, and writes the agent’s sessions, even if files and sessions have changed since the last pull', async () => {
  work();
  await keep();
  const answer = await pull();
  expect(answer.stderr).toBe('');
  const head = git(path.join(sandbox, 'work'), 'rev-parse', 'HEAD');
  expect(answer.stdout).toBe(
    `mission/${runId} is at ${head.slice(0, 7)} in ${checkout}. Uncommitted files: 3.\n` +
      `Continue the session of the agent in that folder: claude --resume ${claudeId}\n` +
      'The mission is still running: its later changes are not included.\n',
  );
  expect(state()).toEqual([`refs/heads/mission/${runId}`, head, 'M a.txt\n D gone.txt\n?? new/']);
  expect([read(checkout, 'a.txt'), read(checkout, 'new/b.txt')]).toEqual(['changed\n', 'new\n']);
  expect(read(home, claudeFile())).toBe('{"n":1}\n');
  const rollout = `codex/sessions/2026/11/26/rollout-2026-11-26T05-00-00-${codexId}.jsonl`;
  expect(read(home, rollout)).toBe('{}\n');
  expect(git(checkout, 'for-each-ref', 'refs/aep')).toBe('');

  expect((await pull()).stderr).toBe(
    `error: ${checkout} has uncommitted changes: commit them, or run "git stash --include-untracked".\n`,
  );
  git(checkout, 'stash', '-q', '--include-untracked');
  write(home, claudeFile(), '{"n":1}\n{"mine":1}\n');
  write(home, rollout, 'other\n');
  git(path.join(sandbox, 'work'), 'commit', '-qam', 'more');
  await keep();
  const again = JSON.parse((await pull(['--json'])).stdout);
  const newer = git(path.join(sandbox, 'work'), 'rev-parse', 'HEAD');
  expect(again).toMatchObject({ branch: `mission/${runId}`, headSha: newer, uncommitted: 1 });
  expect(again.sessions.map(({ state }: { state: string }) => state)).toEqual(['newer', 'differs']);
  expect([read(home, claudeFile()), read(home, rollout)]).toEqual(['{"n":1}\n{"mine":1}\n', 'other\n']);
});

it('`aep pull` overwrites no commits and no ignored files of the person, and the error says what blocks the pull', async () => {
  work();
  write(sandbox, 'work/.env', 'theirs\n');
  git(path.join(sandbox, 'work'), 'add', '-f', '.env');
  await keep({ harness: 'codex', sessionId: codexId });
  write(checkout, '.env', 'mine\n');
  const before = state();
  expect((await pull()).stderr).toMatch(/^error: git switch: .*\.env/s);
  expect([state(), read(checkout, '.env')]).toEqual([before, 'mine\n']);
  rmSync(path.join(checkout, '.env'));

  const name = `mission/${runId}`;
  git(checkout, 'switch', '-qc', name);
  git(checkout, 'commit', '-qm', 'mine', '--allow-empty');
  const mine = state();
  expect((await pull()).stderr).toBe(
    `error: Your branch ${name} has commits that the mission lacks: rename it with "git branch -m", and pull again.\n`,
  );
  expect(state()).toEqual(mine);
  git(checkout, 'branch', '-m', name, `${name}-mine`);
  expect((await pull()).stdout).toContain(`codex resume ${codexId}\n`);
  expect(git(checkout, 'log', '-1', '--format=%s', `${name}-mine`)).toBe('mine');
});

it('`aep pull` needs a checkpoint, the scope for artifacts, and a checkout of the repository', async () => {
  expect((await pull()).stderr).toMatch(/^error: run_\w+ has no checkpoint/);
  await keep();
  const token = await world.token(ada.person, ada.organization, { scopes: ['missions:read'] });
  expect((await pull([], token)).stderr).toMatch(/^error: Missing scope: .*artifacts:read/);
  const stranger = await createOwner(world, 'Mallory', 'Globex');
  expect((await pull([], stranger.token)).stderr).toContain('No such run.');
  const other = path.join(folder, 'other');
  git(folder, 'init', '-q', other);
  git(other, 'commit', '-qm', 'other', '--allow-empty');
  expect((await pull(['-C', other])).stderr).toContain(`${other} lacks commits that the mission began from`);
  expect((await pull(['-C', home.replace('home', 'sandbox/home')])).stderr).toContain('not a git repository');
  expect(git(other, 'for-each-ref', 'refs/aep')).toBe('');
});

describe('aep push', () => {
  const push = (more: string[] = [], token = ada.token) =>
    run(['push', runId, '-C', checkout, ...more], { ...env, AEP_URL: world.url, AEP_TOKEN: token });
  const end = () => world.knex('runs').where({ id: runId }).update({ status: 'completed', finishedAt: present() });
  const stored = () => world.knex('checkpoints').where({ runId }).first('commitSha', 'artifactId');
  const local = (name: string, content: string) => write(checkout, name, content);

  it('`aep push` sends commits and uncommitted files; the mission continues from them, and its sessions and earlier work are kept', async () => {
    work();
    await keep();
    await pull();
    const before = await stored();
    expect((await push()).stderr).toBe(
      'error: The mission is still running and would overwrite your changes: wait until it ends, or cancel it.\n',
    );
    await end();
    expect((await push()).stdout).toMatch(/^The mission has these files already\./);
    local('a.txt', 'mine\n');
    git(checkout, 'commit', '-qam', 'mine');
    rmSync(path.join(checkout, 'new/b.txt'));
    local('c.txt', 'new\n');
    local('.env', 'ignored\n');
    const mine = state();
    const answer = await push();
    expect([answer.stderr, state()]).toEqual(['', mine]);
    const head = git(checkout, 'rev-parse', 'HEAD');
    expect(answer.stdout).toBe(
      `The mission has mission/${runId} at ${head.slice(0, 7)} and your uncommitted files.\n` +
        `Continue the mission from there: aep continue ${runId} "…"\n`,
    );
    const { commitSha, artifactId } = await stored();
    expect(commitSha).not.toBe(before.commitSha);
    expect(await world.knex('artifacts').where({ id: before.artifactId })).toHaveLength(1);
    const [message] = await world.knex('run_messages').where({ runId });
    expect(message).toMatchObject({ kind: 'push', author: 'Ada', text: commitSha.slice(0, 12) });
    // The runner unpacks the pushed bundle in a repository that has only the commits of the source host.
    const mirror = path.join(folder, `mirror-${runId}`);
    git(folder, 'clone', '-q', '--bare', 'origin', mirror);
    const file = path.join(folder, `${artifactId}.bundle`);
    const { contentKey } = await world.knex('artifacts').where({ id: artifactId }).first('contentKey');
    const chunks = [];
    for await (const chunk of (await storage().read(contentKey))!) chunks.push(chunk);
    writeFileSync(file, Buffer.concat(chunks));
    await unpack(mirror, { file, commitSha });
    const ref = workOf({ file, commitSha });
    expect(git(mirror, 'rev-parse', `${ref}^`)).toBe(head);
    expect(git(mirror, 'ls-tree', '-r', '--name-only', ref)).toBe('.gitignore\na.txt\nc.txt');
    expect(git(mirror, 'ls-tree', '-r', '--name-only', ref.replace('checkpoints', 'sessions'))).toContain(claudeId);
    expect(git(checkout, 'for-each-ref', 'refs/aep', 'refs/checkpoint')).toBe('');

    // A second push sends another change of this checkout. `aep pull` in a new clone then receives the change.
    local('c.txt', 'newer\n');
    expect((await push()).stderr).toBe('');
    const other = path.join(folder, `other-${runId}`);
    git(folder, 'clone', '-q', 'origin', other);
    expect((await pull(['-C', other])).stderr).toBe('');
    expect(read(other, 'c.txt')).toBe('newer\n');
  });

  it('`aep push` is refused when the mission has newer work, when a concurrent push came first, and when the person is not allowed to run missions', async () => {
    work();
    await keep();
    await end();
    const name = `mission/${runId}`;
    expect((await push()).stderr).toBe(`error: ${checkout} is on main: the work of the mission is on ${name}.\n`);
    git(checkout, 'switch', '-qc', name);
    expect((await push()).stderr).toMatch(/^error: The mission has commits that your branch lacks/);
    git(checkout, 'switch', '-q', 'main');
    git(checkout, 'branch', '-D', name);
    await pull();
    git(checkout, 'config', '--unset', `branch.${name}.aepCheckpoint`);
    expect((await push()).stderr).toMatch(/^error: The mission has uncommitted files that were not pulled/);
    git(checkout, 'config', `branch.${name}.aepCheckpoint`, (await stored()).commitSha);
    local('c.txt', 'mine\n');
    const viewer = await createMember(world, ada.organization, `Viewer ${count}`, 'viewer');
    const stranger = await createOwner(world, `Mallory ${count}`, 'Globex');
    expect((await push([], viewer.token)).stderr).toMatch(/^error: Missing scope: .*missions:run/);
    expect((await push([], stranger.token)).stderr).toContain('No such run.');
    const both = await Promise.all([push(), push()]);
    const [first, second] = both.map(({ stderr }) => stderr).sort();
    expect(first).toBe('');
    // A push that begins after another one has ended finds that the mission already has the work.
    expect(second).toMatch(/^$|is not the newest checkpoint/);
  });

  it('400, 409 · a pushed checkpoint must be a bundle that is based on the newest checkpoint of a run that nobody has continued', async () => {
    await keep();
    await end();
    const { commitSha } = await stored();
    const ask = async (query: string, variables: object) => {
      const { body } = await world.graphql(query, { token: ada.token, variables: { ...variables } });
      return body.errors?.[0].extensions ?? Object.values(body.data)[0];
    };
    const reserve = () =>
      ask('mutation ($runId: String!) { createCheckpointUpload(runId: $runId) { contentKey uploadUrl } }', { runId });
    const send = (input: object) =>
      ask('mutation ($input: PushCheckpointRequest!) { pushCheckpoint(input: $input) { id } }', {
        input: { runId, commitSha: 'b'.repeat(40), replacesCommitSha: commitSha, ...input },
      });
    const { contentKey, uploadUrl } = await reserve();
    expect(await send({ contentKey })).toMatchObject({ code: 'conflict' });
    await fetch(uploadUrl, { method: 'PUT', body: 'gitdir: /etc' });
    expect(await send({ contentKey })).toMatchObject({ code: 'invalid_request' });
    expect(await send({ contentKey, replacesCommitSha: 'c'.repeat(40) })).toMatchObject({ code: 'conflict' });
    expect(await stored()).toMatchObject({ commitSha });
    const next = { branch: 'mission/next', status: 'completed' };
    await world.knex('runs').where({ id: runId }).update(next);
    const { id: _, ...copy } = await world.knex('runs').where({ id: runId }).first();
    const [later] = [`${runId}x`];
    await world.knex('runs').insert({ ...copy, id: later, createdAt: present() + 1, team: null, status: 'failed' });
    expect(await reserve()).toMatchObject({
      code: 'conflict',
      problem: { description: expect.stringContaining(later) },
    });
  });
});

describe('a checkpoint of a hostile agent', () => {
  it('a checkpoint of a hostile agent runs no hook of the checkout, and writes sessions only where the harness keeps them', async () => {
    const marker = path.join(home, 'marker');
    git(checkout, 'config', 'core.hooksPath', '.husky');
    const files = path.join(sandbox, 'work');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change'])
      write(files, `.husky/${hook}`, `#!/bin/sh\nmkdir -p '${marker}'\n`);
    execFileSync('chmod', ['-R', '+x', path.join(files, '.husky')]);
    symlinkSync('/etc/passwd', path.join(files, 'link'));
    write(sandbox, `home/.claude/projects/x/${claudeId}.jsonl`, '{}\n');
    write(sandbox, 'home/.claude/projects/x/-dangerous.jsonl', '{}\n');
    write(sandbox, 'home/.claude/projects/settings.json', '{"hooks":{}}\n');
    write(sandbox, 'home/.codex/sessions/config.toml', 'x\n');
    symlinkSync('/etc/passwd', path.join(sandbox, `home/.claude/projects/x/${codexId}.jsonl`));
    await keep();
    expect((await pull()).stderr).toBe('');
    expect(existsSync(marker)).toBe(false);
    expect(
      readdirSync(home, { recursive: true, withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : [])),
    ).toEqual([`${claudeId}.jsonl`]);
  });

  it.each([
    ['.git', 'hooks/post-checkout'],
    ['..', 'escaped'],
  ])('a checkpoint is refused when it contains a file below %s', async (top, name) => {
    const store = path.join(sandbox, 'work');
    const blob = execFileSync('git', ['-C', store, 'hash-object', '-w', '--stdin'], { env, input: 'x' })
      .toString()
      .trim();
    const tree = (line: string) => {
      const [mode, , sha, file] = line.split(/[ \t]/) as [string, string, string, string];
      const raw = Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${file}\0`), Buffer.from(sha, 'hex')]);
      const args = ['-C', store, 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin'];
      return execFileSync('git', args, { env, input: raw }).toString().trim();
    };
    const nested = name.split('/').reduceRight((inner, part, at, { length }) => {
      return tree(`${at === length - 1 ? '100755 blob' : '040000 tree'} ${inner}\t${part}`);
    }, blob);
    const root = tree(`040000 tree ${nested}\t${top}`);
    const commit = git(store, 'commit-tree', root, '-p', 'HEAD', '-m', 'Checkpoint');
    const empty = git(store, 'commit-tree', git(store, 'mktree'), '-m', 'Sessions');
    await keep();
    git(store, 'update-ref', 'refs/checkpoint/work', commit);
    git(store, 'update-ref', 'refs/checkpoint/sessions', empty);
    const file = path.join(sandbox, 'hostile.bundle');
    git(store, 'bundle', 'create', '-q', file, 'refs/checkpoint/work', 'refs/checkpoint/sessions', '^origin/main');
    const { id } = await leaveArtifact({ orgId: ada.organization.id, projectId }, readFileSync(file));
    await world.knex('checkpoints').where({ runId }).update({ artifactId: id, commitSha: commit });
    const [before, config] = [state(), read(checkout, '.git/config')];
    expect((await pull()).stderr).toMatch(/^error: git (fetch|switch): /);
    expect([state(), read(checkout, '.git/config')]).toEqual([before, config]);
    expect(existsSync(path.join(checkout, '.git/hooks/post-checkout'))).toBe(false);
    expect(existsSync(path.join(checkout, '../escaped'))).toBe(false);
    expect(git(checkout, 'for-each-ref', 'refs/aep')).toBe('');
  });

  it('a checkpoint is refused when it names a repository in place of a bundle', async () => {
    await keep({}, `gitdir: ${path.join(folder, 'origin/.git')}\n`);
    expect((await pull()).stderr).toBe('error: The checkpoint is not a git bundle.\n');
  });
});
