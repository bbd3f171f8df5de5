// Checkpoints against a whole service and runners with folders of their own, as on two machines: work goes on with all files and in
// its session after a runner was killed, and when a person continues a run that has ended. The harness is a stand-in.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { setClock } from '#foundation/clock.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { endLease } from '../support/mission-world.ts';
import { compiled, projectFolder } from '../support/processes.ts';
import { startModels } from '../support/stand-in-models.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let folder: string;
let projects: { site: string; bare: string };
let service: string;
let models: Awaited<ReturnType<typeof startModels>>;
let turned = 0;
const turn = (ms: number): void => {
  turned += ms;
};
let machines = 0;
const runners: ChildProcess[] = [];

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });

beforeAll(async () => {
  [world, models] = await Promise.all([openWorld(), startModels()]);
  folder = mkdtempSync(path.join(tmpdir(), 'aep-checkpoints-'));
  openStorage(folderStorage(path.join(folder, 'contents')));
  // The runners have the clock of the machine.
  setClock(() => Date.now() + turned);
  alice = await createOwner(world, 'Alice', 'Acme');
  const { id: orgId } = alice.organization;
  git('init', '-q', '-b', 'main', 'acme/site');
  writeFileSync(path.join(folder, 'acme/site/a.txt'), 'old\n');
  writeFileSync(path.join(folder, 'acme/site/.gitignore'), 'built\n');
  writeFileSync(path.join(folder, 'acme/site/AGENTS.md'), 'Use tabs.\n');
  git('-C', 'acme/site', 'add', '.');
  git('-C', 'acme/site', 'commit', '-qm', 'first');
  const bare = await createProject(world, alice, 'Bare');
  await connectIntegration({ orgId, vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: folder });
  projects = { bare, site: await createProject(world, alice, 'Site', { repoFullName: 'acme/site' }) };
  service = (await createServiceToken({ name: 'runner', orgId })).token;
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: 'Bob', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  await world.rest('POST', '/agents', { token: alice.token, body });
});
afterEach(killRunners);
afterAll(async () => {
  await Promise.all([world.close(), models.close()]);
  rmSync(folder, { recursive: true });
});

