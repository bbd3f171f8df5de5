// Missions of agents against a whole service: a runner finds a harness (a stand-in for Claude Code) and does the steps while
// people send messages. test/harnesses tests the real programs.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { hours } from '#foundation/clock.ts';
import { pinned } from '../../../src/runner/harness/pinned.ts';
import { openAep } from '../../support/aep.ts';
import { createProject } from '../../support/callers.ts';
import { scripted } from '../../support/harness-turns.ts';
import { openMissionWorld, standInAcp } from '../../support/mission-world.ts';
import { startRegistry } from '../../support/stand-in-registry.ts';
import type { World } from '../../support/world.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let world: World;
let models: typeof missions.models;
let token: string;

beforeAll(async () => {
  missions = await openMissionWorld();
  ({ world, models } = missions);
  ({ token } = missions.alice);
});
afterAll(() => missions.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const team = (...roles: string[]) => missions.team('claude-code', ...roles);

/** Waits for a state of the run. */
const reached = (runId: string, isRight: (run: Json) => boolean) =>
  missions.until(async () => isRight(await missions.look(runId)));

/** Number of calls that the vendor has answered with success. */
const modelCalls = async () =>
  Number(
    /^model_calls_total\{vendor="anthropic",status="2xx"\} (\d+)$/m.exec(
      (await world.request('GET', '/metrics')).body,
    )?.[1] ?? 0,
  );

describe('missions that an agent works on', () => {
  it('missions of agents pass from role to role in one runner; the builder resumes its session, and each call is charged once', async () => {
    await team('planner', 'builder', 'reviewer', 'qa');
    // All test files of a worker process share the metrics.
    const callsBefore = await modelCalls();
    const runner = missions.startRunner();
    const run = await missions.ended(await missions.mission('Make the date test pass.'));
    expect(run).toMatchObject({ status: 'completed', lastError: null });
    const roles = ['planner', 'builder', 'reviewer', 'builder', 'reviewer', 'qa'];
    expect(run.steps.map(({ role }: Json) => role)).toEqual(roles);
    const [, first, , second] = run.steps;
    expect(second.sessionId).toBe(first.sessionId);
    for (const step of run.steps)
      expect(step).toMatchObject({ status: 'completed', turns: 1, inputTokens: 1_200, outputTokens: 50 });
    expect(run.missionCostUsd).toBeCloseTo(6 * run.steps[0].costUsd, 6);
    expect(run.missionCostUsd).toBeGreaterThan(0);
    expect((await modelCalls()) - callsBefore).toBe(6);
    expect(run.sandboxes[0].harnessVersion).toBe('2.1.330');
    expect(runner.output).toContain('claude-code 2.1.330: ');
    // The gateway has added the key, which the agent does not know.
    expect(new Set(models.seen.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['real-key']));
  });

  it('missions of agents are executed by a harness of the Agent Client Protocol; the gateway counts its tokens', async () => {
    // A runner without this harness completes the mission with a built-in agent.
    await missions.killRunners();
    await missions.team('acp', 'builder');
    const none = { CLAUDE_CODE_PROGRAM: '/nowhere', HARNESS_TEST: 'on', DATA_DIR: missions.folder };
    const runner = missions.startRunner({ ...none, ACP_HARNESS: JSON.stringify({ command: standInAcp }) });
    const plan = [{ content: 'Measure', status: 'in_progress' }];
    const prompt = scripted({ plan }, { shell: 'echo measured' }, { say: 'All done.' });
    const runId = await missions.mission(prompt);
    const run = await missions.ended(runId);
    expect(run, runner.output).toMatchObject({ status: 'completed', lastError: null });
    expect(await missions.shown(runId)).toContain('response: All done.');
    expect(run.steps).toMatchObject([
      { role: 'builder', turns: 3, inputTokens: 3 * 1_200, outputTokens: 3 * 50, sessionId: expect.any(String) },
    ]);
    expect(run.missionCostUsd).toBeGreaterThan(0);
    expect(run.sandboxes[0].harnessVersion).toBe('1.2.3');
    expect(runner.output).toContain(`acp 1.2.3: ${standInAcp}`);
  });

  it('missions of agents begin with a checkout of the repository and with installed skills; commits are pushed, and the diff becomes an artifact', async () => {
    const { folder, alice } = missions;
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });
    await mkdir(path.join(folder, 'acme/skills/dates'), { recursive: true });
    const skill = '---\nname: dates\ndescription: Dates\n  are UTC.\n---\nUse the UTC helper.\n';
    await writeFile(path.join(folder, 'acme/skills/dates/SKILL.md'), skill);
    await mkdir(path.join(folder, 'acme/site'));
    await writeFile(path.join(folder, 'acme/site/a.txt'), 'old\n');
    for (const name of ['acme/site', 'acme/skills']) {
      git('init', '-q', '-b', 'main', name);
      git('-C', name, 'add', '.');
      git('-C', name, 'commit', '-qm', 'first');
    }
    const { id: orgId } = alice.organization;
    await connectIntegration({
      orgId,
      vendor: 'builtin',
      vendorKind: 'scm',
      displayName: 'Code',
      externalOrgId: folder,
    });
    const site = await createProject(world, alice, 'Site', { repoFullName: 'acme/site' });
    await team('builder', 'qa');
    const { id: builder } = await world.knex('agents').where({ orgId, role: 'builder' }).first();
    const skills = { skillRepos: ['acme/skills', 'acme/none', '../..'] };
    expect((await world.rest('PATCH', `/agents/${builder}`, { token, body: skills })).status).toBe(200);
    missions.startRunner();
    const runId = await missions.mission('[commit] [told]', site);
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null });
    const told =
      /Skills\. Before work to which a skill applies, read its file\.\s+- dates: Dates are UTC\. \(\S+\/dates\/SKILL\.md\)$/m;
    expect((await missions.shown(runId)).join('\n')).toMatch(told);
    const branch = `mission/${runId}`;
    const headSha = git('-C', 'acme/site', 'rev-parse', branch).trim();
    const { body: run } = await world.rest('GET', `/runs/${runId}`, { token });
    expect(run).toMatchObject({ branch, headSha, prNumber: null });
    const changes = { result: 'changes', commits: 1, files: 1, insertions: 1, deletions: 1 };
    expect(run.outcome).toMatchObject({ ...changes, branch, headSha, prUrl: null });
    expect(git('-C', 'acme/site', 'log', '-1', '--format=%an: %s', branch)).toBe('builder: Say new\n');
    // The git note of the commit contains the attestation that the platform signed last. The calls that the attestation counts include the calls of
    // the model.
    const { body: attested } = await world.rest('GET', `/attestations/${headSha}`, { token });
    expect(JSON.parse(git('-C', 'acme/site', 'notes', '--ref=attestations', 'show', headSha))).toEqual(
      attested.envelope,
    );
    const { subject, predicate } = JSON.parse(Buffer.from(attested.envelope.payload, 'base64').toString());
    const tree = git('-C', 'acme/site', 'rev-parse', `${headSha}^{tree}`).trim();
    expect(subject.map(({ digest }: Json) => digest)).toEqual([{ gitCommit: headSha }, { gitTree: tree }]);
    expect(predicate.steps[0].harness).toEqual({ name: 'claude-code', release: '2.1.330' });
    const { body: calls } = await world.rest('GET', `/runs/${runId}/calls`, { token });
    const models = calls.data.filter(({ kind }: Json) => kind === 'model');
    expect(predicate.calls).toMatchObject({ size: calls.data.length, model: models.length });
    expect(JSON.parse(models[0].entry)).toMatchObject({
      status: 200,
      request: expect.any(String),
      response: expect.any(String),
    });
    const { body: artifacts } = await world.rest('GET', `/artifacts?projectId=${site}`, { token });
    const diffs = artifacts.data.filter(({ caption }: Json) => caption === 'change.diff');
    expect(diffs).toHaveLength(1);
    const [diff] = diffs;
    expect(diff.contentType).toBe('text/x-diff');
    expect(await (await fetch(diff.url)).text()).toContain('-old\n+new\n');
    const ask = 'query ($r: String!) { run(runId: $r) { changeVersions { headSha commitsArtifact { url } } } }';
    const { changeVersions } = await missions.graphql(ask, { r: runId });
    expect(changeVersions).toMatchObject([{ headSha }]);
    expect(await (await fetch(changeVersions[0].commitsArtifact.url)).json()).toEqual([
      {
        ...{ sha: headSha, subject: 'Say new', author: 'builder', authoredAt: expect.any(Number) },
        patch: expect.stringContaining('-old\n+new\n'),
      },
    ]);
    // A researcher has no tools to change files with; changes that it makes nevertheless are neither pushed nor stored.
    await team('researcher');
    const { id: agentId } = await world.knex('agents').where({ orgId, role: 'researcher' }).first();
    const body = { projectId: site, prompt: '[commit] [draft]', agentId };
    const research = (await world.rest('POST', '/runs', { token, body })).body.id;
    expect(await missions.ended(research)).toMatchObject({ status: 'completed', steps: [{ role: 'researcher' }] });
    expect((await world.rest('GET', `/runs/${research}`, { token })).body).toMatchObject({
      branch: null,
      outcome: { result: 'no_changes', commits: 0 },
    });
    expect(git('-C', 'acme/site', 'branch', '--list', `mission/${research}`)).toBe('');
    expect((await missions.shown(research)).join('\n')).toContain('My tools: Read,Glob,Grep,TodoWrite');
    expect(await world.knex('checkpoints').where({ runId: research })).toEqual([]);
    expect(await world.knex('checkpoints').where({ runId })).not.toEqual([]);
  });

  it('missions of agents stage commits if pushes wait for approval, and continue from the staged commits; approved commits are pushed to the repository', async () => {
    const { folder, alice } = missions;
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', 'acme/careful', '-c', 'user.name=a', '-c', 'user.email=a@a', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    await mkdir(path.join(folder, 'acme/careful'), { recursive: true });
    await writeFile(path.join(folder, 'acme/careful/a.txt'), 'old\n');
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'first');
    const connector = { orgId: alice.organization.id, vendor: 'builtin' as const, displayName: 'Code' };
    await connectIntegration({ ...connector, vendorKind: 'scm', externalOrgId: folder });
    const project = await createProject(world, alice, 'Careful', { repoFullName: 'acme/careful' });
    await missions.graphql(
      'mutation ($id: String!) { setProjectEffectPolicy(projectId: $id, policy: { waits: [push] }) { id } }',
      { id: project },
    );
    await team('builder');
    missions.startRunner();
    const runId = await missions.mission('[commit]', project);
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null });
    const { id: next } = await missions.graphql(
      'mutation ($id: String!) { continueRun(runId: $id, prompt: "[look]") { id } }',
      { id: runId },
    );
    expect(await missions.ended(next)).toMatchObject({ status: 'completed', lastError: null });
    expect((await missions.shown(next)).join('\n')).toContain('I see a.txt=new');

    // A person pulls the work, changes it and pushes the changes, and the mission continues from these changes.
    const [aep, home] = [await openAep(), path.join(folder, 'home')];
    execFileSync('git', ['clone', '-q', path.join(folder, 'acme/careful'), path.join(home, 'careful')]);
    const env = { ...process.env, HOME: home, AEP_URL: world.url, AEP_TOKEN: alice.token };
    const inCheckout = (command: string) => aep([command, runId, '-C', path.join(home, 'careful')], env);
    expect((await inCheckout('pull')).stderr).toBe('');
    await writeFile(path.join(home, 'careful/a.txt'), 'mine\n');
    expect((await inCheckout('push')).stderr).toBe('');
    const { id: third } = await missions.graphql(
      'mutation ($id: String!) { continueRun(runId: $id, prompt: "[look]") { id } }',
      { id: runId },
    );
    expect(await missions.ended(third)).toMatchObject({ status: 'completed', lastError: null });
    expect((await missions.shown(third)).join('\n')).toContain('I see a.txt=mine');
    expect(git('branch', '--format=%(refname:short)')).toBe('main');

    const approve = 'mutation ($id: String!) { approveOutsideEffects(runId: $id) { outsideEffects { kind text } } }';
    expect((await missions.graphql(approve, { id: runId })).outsideEffects).toEqual([
      { kind: 'push', text: '1 commit since main: 1 file, +1 −1' },
    ]);
    await world.delivered();
    expect(git('log', '--format=%an: %s', `mission/${runId}`)).toBe('builder: Say new\na: first');
    expect(git('show', `mission/${runId}:a.txt`)).toBe('new');
  });

  it('missions of agents receive messages while they work, are interrupted, and continue', async () => {
    await team('builder');
    const runId = await missions.mission('[wait]');
    await missions.isShown(runId, 'I wait');
    await missions.say(runId, 'Use the UTC helper [wait]');
    await missions.isShown(runId, 'I wait: Message from Alice:\n\nUse the UTC helper');
    await missions.steer('interruptRun', runId);
    await reached(runId, ({ missionActivity }) => missionActivity === 'Interrupted');
    await missions.steer('resumeRun', runId);
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', steps: [{ turns: 3 }] });
    expect(run.messages.map(({ kind, acknowledgedAt }: Json) => [kind, acknowledgedAt !== null])).toEqual([
      ['message', true],
      ['interrupt', false],
      ['resume', false],
    ]);
    expect((await missions.shown(runId)).filter((one) => one.startsWith('prompt: '))).toEqual([
      'prompt: Message from Alice:\n\nUse the UTC helper [wait]',
      'prompt: Continue where you were interrupted.',
    ]);
  });

  it('missions of agents ask a person, do not count as running while they wait, and continue with the answer', async () => {
    await missions.killRunners();
    await team('builder');
    missions.startRunner({ RUNS_AT_ONCE: '1' });
    const asking = await missions.mission('[ask]');
    const read = 'query ($r: String!) { run(runId: $r) { needs questions { text choices } } }';
    const asked = async () => {
      const { needs, questions } = await missions.graphql(read, { r: asking });
      return needs && questions;
    };
    expect(await missions.until(asked)).toEqual([{ text: 'Which colour?', choices: ['Red', 'Blue'] }]);
    expect(await missions.ended(await missions.mission('Another.'))).toMatchObject({ status: 'completed' });
    // The runner that asked the question is lost. The next runner continues from the checkpoint, and asks the same question again.
    await missions.loseRunner(asking);
    expect(await asked()).toBeNull();
    missions.startRunner();
    await missions.until(asked);
    await missions.steer('answerElicitation', asking, { text: 'Blue' });
    const run = await missions.ended(asking);
    expect(run).toMatchObject({ status: 'completed', messages: [{ kind: 'answer', text: 'Blue' }] });
    expect((await missions.shown(asking)).join('\n')).toContain('I was answered: Alice answers: Blue');
    expect(run.messages[0].acknowledgedAt).not.toBeNull();
  });

  it('missions of agents show the progress of their plan and their activity; without a plan there is no progress', async () => {
    await missions.killRunners();
    missions.startRunner();
    await team('builder');
    const runId = await missions.mission('[wait]');
    await missions.isShown(runId, 'I wait');
    const at = async () => {
      const { body } = await world.rest('GET', `/runs/${runId}`, { token });
      return [body.missionProgress, body.missionActivity];
    };
    expect((await at())[0]).toBeNull();
    await missions.say(runId, '[plan] [wait]');
    await missions.until(async () => (await at()).join() === '0,Measure');
    await missions.say(runId, '[half] [wait]');
    await missions.until(async () => (await at()).join() === '50,Repair');
    await missions.say(runId, '[plan] [wait]');
    await missions.until(async () => (await at()).join() === '50,Measure');
    await missions.say(runId, 'That is enough');
    await missions.ended(runId);
    expect((await at())[0]).toBe(100);
  });

  it('missions of agents fail at a limit of their sandbox template, which the reason names', async () => {
    await missions.killRunners();
    missions.startRunner();
    await team('builder');
    const body = { name: 'Short', stepModelCalls: 2, stepMinutes: 600 };
    const { id } = (await world.rest('POST', '/sandbox-templates', { token, body })).body;
    await world.knex('projects').where({ id: missions.projectId }).update({ defaultSandboxTemplateId: id });
    const runId = await missions.mission('[wait]');
    await missions.isShown(runId, 'I wait');
    const { timeoutAt, createdAt } = await world.knex('sandboxes').where({ runId }).first();
    // The time limit consists of ten hours of work and a day of waiting for people.
    expect((timeoutAt - createdAt) / hours(1)).toBeCloseTo(34, 0);
    await missions.say(runId, 'And now? [wait]');
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'failed', lastError: expect.stringContaining('limit of 2 model calls') });
    await world.knex('projects').where({ id: missions.projectId }).update({ defaultSandboxTemplateId: null });
  });

  it('missions of agents are canceled together with their agents', async () => {
    await team('builder');
    const runId = await missions.mission('[wait]');
    await missions.isShown(runId, 'I wait');
    await missions.steer('cancelRun', runId);
    expect(await missions.ended(runId)).toMatchObject({ status: 'canceled' });
  });

  it('missions of agents continue on another runner in a new session when their runner is killed', async () => {
    await team('builder');
    const runId = await missions.mission('[wait]');
    await reached(runId, ({ steps }) => steps[0]?.inputTokens === 1_200);
    await missions.loseRunner(runId);
    missions.startRunner();
    await reached(runId, ({ steps }) => steps[0].inputTokens === 2_400);
    await missions.say(runId, 'That is enough');
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', steps: [{ inputTokens: 3_600 }] });
  });

  it('missions of agents fail when the harness ends during a turn', async () => {
    await team('builder');
    await missions.killRunners();
    missions.startRunner({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' });
    const run = await missions.ended(await missions.mission('Work.'));
    expect(run).toMatchObject({ status: 'failed', lastError: expect.any(String) });
  });

  it('missions of agents wait when the next model call exceeds the budget, and continue when a person raises it', async () => {
    await missions.killRunners();
    await team('builder');
    missions.startRunner();
    const query = `mutation ($projectId: String!) {
      startMission(projectId: $projectId, prompt: "[wait]", budgetUsd: 0.05) { id } }`;
    const { id } = await missions.graphql(query, { projectId: missions.projectId });
    await missions.isShown(id, 'I wait');
    const needs = async (): Promise<Json> =>
      await missions.graphql('query ($id: String!) { run(runId: $id) { needs missionCostUsd } }', { id });
    for (let i = 0; (await needs()).needs !== 'budget'; i++) {
      await missions.say(id, `Once more [wait] ${i}`);
      const isTaken = async () =>
        (await needs()).needs === 'budget' || (await missions.look(id)).steps[0].inputTokens >= 1_200 * (i + 2);
      await vi.waitUntil(isTaken, { interval: 50 });
    }
    const { missionCostUsd } = await needs();
    expect(missionCostUsd).toBeLessThanOrEqual(0.05);
    const turned = await world.rest('PUT', `/runs/${id}/budget`, {
      token: missions.alice.token,
      body: { budgetUsd: 1 },
    });
    expect(turned.status).toBe(200);
    const costsMore = async () => (await needs()).missionCostUsd > missionCostUsd;
    await vi.waitUntil(costsMore, { interval: 50 });
    expect((await needs()).needs).toBe(null);
    await missions.graphql('mutation ($id: String!) { cancelRun(runId: $id) { id } }', { id });
  });

  it('a runner that refuses agents logs why', async () => {
    const runner = missions.startRunner({ CLAUDE_CODE_PROGRAM: '/nowhere/claude' });
    await vi.waitUntil(() => runner.output.includes('is not offered'));
    expect(runner.output).toContain(
      'claude-code is not offered: CLAUDE_CODE_PROGRAM: /nowhere/claude is not a program.',
    );
  });

  it('missions of agents wait while the runner installs a harness, and show why an installation failed', async () => {
    // The mission must wait until a harness is installed, so the runners of earlier tests, which already have one, are ended.
    await missions.killRunners();
    missions.turn(hours(1));
    const registry = await startRegistry();
    const linux = pinned('opencode', { name: 'linux-x64', isMusl: false, hasAvx2: true });
    const { version } = linux as Exclude<typeof linux, string>;
    // A pinned package with different content for each platform.
    for (const variant of ['', '-baseline']) {
      registry.publish(
        `opencode-${process.platform}-${process.arch}${variant}`,
        version,
        'bin/opencode',
        '#!/bin/sh\n',
      );
    }
    const nowhere = { CLAUDE_CODE_PROGRAM: '/nowhere/claude', CODEX_PROGRAM: '/nowhere/codex' };
    const { folder, projectId } = missions;
    const folders = { HARNESSES_DIR: path.join(folder, 'harnesses'), HOME: folder };
    const own = { HARNESS_INSTALL: 'on', ...folders, npm_config_registry: registry.url };
    try {
      const runner = missions.startRunner({ ...nowhere, ...own });
      const { id } = await missions.graphql(
        `mutation ($projectId: String!) { startMission(projectId: $projectId, prompt: "Work.", agentId: "agn_builtin_builder") { id } }`,
        { projectId },
      );
      const pattern = /OpenCode 1\S+ is not installed: .* \(EINTEGRITY\)\. Next attempt at|OpenCode is not pinned for/;
      const reasonOf = async () => (await world.knex('runs').where({ id }).first()).reason ?? '';
      await vi.waitFor(
        async () => {
          await explainWaits();
          expect(await reasonOf()).toMatch(pattern);
        },
        { interval: 200 },
      );
      expect(runner.output).toMatch(pattern);
      expect(await reasonOf()).not.toContain(registry.url);
      await missions.steer('cancelRun', id);
    } finally {
      await registry.close();
    }
  });
});
