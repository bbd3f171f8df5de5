// Missions of several roles, from the view of a runtime and a person: planner, builder, reviewer and QA in turn, messages and
// decisions in between, lost runtimes, invalid output, and limits.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { harnesses, modelsByVendor } from '#domain/projects/agents/catalog.ts';
import { tokenPrices } from '#domain/work/mission-costs/prices.ts';
import { explainWaits, releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { knownRuntime, openWorld, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let mallory: Account;
let projectId: string;
let runtime: Runtime;
let asked = 0;

beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
  await world.knex('runtime_harnesses').whereNot({ runtime: knownRuntime }).delete();
  await world.knex('agents').delete();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const graphql = (query: string, variables: Record<string, unknown>, token = alice.token): Promise<Json> =>
  world.field(query, { token, variables });
const words = ({ code, description }: Json) => [code, description];

const step = 'step { stepId seq role agent { name harness } prompt outputSchema resumeSessionId }';
const claim = (more: object = {}) =>
  runtime.claim(more, `{ runId leaseId branch baseBranch budgetUsd stepTimeoutMs maxTurns agent { name } ${step} }`);
const finish = (held: Json, stepId: string, more: object = {}) =>
  runtime.ask(
    'finishStep',
    { runId: held.runId, leaseId: held.leaseId, stepId, status: 'completed', ...more },
    `{ outcome failure ${step} }`,
  );
const plan = { output: JSON.stringify({ steps: ['Read', 'Write'] }) };
const approve = { output: JSON.stringify({ verdict: 'approve', comments: [] }) };
const changes = {
  output: JSON.stringify({ verdict: 'request_changes', comments: [{ path: 'a.ts', line: 3, body: 'A typo.' }] }),
};
const passed = { output: JSON.stringify({ passed: true, findings: [] }) };

const agent = async (role: string, harness = 'claude-code', model = 'claude-sonnet-4-5') => {
  const body = {
    name: `${role} ${++asked}`,
    role,
    harness,
    model,
    sandbox: { kind: 'existing', templateId: 'standard' },
  };
  return (await world.rest('POST', '/agents', { token: alice.token, body })).body.id as string;
};
const team = async (...roles: string[]) => {
  for (const role of roles) await agent(role);
};
const start = (more: object = {}) => {
  world.clock.turn(1);
  return graphql(
    `mutation ($projectId: String!, $prompt: String!, $agentId: String, $planApproval: Boolean, $budgetUsd: Float) {
      startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId, planApproval: $planApproval, budgetUsd: $budgetUsd) { id }
    }`,
    { projectId, prompt: 'Make the date test pass.', ...more },
  );
};
const held = async (more: object = {}) => {
  await start(more);
  return claim();
};
const run = (runId: string): Promise<Json> =>
  graphql(
    `query ($runId: String!) { run(runId: $runId) { status reason lastError awaitsApproval interruptedAt missionCostUsd missionCostIncomplete
      steps { seq role round status output error costUsd inputTokens outputTokens sessionId }
      messages { kind text author deliveredAt acknowledgedAt } } }`,
    { runId },
  );
const beat = (held: Json, acknowledged?: string[]) =>
  runtime.beat(held, { acknowledged }, '{ desired messages { messageId text author questionId approved } }');
const say = (runId: string, text: string, more: object = {}, token = alice.token) =>
  graphql(
    'mutation ($runId: String!, $text: String!, $messageId: String) { sendMessage(runId: $runId, text: $text, messageId: $messageId) { id seq } }',
    { runId, text, ...more },
    token,
  );
const steer = (name: string, runId: string, token = alice.token) =>
  graphql(
    `mutation ($runId: String!) { ${name}(runId: $runId) { status awaitsApproval interruptedAt reason } }`,
    { runId },
    token,
  );
const texts = ({ messages }: Json) => messages.map(({ text }: Json) => text);

describe('the steps of a mission', () => {
  it('are planner, builder, reviewer, builder again, QA; each prompt has the earlier results', async () => {
    await team('planner', 'builder', 'reviewer', 'qa');
    const one = await held();
    expect(one).toMatchObject({
      branch: `mission/${one.runId}`,
      baseBranch: null,
      budgetUsd: 250,
      stepTimeoutMs: minutes(30),
      step: { seq: 0, role: 'planner', resumeSessionId: null, outputSchema: expect.stringContaining('steps') },
    });
    const build = await finish(one, one.step.stepId, plan);
    expect(build).toMatchObject({
      outcome: 'next',
      failure: null,
      step: { seq: 1, role: 'builder', outputSchema: null },
    });
    expect(build.step.prompt).toMatch(/^Make the date test pass\.[\s\S]*1\. Read\n2\. Write/);
    const review = await finish(one, build.step.stepId, { sessionId: 'session-1', turns: 4 });
    expect(review.step).toMatchObject({ seq: 2, role: 'reviewer', prompt: expect.stringContaining(one.branch) });
    const again = await finish(one, review.step.stepId, changes);
    expect(again.step).toMatchObject({ seq: 3, role: 'builder', resumeSessionId: 'session-1' });
    expect(again.step.prompt).toContain('a.ts:3: A typo.');
    const second = await finish(one, again.step.stepId, { sessionId: 'session-1' });
    const approved = async () => (await world.knex('runs').where({ id: one.runId }).first()).approvedSha;
    await world
      .knex('runs')
      .where({ id: one.runId })
      .update({ headSha: 'a'.repeat(40) });
    expect(await approved()).toBe(null);
    const test = await finish(one, second.step.stepId, approve);
    expect(await approved()).toBe('a'.repeat(40));
    expect(test.step).toMatchObject({ seq: 5, role: 'qa' });
    expect(await finish(one, test.step.stepId, passed)).toEqual({ outcome: 'done', failure: null, step: null });
    await runtime.finish(one);
    const { status, steps } = await run(one.runId);
    expect([status, steps.map(({ role, round, status: how }: Json) => `${role} ${round} ${how}`)]).toEqual([
      'completed',
      ['qa 2', 'reviewer 2', 'builder 2', 'reviewer 1', 'builder 1', 'planner 0'].map((line) => `${line} completed`),
    ]);
    expect(steps.at(-1).output).toEqual({ steps: ['Read', 'Write'] });
    const inOrder = '($runId: String!) { runSteps(runId: $runId) { data { role } } }';
    const listed = await graphql(`query ${inOrder}`, { runId: one.runId });
    expect(listed.data.map(({ role }: Json) => role)).toEqual(steps.map(({ role }: Json) => role).reverse());
    expect(words(await graphql(`query ${inOrder}`, { runId: one.runId }, mallory.token))[0]).toBe('not_found');
  });

  it('consist of one step for an organization without planner, reviewer and QA agents, for a named agent, and for a script', async () => {
    const alone = await held();
    expect(alone.step).toMatchObject({ role: 'builder', prompt: 'Make the date test pass.', outputSchema: null });
    expect(await finish(alone, alone.step.stepId)).toMatchObject({ outcome: 'done' });
    await runtime.finish(alone);
    const reviewer = await agent('reviewer');
    const named = await held({ agentId: reviewer });
    expect(named.step).toMatchObject({ role: 'reviewer', prompt: 'Make the date test pass.', outputSchema: null });
    expect(await finish(named, named.step.stepId)).toMatchObject({ outcome: 'done' });
    await runtime.finish(named);
    await start({ agentId: await agent('builder', 'shell', 'none') });
    const shell = await claim({ harnesses: ['shell'] });
    expect(shell.step).toMatchObject({ agent: { harness: 'shell' }, prompt: 'Make the date test pass.' });
    expect(words(await say(shell.runId, 'Hello'))).toEqual([
      'conflict',
      'The shell harness accepts no messages and cannot be interrupted.',
    ]);
    await runtime.finish(shell);
    expect((await run(shell.runId)).steps).toMatchObject([{ status: 'completed' }]);
  });

  it('are repeated once within the session after invalid output, and then fail with the reason', async () => {
    await team('planner', 'builder');
    const one = await held();
    const again = await finish(one, one.step.stepId, { output: '{"steps": "all"}', sessionId: 's' });
    expect(again).toMatchObject({ outcome: 'next', step: { seq: 1, role: 'planner', resumeSessionId: 's' } });
    expect(again.step.prompt).toContain('steps must be an array');
    expect(await finish(one, again.step.stepId, { output: 'no' })).toEqual({
      outcome: 'done',
      failure: 'The planner failed: Invalid output: output: is not JSON.',
      step: null,
    });
    // The failed step outweighs the runtime's report of success.
    await runtime.finish(one);
    await runtime.finish(one);
    expect(await run(one.runId)).toMatchObject({
      status: 'failed',
      reason: 'The planner failed: Invalid output: output: is not JSON.',
      steps: [{ status: 'failed' }, { status: 'failed', error: 'Invalid output: output: steps must be an array.' }],
    });
  });

  it.each([
    ['NUL', JSON.stringify({ steps: ['a\0b'] })],
    ['a lone surrogate', '{"steps": ["\\ud800"]}'],
    ['nothing', null],
    ['no steps', '{"steps": []}'],
  ])('refuse output with %s', async (_, output) => {
    await team('planner', 'builder');
    const one = await held();
    expect(await finish(one, one.step.stepId, { output })).toMatchObject({
      outcome: 'next',
      step: { role: 'planner' },
    });
  });

  it('end after three rounds of review', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    let next = one;
    for (let round = 1; round <= 3; round++) {
      next = await finish(one, next.step.stepId);
      next = await finish(one, next.step.stepId, changes);
    }
    expect(next).toEqual({ outcome: 'done', failure: 'The review requested changes 3 times.', step: null });
  });

  it('fail with the reason that their runtime reports', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const failed = await finish(one, one.step.stepId, { status: 'failed', error: 'The step took 200 turns.' });
    expect(failed).toMatchObject({ outcome: 'done', failure: 'The builder failed: The step took 200 turns.' });
  });

  it('answer repeated and concurrent reports in the same way', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const answers = await Promise.all(Array.from({ length: 4 }, () => finish(one, one.step.stepId)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await run(one.runId)).steps).toHaveLength(2);
    expect(words(await finish({ ...one, leaseId: 'lse_other' }, one.step.stepId))[0]).toBe('lease_lost');
    expect(words(await finish(one, 'stp_unknown'))[0]).toBe('not_found');
  });
});