async function killRunners(): Promise<void> {
  for (const process of runners.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
}

/** A runner with folders that no other one has. */
function startRunner(more: Record<string, string> = {}): ChildProcess {
  const own = path.join(folder, `machine-${++machines}`);
  for (const name of ['', 'tmp', 'mirrors']) mkdirSync(path.join(own, name));
  const env = {
    PATH: process.env.PATH,
    PLATFORM_URL: world.url,
    TMPDIR: path.join(own, 'tmp'),
    MIRRORS_DIR: path.join(own, 'mirrors'),
    CONFINEMENT: 'none',
    ISOLATION: 'none',
    HARNESS_INSTALL: 'off',
    CLAUDE_CODE_PROGRAM: fileURLToPath(new URL('../support/stand-in-claude.mjs', import.meta.url)),
    ANTHROPIC_API_KEY: 'real-key',
    ANTHROPIC_BASE_URL: models.url,
    ...{ POLL_MS: '50', HEARTBEAT_MS: '100', SAMPLE_MS: '50', FLUSH_MS: '20', GRACE_MS: '200', CHECKPOINT_MS: '100' },
    ...more,
  };
  const child = spawn(process.execPath, [compiled('runner/runner')], { cwd: projectFolder, env });
  child.stdin.on('error', () => {}).write(`${service}\n`);
  runners.push(child);
  return child;
}

async function loseRunner(runId: string): Promise<void> {
  await killRunners();
  await endLease(() => look(runId), turn);
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into
type Json = any;
const graphql = async (query: string, variables: Record<string, unknown>): Promise<Json> => {
  const { body } = await world.graphql(query, { token: alice.token, variables });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return Object.values(body.data)[0];
};
const start = async (prompt: string, projectId = projects.site): Promise<string> =>
  (
    await graphql(
      'mutation ($projectId: String!, $prompt: String!) { startMission(projectId: $projectId, prompt: $prompt) { id } }',
      { projectId, prompt },
    )
  ).id;
const look = (runId: string): Promise<Json> =>
  graphql(
    `query ($runId: String!) { run(runId: $runId) { status lastError missionCostUsd sandboxes { sandboxId }
      steps { id status sessionId inputTokens costUsd checkpoint { commitSha createdAt } } } }`,
    { runId },
  );
const until = (runId: string, isRight: (run: Json) => unknown): Promise<Json> =>
  vi.waitUntil(
    async () => {
      const run = await look(runId);
      return isRight(run) && run;
    },
    { timeout: 60_000, interval: 50 },
  );
const ended = (runId: string) => until(runId, ({ status }) => ['completed', 'failed', 'canceled'].includes(status));
const say = (runId: string, text: string) =>
  graphql('mutation ($runId: String!, $text: String!) { sendMessage(runId: $runId, text: $text) { id } }', {
    runId,
    text,
  });
/** What the agents of the run have shown, the latest sandbox first. */
const shown = async (runId: string): Promise<string[]> => {
  const { sandboxes } = await look(runId);
  const details = await Promise.all(
    sandboxes.map(({ sandboxId }: Json) => world.rest('GET', `/sandboxes/${sandboxId}`, { token: alice.token })),
  );
  return details.flatMap(({ body }) => body.liveFragments.map((one: Json) => `${one.kind}: ${one.body}`));
};
const isShown = (runId: string, text: string) =>
  vi.waitUntil(async () => (await shown(runId)).find((one) => one.includes(text)), { timeout: 60_000, interval: 50 });
/** Waits until the session in the checkpoint knows the message. A checkpoint is reported only when something has changed. */
const isKept = (runId: string, message: string) =>
  vi.waitUntil(
    async () => {
      const kept = world.knex('checkpoints').where({ runId }).select('artifactId');
      const [artifact] = await world.knex('artifacts').whereIn('id', kept);
      if (!artifact) return false;
      const bundle = path.join(folder, 'contents', artifact.contentKey.slice(-2), artifact.contentKey);
      try {
        git('-C', 'acme/site', 'fetch', '-q', bundle, '+refs/checkpoint/sessions:refs/kept');
        return git('-C', 'acme/site', 'grep', message, 'refs/kept');
      } catch {
        return false;
      }
    },
    { timeout: 60_000, interval: 50 },
  );
const go = async (runId: string, prompt: string): Promise<string> =>
  (
    await graphql(
      'mutation ($runId: String!, $prompt: String!) { continueRun(runId: $runId, prompt: $prompt) { id } }',
      { runId, prompt },
    )
  ).id;

describe('a runner that is killed', () => {
  it('is followed by one on another machine: with all files, in the session, and each call is paid for once', async () => {
    startRunner();
    const runId = await start('[commit] [draft] [wait]');
    await isShown(runId, 'I wait');
    await say(runId, 'First thing [wait]');
    await isShown(runId, 'I wait: Message from Alice:\n\nFirst thing');
    await isKept(runId, 'First thing');
    await loseRunner(runId);
    startRunner();
    await say(runId, '[look]');
    const run = await ended(runId);
    expect(run).toMatchObject({ status: 'completed', lastError: null, steps: [{ status: 'completed' }] });
    expect(await isShown(runId, 'I see')).toMatch(
      /I see \.gitignore=built AGENTS\.md=Use tabs\. a\.txt=new\+changed draft\.txt=draft after 4 messages$/,
    );
    // Two before it was killed, one that it continues with, and one that was said to it.
    expect(run.steps[0].inputTokens).toBe(4 * 1_200);
    expect(run.missionCostUsd).toBeCloseTo(run.steps[0].costUsd, 6);
    const branch = `mission/${runId}`;
    expect(git('-C', 'acme/site', 'log', '--format=%an: %s', branch, '--not', 'main')).toBe('Bob: Say new\n');
    // What was not committed is not pushed.
    expect(git('-C', 'acme/site', 'show', `${branch}:a.txt`)).toBe('new\n');
  });

  it('without a checkpoint is followed by a new session that is told what has happened', async () => {
    startRunner({ CHECKPOINT_MS: '600000' });
    const runId = await start('[draft] [wait]', projects.bare);
    await isShown(runId, 'I wait');
    await loseRunner(runId);
    startRunner();
    const heard = await isShown(runId, 'What has happened so far');
    expect(heard).toContain('was begun, and interrupted when its machine was lost');
    await say(runId, '[look]');
    await ended(runId);
    expect(await isShown(runId, 'I see')).toContain('draft.txt=draft after 2 messages');
  });
});

describe('a run that has ended', () => {
  it('is continued on another machine, on a branch of its own', async () => {
    const kept = path.join(folder, 'kept');
    const runner = startRunner({ WORKSPACES_DIR: kept });
    const first = await start('[commit] [draft]');
    expect(await ended(first)).toMatchObject({ status: 'completed', steps: [{ checkpoint: {} }] });
    runner.kill('SIGTERM');
    await once(runner, 'exit');
    // No bundle is left behind.
    const mirrors = readdirSync(path.join(folder, `machine-${machines}`, 'mirrors'));
    expect(mirrors.filter((name) => !name.endsWith('.git'))).toEqual([]);
    startRunner();
    const next = await go(first, '[look]');
    expect(await ended(next)).toMatchObject({ status: 'completed', lastError: null });
    expect(await isShown(next, 'I see')).toContain('a.txt=new+changed draft.txt=draft after 2 messages');
    const heads = [first, next].map((runId) => git('-C', 'acme/site', 'rev-parse', `mission/${runId}`));
    expect(heads[0]).toBe(heads[1]);
    // The first runner was asked to keep what its agent had.
    expect(readdirSync(kept)).toEqual([first]);
    expect(readdirSync(path.join(kept, first))).toContain('draft.txt');
  });

  it('is continued after it was canceled, also in a project without a repository', async () => {
    startRunner({ CHECKPOINT_MS: '600000' });
    const first = await start('[draft] [wait]', projects.bare);
    await isShown(first, 'I wait');
    await graphql('mutation ($runId: String!) { cancelRun(runId: $runId) { id } }', { runId: first });
    await until(first, ({ steps }) => steps[0].checkpoint);
    await killRunners();
    startRunner();
    const next = await go(first, '[look]');
    expect(await ended(next)).toMatchObject({ status: 'completed', lastError: null });
    expect(await isShown(next, 'I see')).toContain('draft.txt=draft after 2 messages');
  });
});

it('an agent is told what its repository says, and its prompt shows where each part comes from', async () => {
  startRunner();
  const runId = await start('[told]');
  await ended(runId);
  const file = 'Instructions of the repository (AGENTS.md):\n\nUse tabs.';
  expect(await isShown(runId, 'I was told')).toBe(`response: I was told: ${file}`);
  const { sandboxes } = await look(runId);
  const { sandboxId } = sandboxes[0];
  const { body } = await world.rest('GET', `/sandboxes/${sandboxId}`, { token: alice.token });
  const log = await graphql(
    `query ($sandboxId: String!, $sessionId: String!) {
      sandboxLog(sandboxId: $sandboxId, role: builder, sessionId: $sessionId, part: prompt) {
        promptSpans { id scope content } } }`,
    { sandboxId, sessionId: body.sessions[0].sessionId },
  );
  expect(log.promptSpans).toEqual([
    { id: 'AGENTS.md', scope: 'repo-contributed', content: 'Use tabs.\n\n' },
    { id: 'mission', scope: 'mission', content: '[told]' },
  ]);
});
