// Forks of missions: earlier calls are answered from a recording, and later calls reach the model with the choices of the person.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { lease } from '#limits.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { scripted } from '../../support/harness-turns.ts';
import { openMissionWorld, type Runner, standInAcp } from '../../support/mission-world.ts';
import { createPageInspector } from '../../support/page-inspector.ts';
import { compiled, projectFolder } from '../../support/processes.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import type { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const launched = await openBrowser();
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let world: World;
let token: string;
let site: Awaited<ReturnType<typeof createProject>>;
let repository: string;
let agentId: string;
/** The recorded run and its step. */
let source: string;
let stepId: string;
/** The first fork. */
let forked: string;
/** The runner of the first missions. */
let present: Runner;
/** A command of the agent prints the file, and waits while it is missing. */
let gate: string;

const levels = {
  ...{ CONFINEMENT: 'none', ISOLATION: 'none', HARNESS_INSTALL: 'off', HARNESS_TEST: 'off' },
  ACP_HARNESS: JSON.stringify({ command: standInAcp }),
};
const runner = () => missions.startRunner({ CLAUDE_CODE_PROGRAM: '/nowhere', ...levels });
const git = (...args: string[]) =>
  execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { encoding: 'utf8' });

beforeAll(async () => {
  missions = await openMissionWorld();
  ({ world } = missions);
  ({ token } = missions.alice);
  await missions.team('acp', 'builder');
  agentId = (await world.knex('agents').first('id')).id;
  repository = path.join(missions.folder, 'acme/site');
  gate = path.join(missions.folder, 'gate');
  mkdirSync(repository, { recursive: true });
  git('init', '-q', '-b', 'main');
  writeFileSync(path.join(repository, 'a.txt'), 'old\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  writeFileSync(gate, '');
  const { id: orgId } = missions.alice.organization;
  const scm = { vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: missions.folder } as const;
  await connectIntegration({ orgId, ...scm });
  site = await createProject(world, missions.alice, 'Site', { repoFullName: 'acme/site' });
  await missions.graphql('mutation { setRecordingSettings(isEnabled: true, days: 30) { isEnabled } }', {});
  present = runner();
});
afterAll(() => missions.close());

const fork = async (more: Record<string, unknown>, by = token) =>
  world.rest('POST', `/runs/${source}/fork`, { token: by, body: { stepId, ...more } });
const forkInGraph = (more: Record<string, unknown>) =>
  missions.graphql(
    `mutation ($r: String!, $s: String!, $call: Int!, $prompt: String, $model: String, $agentVersion: Int) {
      forkMission(runId: $r, stepId: $s, call: $call, prompt: $prompt, model: $model, agentVersion: $agentVersion) { id } }`,
    { r: source, s: stepId, ...more },
  );
const forkOf = async (runId: string) => {
  const run = await missions.graphql(
    `query ($r: String!) { run(runId: $r) { fork { sourceRunId sourceStepId call calls model agentVersion prompt } forks { runId }
      steps { id seq role status model costUsd inputTokens error } missionCostUsd lastError } }`,
    { r: runId },
  );
  run.steps.sort((a: Json, b: Json) => a.seq - b.seq);
  return run;
};
const callsOf = (runId: string) =>
  missions.graphql(
    'query ($r: String!) { recordedModelCalls(runId: $r) { hasMore data { stepId role number at model status isOmitted } } }',
    { r: runId },
  );
/** Requests that have reached the model since `from`. */
const seenSince = (from: number): Json[] => missions.models.seen.slice(from);

describe('a fork', () => {
  it('a fork continues at a call with another model and message: earlier calls reach neither the model nor people, and cost nothing', async () => {
    const question = { question: 'Which colour?', choices: ['Red', 'Blue'] };
    source = await missions.mission(
      scripted(
        { mcp: { tool: 'ask_person', args: question } },
        {
          shell: `touch ${gate}.begun; echo first >> a.txt; git commit -am first; while [ ! -e ${gate} ]; do sleep 0.05; done; pwd; cat ${gate}`,
        },
        { shell: 'echo second >> a.txt; git commit -am second; git log --oneline' },
        { say: 'Done.' },
      ),
      site,
    );
    const ask = 'query ($r: String!) { run(runId: $r) { questions { sandboxId seq } } }';
    const { sandboxId, seq } = await missions.until(
      async () => (await missions.graphql(ask, { r: source })).questions[0],
    );
    const answer =
      'mutation ($r: String!, $s: String!, $n: Int!) { answerElicitation(runId: $r, sandboxId: $s, seq: $n, text: "Blue") { id } }';
    await missions.graphql(answer, { r: source, s: sandboxId, n: seq });
    stepId = (await missions.look(source)).steps[0].id;
    const open = await fork({ call: 2 });
    expect([open.status, open.body.description]).toEqual([
      409,
      'The run has not ended: its recording is not complete.',
    ]);
    expect(await missions.ended(source)).toMatchObject({ status: 'completed', lastError: null });
    const listed = await callsOf(source);
    const call = {
      stepId,
      role: 'builder',
      at: expect.any(Number),
      model: 'claude-sonnet-4-5',
      status: 200,
      isOmitted: false,
    };
    expect(listed).toEqual({ hasMore: false, data: [2, 4, 5, 6].map((number) => ({ ...call, number })) });
    writeFileSync(path.join(repository, 'a.txt'), 'later\n');
    git('commit', '-qam', 'later');

    const from = missions.models.seen.length;
    const message = scripted({ shell: 'echo third >> a.txt; git commit -qam third' }, { say: 'Done otherwise.' });
    const { status, body } = await fork({ call: 5, model: 'claude-opus-4-5', prompt: message });
    expect(status).toBe(201);
    forked = body.id;
    expect(await missions.ended(body.id)).toMatchObject({ status: 'completed', lastError: null });
    const seen = seenSince(from);
    expect(seen.map(({ body: { model } }: Json) => model)).toEqual(['claude-opus-4-5', 'claude-opus-4-5']);
    expect(JSON.stringify(seen[0].body.messages)).toContain('Alice answers: Blue');
    expect(git('show', `mission/${body.id}:a.txt`)).toBe('old\nfirst\nthird\n');
    expect(git('log', '--format=%s', `mission/${body.id}`).trim().split('\n')).toEqual(['third', 'first', 'first']);
    const run = await forkOf(body.id);
    expect(run).toMatchObject({
      fork: {
        sourceRunId: source,
        sourceStepId: stepId,
        call: 5,
        calls: 4,
        model: 'claude-opus-4-5',
        agentVersion: 1,
        prompt: message,
      },
      steps: [
        { seq: 0, role: 'builder', status: 'completed', model: 'claude-sonnet-4-5', costUsd: 0, inputTokens: 0 },
        { seq: 1, role: 'builder', status: 'completed', model: 'claude-opus-4-5' },
      ],
    });
    expect(run.steps[1].costUsd).toBeGreaterThan(0);
    const sha = git('rev-parse', `mission/${body.id}`).trim();
    const { envelope } = (await world.rest('GET', `/attestations/${sha}`, { token })).body;
    expect(JSON.parse(Buffer.from(envelope.payload, 'base64').toString()).predicate.run).toMatchObject({
      id: body.id,
      forkedFrom: { run: source, step: stepId, call: 5, replayedCalls: 4 },
    });
    expect(await world.knex('run_calls').where({ runId: body.id, kind: 'model' })).toHaveLength(2);
    expect((await forkOf(source)).forks).toEqual([{ runId: body.id }]);
  });

  it('a fork can be forked itself, and its recording can be replayed', async () => {
    const { data } = await callsOf(forked);
    expect(data.map(({ number, model }: Json) => [number, model])).toEqual([
      [2, 'claude-sonnet-4-5'],
      [4, 'claude-sonnet-4-5'],
      [2, 'claude-opus-4-5'],
      [3, 'claude-opus-4-5'],
    ]);
    const from = missions.models.seen.length;
    const input = { stepId: data[3].stepId, call: 3, prompt: 'Say it again.' };
    const { body } = await world.rest('POST', `/runs/${forked}/fork`, { token, body: input });
    expect(await missions.ended(body.id)).toMatchObject({ status: 'completed', lastError: null });
    expect(seenSince(from)).toHaveLength(1);
    expect((await forkOf(body.id)).fork).toMatchObject({
      sourceRunId: forked,
      call: 3,
      calls: 6,
      model: 'claude-opus-4-5',
    });
    expect(git('show', `mission/${body.id}:a.txt`)).toBe('old\nfirst\nthird\n');
    const { url } = (await world.rest('GET', `/runs/${forked}/recording`, { token })).body;
    const file = path.join(missions.folder, 'recording.jsonl');
    writeFileSync(file, await (await fetch(url)).text());
    const replayed = spawnSync(process.execPath, [compiled('runner/runner'), 'replay', file, repository], {
      cwd: projectFolder,
      env: { PATH: process.env.PATH, TMPDIR: missions.folder, CLAUDE_CODE_PROGRAM: '/nowhere', ...levels },
      encoding: 'utf8',
    });
    expect(replayed.stdout.trim().split('\n').at(-1)).toMatch(
      new RegExp(`^The replay of ${forked} ends as recorded: 2 steps, 7 calls, the tree [0-9a-f]{40}\\.$`),
    );
  });

  it.skipIf(typeof launched === 'string')(
    'a fork is started on the page of the mission; the page of the fork names the mission and the call it was forked from',
    async () => {
      const pages = createPageInspector(launched as Browser, world.url);
      const session = await world.session(missions.alice.person, missions.alice.organization.id);
      const page = await pages.open(session);
      await page.goto(`/console/runs/${source}`);
      await page.getByRole('button', { name: 'Continue from a call' }).click();
      await page.getByRole('button', { name: 'Continue from call 6 of the builder' }).click();
      await page.getByLabel('Message to the agent').fill('Say it on the page.');
      await page.getByRole('textbox', { name: 'Model' }).fill('gpt-nope');
      await page.getByRole('button', { name: 'Start fork' }).click();
      await page
        .getByText('model: must be one that acp runs')
        .or(page.getByText('Must be one that acp runs'))
        .first()
        .waitFor();
      await page.getByRole('textbox', { name: 'Model' }).fill('');
      await page.getByRole('button', { name: 'Start fork' }).click();
      await page.getByRole('link', { name: 'call 6 of another mission' }).waitFor();
      const runId = page.url().split('/').at(-1)!;
      expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null });
      await page.getByRole('link', { name: 'call 6 of another mission' }).click();
      await page
        .getByText(
          'Replays 5 recorded calls, then continues with the model claude-sonnet-4-5 and version 1 of the agent',
        )
        .waitFor();
      await pages.close();
      expect(pages.takeProblems()).toEqual([]);
    },
  );

  it('a fork pushes nothing if its runner stops during the replay; another runner then repeats the replay, and continues with the chosen version of the agent', async () => {
    const change = { userPrompt: 'Speak French.' };
    expect((await world.rest('PATCH', `/agents/${agentId}`, { token, body: change })).status).toBe(200);
    for (const file of [gate, `${gate}.begun`]) rmSync(file);
    const from = missions.models.seen.length;
    const { id } = await forkInGraph({ call: 6, agentVersion: 2 });
    await missions.until(async () => existsSync(`${gate}.begun`));
    present.process.kill('SIGTERM');
    await once(present.process, 'exit');
    expect((await missions.look(id)).status).toBe('dispatching');
    expect(git('branch', '--list', `mission/${id}`)).toBe('');
    missions.turn(lease.restMs);
    writeFileSync(gate, '');
    // A runtime that cannot replay gets no fork.
    const old = await createRuntime(world, missions.alice.organization);
    expect(await old.claim({ harnesses: ['acp'] })).toBeNull();
    runner();
    expect(await missions.ended(id)).toMatchObject({ status: 'completed', lastError: null });
    const seen = seenSince(from);
    expect(seen.map(({ body: { model } }: Json) => model)).toEqual(['claude-sonnet-4-5']);
    expect(seen[0].body.messages.at(-1).content).toBe('Speak French.\n\nContinue your work.');
    expect(git('show', `mission/${id}:a.txt`)).toBe('old\nfirst\nsecond\n');
    expect(await forkOf(id)).toMatchObject({ fork: { call: 6, calls: 5, agentVersion: 2, prompt: null } });
  });

  it('a fork fails with the first difference when its replay departs from the recording', async () => {
    writeFileSync(gate, 'other\n');
    const from = missions.models.seen.length;
    const { id } = await forkInGraph({ call: 6 });
    const { status, lastError, missionCostUsd } = await missions.ended(id);
    expect([status, missionCostUsd, seenSince(from)]).toEqual(['failed', 0, []]);
    expect(lastError.split(' has ')[0]).toBe(
      `The replay of ${source} differs after 4 calls. Call 5 (POST /anthropic/v1/messages) differs from call 5 of the recording: ` +
        'messages[4].content[0].content',
    );
    expect(lastError).toMatch(/\{work\}\\nother\\n" around character \d+; the recording has ".*\{work\}\\n"\.$/);
    writeFileSync(gate, '');
  });

  it('a fork is refused for a call that cannot be forked, an unknown model or version, and a person who is not allowed to read recordings', async () => {
    const refusals: [Record<string, unknown>, number, string][] = [
      [{ call: 7 }, 400, 'call: must be the number of a recorded call of the step, at most 6.'],
      [{ call: 3 }, 400, 'call: must be the call of a model; this one is the call of a tool.'],
      [{ call: 0 }, 400, 'call: must be at least 1.'],
      [{ call: 5, stepId: 'stp_none' }, 404, 'No such step.'],
      [{ call: 5, agentVersion: 9 }, 400, 'agentVersion: must be one of the versions of builder: 9 is not.'],
    ];
    for (const [body, status, description] of refusals) {
      const answer = await fork(body);
      expect([answer.status, answer.body.description]).toEqual([status, description]);
    }
    const unknown = await fork({ call: 5, model: 'gpt-nope' });
    expect([unknown.status, unknown.body.description]).toEqual([
      400,
      expect.stringMatching(/^model: must be one that acp runs: /),
    ]);
    const stranger = await createOwner(world, 'Mallory', 'Globex');
    expect((await fork({ call: 5 }, stranger.token)).status).toBe(404);
    const viewer = await createMember(world, missions.alice.organization, 'Vera', 'viewer');
    expect((await fork({ call: 5 }, viewer.token)).body.code).toBe('missing_scope');
    expect(await world.knex('runs').where({ status: 'running' })).toEqual([]);
  });

  it('a fork fails with a clear error when the recording is deleted before its replay; further forks of the same run are refused', async () => {
    await missions.killRunners();
    const { id } = await forkInGraph({ call: 5 });
    await missions.graphql('mutation { setRecordingSettings(isEnabled: false, days: 30) { isEnabled } }', {});
    runner();
    expect(await missions.ended(id)).toMatchObject({
      status: 'failed',
      lastError: `The runner failed: The recording of ${source} was deleted: the mission cannot be forked from it.`,
    });
    const { status, body } = await fork({ call: 5 });
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(
      (await world.graphql(`{ recordedModelCalls(runId: "${source}") { hasMore } }`, { token })).body.errors[0]
        .extensions.problem.code,
    ).toBe('not_found');
  });
});