describe('a step for another harness', () => {
  it('makes the run wait for a runtime that has this harness; the step after it goes to the first harness again', async () => {
    await team('builder');
    await agent('reviewer', 'codex', 'gpt-5.5');
    expect(await claim({ runtime: 'Runtime 2', harnesses: ['codex'] })).toBeNull();
    const one = await held();
    const handed = { outcome: 'handed_back', failure: null, step: null };
    expect(await finish(one, one.step.stepId, { sessionId: 's' })).toEqual(handed);
    expect(await finish(one, one.step.stepId, { sessionId: 's' })).toEqual(handed);
    expect(await beat(one)).toMatchObject({ desired: 'stop' });
    expect(await claim()).toBeNull();
    world.clock.turn(minutes(3));
    await explainWaits();
    expect((await run(one.runId)).reason).toBe('No runtime with the harness codex is connected.');
    const two = await claim({ runtime: 'Runtime 2', harnesses: ['codex'] });
    expect(two).toMatchObject({ runId: one.runId, step: { role: 'reviewer', agent: { harness: 'codex' } } });
    await claim();
    expect(await finish(two, two.step.stepId, changes)).toMatchObject({ outcome: 'handed_back' });
    expect((await claim()).step).toMatchObject({ seq: 2, role: 'builder', resumeSessionId: 's' });
  });

  it('may belong to a built-in agent if the project has turned its team on; without a team only the builder works', async () => {
    await team('builder', 'reviewer');
    const turn = async (hasTeam: boolean | null) => {
      const mutation =
        'mutation ($projectId: String!, $hasTeam: Boolean) { setProjectTeam(projectId: $projectId, hasTeam: $hasTeam) { hasTeam } }';
      expect(await graphql(mutation, { projectId, hasTeam })).toEqual({ hasTeam });
    };
    const teamOf = async () => {
      const { runId } = await held();
      const [{ team: agents }] = await world.knex('runs').where({ id: runId });
      await world.knex('runs').where({ id: runId }).update({ status: 'canceled' });
      return agents.map(({ role, agentId }: Json) => [role, agentId !== null]);
    };
    expect(await teamOf()).toEqual([
      ['builder', true],
      ['reviewer', true],
    ]);
    await turn(true);
    expect(await teamOf()).toEqual([
      ['planner', false],
      ['builder', true],
      ['reviewer', true],
      ['qa', false],
    ]);
    await turn(false);
    expect(await teamOf()).toEqual([['builder', true]]);
    await turn(null);
    expect(await teamOf()).toHaveLength(2);
  });

  it('makes the run wait even before the first step when the claiming runtime lacks the harness', async () => {
    await team('builder');
    await agent('planner', 'codex', 'gpt-5.5');
    await claim({ runtime: 'Runtime 2', harnesses: ['codex'] });
    expect(await held()).toBeNull();
    const one = await claim({ runtime: 'Runtime 2', harnesses: ['codex'] });
    expect(one.step).toMatchObject({ seq: 0, role: 'planner' });
    expect(await finish(one, one.step.stepId, plan)).toMatchObject({ outcome: 'handed_back' });
  });
});

