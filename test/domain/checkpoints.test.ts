// Checkpoints as runtimes report them and people use them: a lost step restarts from its own checkpoint, and an ended run is
// continued by another run.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { seconds } from '#foundation/clock.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let mallory: Account;
let projectId: string;
let runtime: Runtime;
let agentId: string;

beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: 'Bob', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  agentId = (await world.rest('POST', '/agents', { token: alice.token, body })).body.id;
});
afterAll(() => world.close());
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const graphql = (query: string, variables: Record<string, unknown>, token = alice.token): Promise<Json> =>
  world.field(query, { token, variables });
const claim = (): Promise<Json> =>
  runtime.claim(
    { harnesses: ['claude-code', 'shell'] },
    `{ runId leaseId prompt branch step { stepId seq role prompt resumeSessionId resumePrompt preamble
      checkpoint { commitSha url } agent { name } } }`,
  );
const start = async (more: object = {}): Promise<Json> => {
  world.clock.turn(1);
  const arguments_ = '$projectId: String!, $prompt: String!, $agentId: String';
  const passed = 'projectId: $projectId, prompt: $prompt, agentId: $agentId';
  const variables = { projectId, prompt: 'Make the date test pass.', agentId, ...more };
  return graphql(`mutation (${arguments_}) { startMission(${passed}) { id } }`, variables);
};
const held = async (more: object = {}): Promise<Json> => {
  await start(more);
  return claim();
};
const commit = (digit: string) => digit.repeat(40);
const keep = async ({ runId, leaseId, step }: Json, more: object = {}, bytes = 'bundle'): Promise<string> => {
  const { contentKey, uploadUrl } = await runtime.ask(
    'createArtifactUpload',
    { runId, leaseId },
    '{ contentKey uploadUrl }',
  );
  await fetch(uploadUrl, { method: 'PUT', body: bytes });
  const input = { runId, leaseId, stepId: step.stepId, contentKey, commitSha: commit('a'), ...more };
  expect(await runtime.ask('reportCheckpoint', input)).toEqual({ ok: true });
  // A repeated report changes nothing.
  expect(await runtime.ask('reportCheckpoint', input)).toEqual({ ok: true });
  return contentKey;
};
const end = async ({ runId, leaseId, step }: Json) => {
  await runtime.ask(
    'finishStep',
    { runId, leaseId, stepId: step.stepId, status: 'completed', sessionId: 'session-1' },
    '{ outcome }',
  );
  await runtime.finish({ runId, leaseId });
};
const lose = async () => {
  world.clock.turn(seconds(61));
  await releaseSilentRuns();
};
const stepsOf = async (runId: string): Promise<Json> =>
  (
    await graphql(
      `query ($runId: String!) { runSteps(runId: $runId) { data { id checkpoint { commitSha createdAt artifactId artifact {
      kind caption contentType sizeBytes } } } } }`,
      { runId },
    )
  ).data;
const continuing = `mutation ($runId: String!, $prompt: String!, $stepId: String) {
  continueRun(runId: $runId, prompt: $prompt, stepId: $stepId) { id status issueId agentId continuesStep { id runId } } }`;
const go = (runId: string, more: object = {}, token = alice.token) => {
  world.clock.turn(1);
  return graphql(continuing, { runId, prompt: 'Now in UTC.', ...more }, token);
};

