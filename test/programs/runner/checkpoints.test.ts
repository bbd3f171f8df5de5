// Checkpoints, tested with a whole service and with runners that have separate folders, as on two machines. After a runner was killed, and when a
// person continues an ended run, work continues with all files and in the same session of the harness. The harness is a stand-in.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { createProject } from '../../support/callers.ts';
import { openMissionWorld, type Runner } from '../../support/mission-world.ts';
import { realEngine } from '../../support/real-engine.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let folder: string;
let site: typeof missions.projectId;
let machines = 0;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });

beforeAll(async () => {
  missions = await openMissionWorld();
  folder = missions.folder;
  const { world, alice } = missions;
  const { id: orgId } = alice.organization;
  git('init', '-q', '-b', 'main', 'acme/site');
  writeFileSync(path.join(folder, 'acme/site/a.txt'), 'old\n');
  writeFileSync(path.join(folder, 'acme/site/.gitignore'), 'built\nnode_modules\n');
  writeFileSync(path.join(folder, 'acme/site/AGENTS.md'), 'Use tabs.\n');
  git('-C', 'acme/site', 'add', '.');
  git('-C', 'acme/site', 'commit', '-qm', 'first');
  await connectIntegration({ orgId, vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: folder });
  site = await createProject(world, alice, 'Site', { repoFullName: 'acme/site' });
  await missions.team('claude-code', 'builder');
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

/** A runner with folders that no other runner uses. */
function startRunner(more: Record<string, string> = {}): Runner {
  const own = path.join(folder, `machine-${++machines}`);
  for (const name of ['', 'tmp', 'mirrors']) mkdirSync(path.join(own, name));
  const folders = { TMPDIR: path.join(own, 'tmp'), MIRRORS_DIR: path.join(own, 'mirrors') };
  return missions.startRunner({ ...folders, CHECKPOINT_MS: '100', ...more });
}

/** Waits until the sessions or files in the checkpoint contain the text. A checkpoint is reported only when something has changed. */
const isKept = (runId: string, message: string, part: 'sessions' | 'work' = 'sessions') =>
  missions.until(async () => {
    const kept = missions.world.knex('checkpoints').where({ runId }).select('artifactId');
    const [artifact] = await missions.world.knex('artifacts').whereIn('id', kept);
    if (!artifact) return false;
    const bundle = path.join(missions.world.contents, artifact.contentKey.slice(-2), artifact.contentKey);
    try {
      git('-C', 'acme/site', 'fetch', '-q', bundle, `+refs/checkpoint/${part}:refs/kept`);
      return git('-C', 'acme/site', 'grep', message, 'refs/kept');
    } catch {
      return false;
    }
  });
type Message = { acknowledgedAt: string | null };
const go = async (runId: string, prompt: string): Promise<string> =>
  (await missions.steer('continueRun', runId, { prompt })).id;

it('a runner that is killed is replaced by a runner on another machine, with all files and in the same session; each call is charged once', async () => {
  startRunner();
  const runId = await missions.mission('[commit] [draft] [wait]', site);
  await missions.isShown(runId, 'I wait');
  await missions.say(runId, 'First thing [wait]');
  await missions.isShown(runId, 'I wait: Message from Alice:\n\nFirst thing');
  await isKept(runId, 'First thing');
  // A message without an acknowledgement would be delivered again, in one prompt with the next message.
  await missions.until(async () => (await missions.look(runId)).messages.every((one: Message) => one.acknowledgedAt));
  await missions.loseRunner(runId);
  startRunner();
  await missions.say(runId, '[look]');
  const run = await missions.ended(runId);
  expect(run).toMatchObject({ status: 'completed', lastError: null, steps: [{ status: 'completed' }] });
  expect(await missions.isShown(runId, 'I see')).toMatch(
    /I see \.gitignore=built\+node_modules AGENTS\.md=Use tabs\. a\.txt=new\+changed draft\.txt=draft after 4 messages$/,
  );
  // The agent has called the model four times: twice before the kill, once when the second runner continued, and once for the last message.
  expect(run.steps[0].inputTokens).toBe(4 * 1_200);
  expect(run.missionCostUsd).toBeCloseTo(run.steps[0].costUsd, 6);
  const branch = `mission/${runId}`;
  expect(git('-C', 'acme/site', 'log', '--format=%an: %s', branch, '--not', 'main')).toBe('builder: Say new\n');
  // Uncommitted changes are not pushed.
  expect(git('-C', 'acme/site', 'show', `${branch}:a.txt`)).toBe('new\n');
});

it('a runner that is killed is replaced by a runner that begins a new session with a summary of the earlier work when there is no checkpoint', async () => {
  startRunner({ CHECKPOINT_MS: '600000' });
  const runId = await missions.mission('[draft] [wait]');
  await missions.isShown(runId, 'I wait');
  await missions.loseRunner(runId);
  startRunner();
  const heard = await missions.isShown(runId, 'What has happened so far');
  expect(heard).toContain('was begun, and was interrupted when its machine was lost');
  await missions.say(runId, '[look]');
  await missions.ended(runId);
  expect(await missions.isShown(runId, 'I see')).toContain('draft.txt=draft after 2 messages');
});

describe('a run that has ended', () => {
  it('a run that has ended is continued on another machine, on its own branch', async () => {
    const kept = path.join(folder, 'kept');
    const runner = startRunner({ WORKSPACES_DIR: kept });
    const first = await missions.mission('[commit] [draft]', site);
    expect(await missions.ended(first)).toMatchObject({ status: 'completed', steps: [{ checkpoint: {} }] });
    runner.process.kill('SIGTERM');
    await once(runner.process, 'exit');
    // No bundle remains in the runner's folder.
    const mirrors = readdirSync(path.join(folder, `machine-${machines}`, 'mirrors'));
    expect(mirrors.filter((name) => !name.endsWith('.git'))).toEqual([]);
    startRunner();
    const next = await go(first, '[look]');
    expect(await missions.ended(next)).toMatchObject({ status: 'completed', lastError: null });
    expect(await missions.isShown(next, 'I see')).toContain('a.txt=new+changed draft.txt=draft after 2 messages');
    const heads = [first, next].map((runId) => git('-C', 'acme/site', 'rev-parse', `mission/${runId}`));
    expect(heads[0]).toBe(heads[1]);
    // A setting makes the first runner keep the folder of its agent.
    expect(readdirSync(kept)).toEqual([first]);
    expect(readdirSync(path.join(kept, first))).toContain('draft.txt');
  });

  it('a run is continued after it was canceled, even in a project without a repository', async () => {
    startRunner({ CHECKPOINT_MS: '600000' });
    const first = await missions.mission('[draft] [wait]');
    await missions.isShown(first, 'I wait');
    await missions.steer('cancelRun', first);
    await missions.until(async () => (await missions.look(first)).steps[0].checkpoint);
    await missions.killRunners();
    startRunner();
    const next = await go(first, '[look]');
    expect(await missions.ended(next)).toMatchObject({ status: 'completed', lastError: null });
    expect(await missions.isShown(next, 'I see')).toContain('draft.txt=draft after 2 messages');
  });
});

it('an agent receives its repository’s instructions, and its prompt shows the source of each part', async () => {
  startRunner();
  const runId = await missions.mission('[told]', site);
  await missions.ended(runId);
  const file = 'Instructions of the repository (AGENTS.md):\n\nUse tabs.';
  expect(await missions.isShown(runId, 'I was told')).toBe(`response: I was told: ${file}`);
  const { sandboxes } = await missions.look(runId);
  const { sandboxId } = sandboxes[0];
  const { body } = await missions.world.rest('GET', `/sandboxes/${sandboxId}`, { token: missions.alice.token });
  const log = await missions.graphql(
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

/** Settings of an isolation; null if this machine does not have it. */
function settingsOf(level: string): Record<string, string> | null {
  if (level === 'cell')
    return spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0 ? {} : null;
  const engine = realEngine();
  return engine && { ...engine, HOME: process.env.HOME ?? '/' };
}

describe.each(['cell', 'container'])('a step in a %s that continues on another machine', (level) => {
  it('a step that continues on another machine has its files there; an environment that is set up on that machine is not used for other missions', async ({
    skip,
  }) => {
    const settings = settingsOf(level);
    if (!settings) return skip(`there is no ${level} on this machine`);
    const setupScript =
      'mkdir -p node_modules/answer; echo "module.exports = 42" > node_modules/answer/index.js; touch ~/tool';
    const create = 'mutation ($input: CreateSandboxTemplateRequest!) { createSandboxTemplate(input: $input) { id } }';
    const { id } = await missions.graphql(create, {
      input: { name: `Prepared in a ${level}, ${machines}`, setupScript },
    });
    const input = { defaultSandboxTemplateId: id };
    const choose =
      'mutation ($p: String!, $input: UpdateProjectRequest!) { updateProject(projectId: $p, input: $input) { id } }';
    await missions.graphql(choose, { p: site, input });
    const start = () => {
      const data = path.join(folder, `data-${machines + 1}`);
      const { output } = startRunner({ ISOLATION: level, DATA_DIR: data, ...settings });
      const kept = () => readdirSync(path.join(data, 'environments'), { recursive: true }).map(String);
      return { output, isKept: () => kept().some((name) => name.endsWith('manifest.json')) };
    };
    const first = start();
    const runId = await missions.mission('[draft] [wait]', site);
    await missions.isShown(runId, 'I wait');
    await isKept(runId, 'draft', 'work');
    expect(first.isKept()).toBe(true);
    await missions.loseRunner(runId);
    const second = start();
    await missions.say(
      runId,
      '[run]\n(node -p "require(\'answer\')"; cat draft.txt; ls ~/tool) > "$ARTIFACTS/seen.txt"',
    );
    expect(await missions.ended(runId), second.output).toMatchObject({ status: 'completed', lastError: null });
    const { body } = await missions.world.rest('GET', `/artifacts?runId=${runId}`, { token: missions.alice.token });
    const seen = await (
      await fetch(body.data.find((one: { caption: string }) => one.caption === 'seen.txt').url)
    ).text();
    expect(seen).toMatch(/^42\ndraft\n\S+\/tool\n$/);
    expect(await missions.log(runId)).toContain(
      'could not be stored for later missions: an environment whose checkout contains changes by an agent is not stored.',
    );
    expect(second.isKept()).toBe(false);
  });
});