describe('runtimes', () => {
  it('are shown with harnesses, versions, isolation and slots to the organizations they serve', async () => {
    const versions = [{ harness: 'claude-code', version: '2.1.330' }];
    const harnesses = ['claude-code', 'codex'];
    await claim({ runtime: 'Runtime 1', harnesses, versions, isolation: 'cell', places: 3 });
    await claim({ runtime: 'Runtime 1', harnesses, versions, isolation: 'none', places: 3 });
    world.clock.turn(minutes(1));
    await claim({ runtime: 'Runtime 2' });
    world.clock.turn(minutes(1.5));
    const list = (token = alice.token) =>
      graphql('{ runtimes { data { name isolation places isConnected harnesses { harness version } } } }', {}, token);
    const connected = async (token = alice.token) =>
      (await list(token)).data.filter(({ name }: Json) => name !== knownRuntime);
    expect(await connected()).toEqual([
      {
        name: 'Runtime 2',
        isolation: null,
        places: null,
        isConnected: true,
        harnesses: [{ harness: 'claude-code', version: null }],
      },
      {
        name: 'Runtime 1',
        isolation: 'none',
        places: 3,
        isConnected: false,
        harnesses: [...versions, { harness: 'codex', version: null }],
      },
    ]);
    expect(await connected(mallory.token)).toEqual([]);
  });

  it('report why a harness is not ready, and the runs that wait for it show the reason', async () => {
    await team('builder');
    const notice = 'Installing OpenCode 1.18.33 (45 %).';
    const scripts = { runtime: 'Runtime 1', harnesses: ['shell'], modelVendors: ['anthropic'] };
    await claim({ ...scripts, notice });
    const { id } = await start({ agentId: 'agn_builtin_builder' });
    await explainWaits();
    const reasonOf = async () => (await run(id)).reason;
    expect(await reasonOf()).toMatch(/^No runtime with the harness .* is connected\. Runtime 1: Installing OpenCode/);
    const query = '{ runtimes { data { name notice } } }';
    expect((await graphql(query, {}, alice.token)).data).toContainEqual({ name: 'Runtime 1', notice });
    await claim(scripts);
    await explainWaits();
    expect(await reasonOf()).not.toContain('Installing');
    expect((await graphql(query, {}, alice.token)).data).toContainEqual({ name: 'Runtime 1', notice: null });
    expect(words(await runtime.ask('claimRun', { ...scripts, notice: 'x'.repeat(301) }, '{ runId }'))).toEqual([
      'invalid_request',
      expect.stringContaining('notice'),
    ]);
  });
});

