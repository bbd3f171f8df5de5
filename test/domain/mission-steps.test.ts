// Missions with several roles, as a runtime and a person see them: planner, builder, reviewer and QA work one after the other. Other tests
// return invalid output, use other harnesses, lose a runtime, or approve a plan.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { explainWaits, releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { approve, type Json, openStepWorld, texts, words } from '../support/mission-steps.ts';
import { knownRuntime } from '../support/world.ts';

const {
  world,
  alice,
  mallory,
  projectId,
  runtime,
  graphql,
  claim,
  finish,
  agent,
  team,
  start,
  held,
  run,
  beat,
  say,
  steer,
  close,
  reset,
} = await openStepWorld();
afterAll(close);
beforeEach(reset);

const plan = { output: JSON.stringify({ steps: ['Read', 'Write'] }) };
const changes = {
  output: JSON.stringify({ verdict: 'request_changes', comments: [{ path: 'a.ts', line: 3, body: 'A typo.' }] }),
};
const passed = { output: JSON.stringify({ passed: true, findings: [] }) };

describe('steps of a mission', () => {
  it('a mission goes from planner to builder, reviewer, builder again and QA; each prompt contains the earlier results', async () => {
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

  it('a mission has only one step when the team has no planner, reviewer or QA, when the mission names an agent, or when it is a script', async () => {
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

  it('a step with invalid output is repeated once in its session, and then fails with the reason', async () => {
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
  ])('a step is repeated when its output contains %s', async (_, output) => {
    await team('planner', 'builder');
    const one = await held();
    expect(await finish(one, one.step.stepId, { output })).toMatchObject({
      outcome: 'next',
      step: { role: 'planner' },
    });
  });

  it('a mission fails after three rounds of review', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    let next = one;
    for (let round = 1; round <= 3; round++) {
      next = await finish(one, next.step.stepId);
      next = await finish(one, next.step.stepId, changes);
    }
    expect(next).toEqual({ outcome: 'done', failure: 'The review requested changes 3 times.', step: null });
  });

  it('a step fails with the reason that its runtime reports', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const failed = await finish(one, one.step.stepId, { status: 'failed', error: 'The step took 200 turns.' });
    expect(failed).toMatchObject({ outcome: 'done', failure: 'The builder failed: The step took 200 turns.' });
  });

  it('repeated and concurrent reports of a step get the same answer', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const answers = await Promise.all(Array.from({ length: 4 }, () => finish(one, one.step.stepId)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await run(one.runId)).steps).toHaveLength(2);
    expect(words(await finish({ ...one, leaseId: 'lse_other' }, one.step.stepId))[0]).toBe('lease_lost');
    expect(words(await finish(one, 'stp_unknown'))[0]).toBe('not_found');
  });
});

describe('steps for another harness', () => {
  it('a run waits for a runtime with the harness of its next step; the step after it returns to the first harness', async () => {
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

  it('the team setting of a project adds built-in agents for missing roles, or leaves only the builder', async () => {
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

  it('a run waits before its first step when the claiming runtime lacks the harness', async () => {
    await team('builder');
    await agent('planner', 'codex', 'gpt-5.5');
    await claim({ runtime: 'Runtime 2', harnesses: ['codex'] });
    expect(await held()).toBeNull();
    const one = await claim({ runtime: 'Runtime 2', harnesses: ['codex'] });
    expect(one.step).toMatchObject({ seq: 0, role: 'planner' });
    expect(await finish(one, one.step.stepId, plan)).toMatchObject({ outcome: 'handed_back' });
  });
});

describe('runtimes of an organization', () => {
  it('runtimes are shown with harnesses, versions, isolation and slots to the organizations that they serve', async () => {
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

  it('a runtime reports why a harness is not ready, and the runs that wait for this harness show the reason', async () => {
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

describe('lost runtimes', () => {
  const lose = async () => {
    world.clock.turn(seconds(61));
    await releaseSilentRuns();
  };

  it('the step of a lost runtime goes to the next claim, and a late report of the lost runtime is refused', async () => {
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

  it('another runtime ends a run whose last step was finished by a lost runtime', async () => {
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

  it('a run with a plan is not claimed until a person approves it; then the builder begins', async () => {
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

  it('a plan cannot be approved once its run is canceled, and a run without a plan cannot be approved', async () => {
    const one = await waiting();
    const [approved] = await Promise.all([steer('approvePlan', one.runId), steer('cancelRun', one.runId)]);
    expect([undefined, 'conflict']).toContain(words(approved)[0]);
    expect(await run(one.runId)).toMatchObject({ status: 'canceled', awaitsApproval: false });
    expect(await claim()).toBeNull();
    expect(words(await steer('approvePlan', one.runId))[0]).toBe('conflict');
    const two = await held();
    expect(words(await steer('approvePlan', two.runId))).toEqual([
      'conflict',
      'The run has no plan that is awaiting approval.',
    ]);
  });

  it('the organization’s setting for plan approval can be overridden by a mission', async () => {
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