describe('steps whose runtime was lost', () => {
  it('a lost step restarts from its checkpoint in the same session, with the messages sent since the checkpoint', async () => {
    const one = await held();
    expect(one.step).toMatchObject({ checkpoint: null, preamble: null, resumePrompt: null });
    await keep(one, { sessionId: 'session-1' });
    const at = present();
    world.clock.turn(seconds(1));
    const say = 'mutation ($runId: String!) { sendMessage(runId: $runId, text: "Use UTC.") { id } }';
    const { id } = await graphql(say, { runId: one.runId });
    await runtime.beat(one, { acknowledged: [id] });
    const reached = { orgId: alice.organization.id, milestoneId: 'steer_mission' };
    expect((await world.knex('setup_milestones').where(reached).first()).reachedAt).toBeGreaterThan(0);
    await lose();
    const { step } = await claim();
    expect(step).toMatchObject({
      stepId: one.step.stepId,
      prompt: 'Make the date test pass.',
      resumeSessionId: 'session-1',
      checkpoint: { commitSha: commit('a') },
    });
    expect(await (await fetch(step.checkpoint.url)).text()).toBe('bundle');
    expect(step.resumePrompt).toContain(`as they were at ${new Date(at).toISOString()}`);
    expect(step.resumePrompt).toContain('- Alice: Use UTC.');
    expect(step.preamble).toMatch(/^# What has happened so far[\s\S]*- Alice: Use UTC\.[\s\S]*# What to do now$/);
  });

  it('a lost step without a checkpoint restarts with a preamble that explains the interruption', async () => {
    const one = await held();
    await lose();
    const { step } = await claim();
    expect(step).toMatchObject({
      stepId: one.step.stepId,
      resumeSessionId: null,
      checkpoint: null,
      resumePrompt: null,
    });
    expect(step.preamble).toContain('was begun, and was interrupted when its machine was lost');
  });

  it('a lost script restarts without a preamble', async () => {
    await held({ agentId: 'agn_builtin_shell' });
    await lose();
    expect((await claim()).step).toMatchObject({ checkpoint: null, preamble: null });
  });
});

describe('checkpoints of a step', () => {
  it('a checkpoint is shown with its step, and replaced by a newer one', async () => {
    const one = await held();
    await keep(one);
    world.clock.turn(seconds(5));
    await keep(one, { commitSha: commit('b') }, 'another bundle');
    const [{ checkpoint }] = await stepsOf(one.runId);
    expect(checkpoint).toEqual({
      commitSha: commit('b'),
      createdAt: present(),
      artifactId: expect.stringMatching(/^art_/),
      artifact: {
        kind: 'file',
        caption: 'Checkpoint of step 1',
        contentType: 'application/x-git-bundle',
        sizeBytes: 14,
      },
    });
    const { body } = await world.rest('GET', `/artifacts?projectId=${projectId}`, { token: alice.token });
    expect(body.data.filter(({ caption }: Json) => caption === 'Checkpoint of step 1')).toHaveLength(
      (await world.knex('checkpoints').count())[0]!.count as number,
    );
    const run = await world.graphql(`{ run(runId: "${one.runId}") { artifacts { id } } }`, { token: alice.token });
    expect(run.body.data.run.artifacts).toEqual([]);
  });

  it('404, 409 · a checkpoint is refused for a step of another run and for a lost lease', async () => {
    const [one, two] = [await held(), await held()];
    const input = { runId: one.runId, leaseId: one.leaseId, contentKey: 'cnt_x', commitSha: commit('a') };
    expect(await runtime.ask('reportCheckpoint', { ...input, stepId: two.step.stepId })).toMatchObject({
      code: 'not_found',
    });
    const stolen = { ...input, leaseId: two.leaseId, stepId: one.step.stepId };
    expect(await runtime.ask('reportCheckpoint', stolen)).toMatchObject({ code: 'lease_lost' });
  });

  it('409 · a checkpoint is refused for a researcher, which must not change files', async () => {
    const { runId, leaseId, step } = await held();
    await world.knex('run_steps').where({ id: step.stepId }).update({ role: 'researcher' });
    const input = { runId, leaseId, stepId: step.stepId, contentKey: 'cnt_x', commitSha: commit('a') };
    expect(await runtime.ask('reportCheckpoint', input)).toMatchObject({
      code: 'conflict',
      description: 'A researcher must not change files, so no checkpoint is accepted from it.',
    });
  });

  it('a checkpoint of a canceled run is accepted from the runtime that had claimed it', async () => {
    const one = await held();
    await graphql('mutation ($runId: String!) { cancelRun(runId: $runId) { id } }', { runId: one.runId });
    await keep(one);
    expect((await stepsOf(one.runId))[0].checkpoint.commitSha).toBe(commit('a'));
  });
});

describe('continuing a run that has ended', () => {
  it('an ended run continues from its newest checkpoint, in the session of its agent', async () => {
    const one = await held();
    await keep(one);
    await end(one);
    const [{ id: stepId }] = await stepsOf(one.runId);
    const { body: before } = await world.rest('GET', `/runs/${one.runId}`, { token: alice.token });
    await graphql('mutation ($runId: String!) { followRun(runId: $runId) { id } }', { runId: one.runId });
    const next = await go(one.runId);
    expect(await world.knex('run_followers').where({ runId: next.id })).toHaveLength(1);
    expect(next).toEqual({
      id: expect.not.stringMatching(one.runId),
      status: 'dispatching',
      issueId: before.issueId,
      agentId,
      continuesStep: { id: stepId, runId: one.runId },
    });
    const reached = { orgId: alice.organization.id, milestoneId: 'checkpoints' };
    expect((await world.knex('setup_milestones').where(reached).first()).reachedAt).toBe(present());
    const claimed = await claim();
    expect(claimed).toMatchObject({
      runId: next.id,
      branch: `mission/${next.id}`,
      prompt: 'Make the date test pass.\n\n# What is to be done now\n\nNow in UTC.',
      step: {
        seq: 0,
        role: 'builder',
        agent: { name: 'Bob' },
        prompt: 'Now in UTC.',
        resumeSessionId: 'session-1',
        resumePrompt: null,
        checkpoint: { commitSha: commit('a') },
      },
    });
    expect(claimed.step.preamble).toContain('- builder, completed');
    expect(claimed.step.preamble).toContain('Make the date test pass.');
    // A run that was itself a continuation and was lost can be continued, too.
    await lose();
    expect((await claim()).step).toMatchObject({
      resumeSessionId: 'session-1',
      checkpoint: { commitSha: commit('a') },
    });
  });

  it('404, 409 · a run cannot be continued before its end, without a checkpoint, or by another organization', async () => {
    const one = await held();
    expect(await go(one.runId)).toMatchObject({ code: 'conflict', description: expect.stringContaining('not ended') });
    await end(one);
    const none = 'The run has no checkpoint: scripts create none, and checkpoints expire after 90 days.';
    expect(await go(one.runId)).toMatchObject({ code: 'conflict', description: none });
    const { stepId } = one.step;
    expect(await go(one.runId, { stepId })).toMatchObject({ description: none.replace('run', 'step') });
    expect(await go(one.runId, { stepId: 'stp_none' })).toMatchObject({ description: 'No such step.' });
    expect(await go(one.runId, {}, mallory.token)).toMatchObject({ code: 'not_found', description: 'No such run.' });
    const reader = await world.token(alice.person, alice.organization, { scopes: ['missions:read'] });
    expect(await go(one.runId, {}, reader)).toMatchObject({ code: 'missing_scope' });
  });

  it('409 · a run cannot be continued once its checkpoint has expired', async () => {
    const one = await held();
    await keep(one);
    await end(one);
    await world.knex('artifacts').update({ expires_at: present() });
    await sweepArtifacts();
    expect(await go(one.runId)).toMatchObject({ code: 'conflict' });
    expect((await stepsOf(one.runId))[0].checkpoint).toBeNull();
  });
});