describe('a lost runtime', () => {
  const lose = async () => {
    world.clock.turn(seconds(61));
    await releaseSilentRuns();
  };

  it('leaves its step to the next claim, and its own late report is refused', async () => {
    await team('planner', 'builder', 'reviewer', 'qa');
    let one = await held();
    for (const output of [plan, {}, approve, passed]) {
      await lose();
      const again = await claim({ runtime: 'Runtime 2' });
      expect([again.runId, again.step]).toEqual([one.runId, one.step]);
      expect(words(await finish(one, one.step.stepId, output))[0]).toBe('lease_lost');
      const { outcome, step: next } = await finish(again, again.step.stepId, output);
      one = { ...again, step: next };
      expect(outcome).toBe(output === passed ? 'done' : 'next');
    }
  });

  it('leaves a finished last step to the next claim, which reports its end', async () => {
    await team('builder', 'qa');
    const one = await held();
    const { step: test } = await finish(one, one.step.stepId);
    await finish(one, test.stepId, passed);
    await lose();
    const again = await claim({ runtime: 'Runtime 2' });
    expect(again.step.stepId).toBe(test.stepId);
    expect(await finish(again, test.stepId, passed)).toMatchObject({ outcome: 'done' });
    await runtime.finish(again);
    expect((await run(one.runId)).status).toBe('completed');
  });
});

describe('approval of the plan', () => {
  const waiting = async () => {
    await team('planner', 'builder');
    const one = await held({ planApproval: true });
    expect(await finish(one, one.step.stepId, plan)).toEqual({ outcome: 'waiting', failure: null, step: null });
    return one;
  };

  it('keeps the run unclaimed until a person approves; then the builder begins', async () => {
    const one = await waiting();
    await explainWaits();
    expect(await run(one.runId)).toMatchObject({
      status: 'dispatching',
      awaitsApproval: true,
      reason: 'Waiting for a person to approve the plan.',
    });
    expect(await claim()).toBeNull();
    await say(one.runId, 'Leave the tests alone.');
    expect(words(await steer('approvePlan', one.runId, mallory.token))[0]).toBe('not_found');
    const both = await Promise.all([steer('approvePlan', one.runId), steer('approvePlan', one.runId)]);
    expect(both).toMatchObject([{ awaitsApproval: false }, { awaitsApproval: false }]);
    const two = await claim();
    expect(two.step).toMatchObject({ role: 'builder' });
    expect(texts(await beat(two))).toEqual(['Leave the tests alone.']);
    expect((await run(one.runId)).messages.map(({ kind, author }: Json) => [kind, author])).toEqual([
      ['approval', 'Alice'],
      ['message', 'Alice'],
    ]);
  });

  it('ends when the run is canceled, and is refused for a run without a plan', async () => {
    const one = await waiting();
    const [approved] = await Promise.all([steer('approvePlan', one.runId), steer('cancelRun', one.runId)]);
    expect([undefined, 'conflict']).toContain(words(approved)[0]);
    expect(await run(one.runId)).toMatchObject({ status: 'canceled', awaitsApproval: false });
    expect(await claim()).toBeNull();
    expect(words(await steer('approvePlan', one.runId))[0]).toBe('conflict');
    const two = await held();
    expect(words(await steer('approvePlan', two.runId))).toEqual([
      'conflict',
      'The run has no plan that waits for approval.',
    ]);
  });

  it('is a setting of the organization that a mission may override', async () => {
    const set = (planApproval: boolean) =>
      world.rest('PATCH', '/orchestrator', { token: alice.token, body: { planApproval } });
    expect((await set(true)).status).toBe(200);
    await team('planner', 'builder');
    const one = await held();
    expect(await finish(one, one.step.stepId, plan)).toMatchObject({ outcome: 'waiting' });
    const two = await held({ planApproval: false });
    expect(await finish(two, two.step.stepId, plan)).toMatchObject({ outcome: 'next' });
    await set(false);
  });
});

describe('a message to an agent', () => {
  it('is delivered in order until it is acknowledged, and stored with its author', async () => {
    const one = await held();
    expect(await beat(one)).toEqual({ desired: 'run', messages: [] });
    await Promise.all(['one', 'two', 'three'].map((text) => say(one.runId, text)));
    const { messages } = await beat(one);
    expect(texts({ messages }).sort()).toEqual(['one', 'three', 'two']);
    expect(messages[0].author).toBe('Alice');
    const ids = messages.map(({ messageId }: Json) => messageId);
    expect((await beat(one)).messages).toEqual(messages);
    expect((await beat(one, [ids[0], 'msg_unknown'])).messages).toEqual(messages.slice(1));
    expect((await beat(one, ids)).messages).toEqual([]);
    expect((await run(one.runId)).messages.map(({ text, acknowledgedAt }: Json) => [text, acknowledgedAt > 0])).toEqual(
      texts({ messages })
        .reverse()
        .map((text: string) => [text, true]),
    );
  });

  it('is requested by the runtime every second while an agent accepts messages; the lease is written every five seconds', async () => {
    const one = await held();
    const nextOf = ({ runId, leaseId }: Json) =>
      runtime.ask('heartbeat', { runs: [{ runId, leaseId }] }, '{ nextHeartbeatMs }');
    const version = async () =>
      (await world.knex.raw('select xmin::text from runs where id = ?', [one.runId])).rows[0].xmin;
    await beat(one);
    const before = await version();
    world.clock.turn(seconds(4));
    expect(await nextOf(one)).toEqual({ nextHeartbeatMs: 1_000 });
    expect(await version()).toBe(before);
    world.clock.turn(seconds(1));
    await beat(one);
    expect(await version()).not.toBe(before);
    await start({ agentId: await agent('builder', 'shell', 'none') });
    const shell = await claim({ runtime: 'Runtime 2', harnesses: ['shell'] });
    expect(await nextOf(shell)).toEqual({ nextHeartbeatMs: 10_000 });
  });

  it('is stored once for repeated sends with one id', async () => {
    const one = await held();
    const sent = await Promise.all([1, 2, 3].map(() => say(one.runId, 'Once', { messageId: 'a' })));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(texts(await beat(one))).toEqual(['Once']);
  });

  it('adds one more step in the same session when it is unread at the end of the work', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const review = await finish(one, one.step.stepId, { sessionId: 's' });
    await say(one.runId, 'Use the UTC helper instead.');
    const more = await finish(one, review.step.stepId, approve);
    expect(more).toMatchObject({ outcome: 'next', step: { role: 'builder', resumeSessionId: 's' } });
    expect(more.step.prompt).toBe('# Message from Alice\n\nUse the UTC helper instead.');
    expect((await beat(one)).messages).toEqual([]);
    expect((await finish(one, more.step.stepId)).step.role).toBe('reviewer');
  });

  it('is delivered or refused, never lost, when it is sent while the last step ends', async () => {
    const one = await held();
    const [said, ended] = await Promise.all([say(one.runId, 'Wait'), finish(one, one.step.stepId)]);
    expect(ended.outcome).toBe(said.code ? 'done' : 'next');
    if (ended.outcome === 'next') await finish(one, ended.step.stepId);
    expect(words(await say(one.runId, 'More'))).toEqual([
      'conflict',
      'The agents of the run have finished their work: the run is about to end.',
    ]);
    await runtime.finish(one);
    expect(words(await say(one.runId, 'More'))[1]).toContain('has ended (completed)');
  });

  it('is bounded, and requires a run within the caller’s reach', async () => {
    const one = await held();
    expect(words(await say(one.runId, ''))[0]).toBe('invalid_request');
    expect(words(await say(one.runId, 'x'.repeat(4_001)))[0]).toBe('invalid_request');
    expect(words(await say(one.runId, 'Hello', {}, mallory.token))[0]).toBe('not_found');
    const reader = await world.token(alice.person, alice.organization, { scopes: ['missions:read'] });
    expect(words(await say(one.runId, 'Hello', {}, reader))[0]).toBe('missing_scope');
    for (let i = 0; i < 100; i++) await say(one.runId, `${i}`);
    expect(words(await say(one.runId, 'More'))).toEqual([
      'conflict',
      'The run has 100 messages, which is the maximum.',
    ]);
    expect(texts(await beat(one))).toEqual(Array.from({ length: 10 }, (_, i) => `${i}`));
    // Answers and decisions are not delivered as messages, because the agent does not expect them.
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    const fragments = [
      { kind: 'elicitation', t: 4_000_000_000_000, body: 'May I?', action: 'ci.deploy', toolUseId: 'q' },
    ];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    const deny = `mutation ($runId: String!) { answerElicitation(runId: $runId, text: "", approve: false) { approved } }`;
    expect(await graphql(deny, { runId })).toEqual({ approved: false });
  });

  it('answers a question of the agent, once', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const answer = (text: string) =>
      graphql(
        'mutation ($runId: String!, $text: String!) { answerElicitation(runId: $runId, text: $text) { kind fragmentSeq } }',
        { runId, text },
      );
    expect(words(await answer('Yes'))).toEqual(['conflict', 'The agent has not asked this question.']);
    const sandboxId = await runtime.register(one);
    const fragments = [{ kind: 'elicitation', t: 1, body: 'May I?' }];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    expect(await answer('Yes')).toEqual({ kind: 'answer', fragmentSeq: 0 });
    expect(await answer('Yes')).toEqual({ kind: 'answer', fragmentSeq: 0 });
    expect(words(await answer('No'))).toEqual(['conflict', 'The question has already been answered.']);
    expect(texts(await beat(one))).toEqual(['Yes']);
  });

  it('decides about a tool call while its agent waits, with a reason', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    let seq = 0;
    const show = async (fragment: object) => {
      const fragments = [{ t: 1, ...fragment }];
      await runtime.ask('appendFragments', { sandboxId, leaseId, seq: seq++, fragments }, '{ nextSeq }');
    };
    const call = { action: 'ci.deploy', parameter: '{"to":"live"}' };
    await show({ kind: 'elicitation', body: 'May I call deploy?', toolUseId: 'q1', ...call });
    // The harness continues to report, and a message decides nothing.
    await show({ kind: 'thought', body: 'Hm.' });
    await say(runId, 'Careful');
    const asked = async () =>
      graphql('query ($r: String!) { run(runId: $r) { needs questions { seq text tool arguments choices } } }', {
        r: runId,
      });
    const question = {
      seq: 0,
      text: 'May I call deploy?',
      tool: 'ci.deploy',
      arguments: '{"to":"live"}',
      choices: null,
    };
    expect(await asked()).toEqual({ needs: 'decision', questions: [question] });
    const decide = (more: object) =>
      graphql(
        `mutation ($runId: String!, $text: String!, $approve: Boolean, $seq: Int) {
          answerElicitation(runId: $runId, text: $text, approve: $approve, seq: $seq) { text approved } }`,
        { runId, text: '', ...more },
      );
    expect(words(await decide({ text: 'Yes' }))).toEqual([
      'invalid_request',
      'approve: is required for a question about a tool call.',
    ]);
    expect(await decide({ approve: false, text: 'Not today' })).toEqual({ text: 'Not today', approved: false });
    expect(words(await decide({ approve: true }))).toEqual(['conflict', 'The question has already been answered.']);
    expect(await asked()).toEqual({ needs: null, questions: [] });
    expect((await beat(one)).messages).toMatchObject([
      { text: 'Careful', questionId: null, approved: null },
      { text: 'Not today', questionId: 'q1', approved: false },
    ]);
    await show({ kind: 'action', action: 'ci.deploy', toolUseId: 'q1', result: 'Denied', failed: true });
    await show({ kind: 'elicitation', t: 4_000_000_000_000, body: 'And now?', toolUseId: 'q2', choices: ['A', 'B'] });
    expect(await asked()).toMatchObject({ needs: 'answer', questions: [{ seq: 3, choices: ['A', 'B'], tool: null }] });
    expect(words(await decide({ approve: true, text: 'x' }))[1]).toBe(
      'approve: is only for a question about a tool call.',
    );
    expect(words(await decide({}))[1]).toBe('text: must not be empty for the answer to a question.');
    // The runtime has reported that its agent waits no longer.
    await show({ kind: 'elicitation', t: 4_000_000_000_001, body: 'May I?', toolUseId: 'q3', ...call });
    await show({ kind: 'action', action: 'ci.deploy', toolUseId: 'q3', result: 'Gone', failed: true });
    const late = await decide({ approve: true, seq: 4 });
    expect(words(late)).toEqual(['conflict', 'The agent no longer waits for the decision.']);
  });

  it('answers the named one of several questions, and a decision never applies to another call', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    const call = { kind: 'elicitation', body: 'May I?', action: 'ci.deploy' };
    const calls = ['a', 'b', 'c'].map((id, t) => ({ ...call, t, parameter: `{"to":"${id}"}`, toolUseId: id }));
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments: calls }, '{ nextSeq }');
    const decide = (more: object) =>
      graphql(
        `mutation ($runId: String!, $approve: Boolean, $seq: Int) {
          answerElicitation(runId: $runId, text: "", approve: $approve, seq: $seq) { fragmentSeq approved } }`,
        { runId, approve: true, ...more },
      );
    const several = ['conflict', 'seq: is required, because several questions wait: name one by sandboxId and seq.'];
    expect(words(await decide({}))).toEqual(several);
    expect(await decide({ seq: 2 })).toEqual({ fragmentSeq: 2, approved: true });
    expect(words(await decide({}))).toEqual(several);
    expect(await decide({ seq: 1 })).toEqual({ fragmentSeq: 1, approved: true });
    // A question that needs an answer in words waits as well.
    const inWords = { kind: 'elicitation', t: 9, body: 'Which?', toolUseId: 'd' };
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 3, fragments: [inWords] }, '{ nextSeq }');
    expect(words(await decide({ approve: false }))).toEqual(several);
    const end = { kind: 'action', t: 10, action: 'ask_person', toolUseId: 'd', result: 'A' };
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 4, fragments: [end] }, '{ nextSeq }');
    // The newest questions are decided, so the oldest one waits.
    expect(await decide({ approve: false })).toEqual({ fragmentSeq: 0, approved: false });
  });

  it('answers no question that was asked after the agent read it, even if a slow clock dates the question earlier', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    await say(runId, 'Use the new cart');
    const { messages } = await beat(one);
    const read = messages.map(({ messageId }: { messageId: string }) => messageId);
    await beat(one, read);
    const fragments = [{ kind: 'elicitation', t: 1, body: 'Which is new?', toolUseId: 'q1' }];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    const asked = 'query ($r: String!) { run(runId: $r) { needs questions { text } } }';
    expect(await graphql(asked, { r: runId })).toEqual({ needs: 'answer', questions: [{ text: 'Which is new?' }] });
  });
});

describe('the interruption of an agent', () => {
  it('reaches the agent with the heartbeat, until the run is resumed', async () => {
    const one = await held();
    expect(await steer('interruptRun', one.runId)).toMatchObject({
      status: 'running',
      interruptedAt: expect.any(Number),
    });
    await steer('interruptRun', one.runId);
    expect((await beat(one)).desired).toBe('interrupt');
    expect(await steer('resumeRun', one.runId)).toMatchObject({ interruptedAt: null });
    await steer('resumeRun', one.runId);
    expect((await beat(one)).desired).toBe('run');
    expect((await run(one.runId)).messages.map(({ kind }: Json) => kind)).toEqual(['resume', 'interrupt']);
    await steer('cancelRun', one.runId);
    expect(words(await steer('interruptRun', one.runId))[0]).toBe('conflict');
  });

  it('keeps a waiting run from being claimed', async () => {
    const { id } = await start();
    await steer('interruptRun', id);
    expect(await claim()).toBeNull();
    await steer('resumeRun', id);
    expect(await claim()).toMatchObject({ runId: id });
  });
});

describe('reported usage of a model', () => {
  const use = (one: Json, usageId: string, more: object = {}) =>
    runtime.ask('reportUsage', {
      runId: one.runId,
      leaseId: one.leaseId,
      usageId,
      stepId: one.step.stepId,
      sessionId: 'session-1',
      role: 'builder',
      model: 'claude-sonnet-4-5-20250929',
      inputTokens: 1_000_000,
      cachedInputTokens: 1_000_000,
      cacheWriteTokens: 1_000_000,
      outputTokens: 1_000_000,
      ...more,
    });

  it('is charged once at the vendor’s list price, on run and step', async () => {
    const one = await held();
    await Promise.all([use(one, 'a'), use(one, 'a'), use(one, 'b', { model: 'gpt-5-mini' })]);
    expect(await run(one.runId)).toMatchObject({
      missionCostUsd: 3 + 0.3 + 3.75 + 15 + (0.25 + 0.025 + 0.25 + 2),
      missionCostIncomplete: false,
      steps: [{ costUsd: 24.575, inputTokens: 2_000_000, outputTokens: 2_000_000, sessionId: 'session-1' }],
    });
    await use(one, 'c', { model: 'unknown-1' });
    expect(await run(one.runId)).toMatchObject({ missionCostUsd: 24.575, missionCostIncomplete: true });
    expect((await claim())?.runId).toBeUndefined();
  });

  it('ends a mission at its budget; usage that is reported later is still counted', async () => {
    const one = await held({ budgetUsd: 20 });
    expect(one.budgetUsd).toBe(20);
    await use(one, 'a');
    expect((await beat(one)).desired).toBe('stop');
    await use(one, 'b');
    expect(await run(one.runId)).toMatchObject({
      status: 'canceled',
      reason: 'The mission has cost 22.05 USD: its budget of 20.00 USD is used up.',
      missionCostUsd: 44.1,
      steps: [{ status: 'canceled' }],
    });
    expect(await finish(one, one.step.stepId)).toMatchObject({
      outcome: 'done',
      failure: expect.stringContaining('budget'),
    });
  });

  it('has a price for each model of the catalog, and for no other', () => {
    const models = [...Object.values(modelsByVendor), ...harnesses.map((harness) => harness.models)].flat();
    const chosen = new Set(models.map(({ id }) => id).filter((id) => id !== 'none'));
    expect(Object.keys(tokenPrices).sort()).toEqual([...chosen].sort());
  });
});
