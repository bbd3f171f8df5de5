// Limits of a whole mission, and minutes in its sandbox: each minute is charged once, and none beyond a limit. A mission that reaches a limit waits without a sandbox until the limit is raised.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { continueParkedRuns, releasePausedRuns } from '#domain/execution/runtime/minutes.ts';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import { bindInstancePrices } from '#domain/projects/instance-types/prices.ts';
import { bindMissionBounds } from '#domain/projects/sandbox-templates/mission-limits.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { missionLimits } from '#foundation/settings/mission-settings.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let owner: Account;
let runtime: Runtime;
let projectId: string;
let founded = 0;

const bounds = {
  maxMinutes: missionLimits.maxMinutes.default,
  maxModelCalls: missionLimits.maxModelCalls.default,
  maxTokens: missionLimits.maxTokens.default,
};

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  owner = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`);
  projectId = await createProject(world, owner, 'Shop');
  runtime = await createRuntime(world, owner.organization);
});
afterEach(() => {
  bindInstancePrices({});
  bindMissionBounds(bounds);
});

interface Held {
  runId: string;
  leaseId: string;
  stepId: string;
}
const start = (more: object = {}): Promise<Json> =>
  world.rest('POST', '/runs', { token: owner.token, body: { projectId, prompt: 'Fix it', ...more } });
async function claim(more: object = {}): Promise<Held | null> {
  const claimed = await runtime.claim({ modelVendors: ['anthropic'], ...more }, '{ runId leaseId step { stepId } }');
  return claimed && { runId: claimed.runId, leaseId: claimed.leaseId, stepId: claimed.step.stepId };
}
async function begin(more: object = {}): Promise<Held> {
  expect((await start(more)).status).toBe(201);
  return (await claim())!;
}
const look = async (runId: string): Promise<Json> => {
  const query = `query ($runId: String!) { run(runId: $runId) { status reason needs parkedBy parkedReason missionCostUsd
    sandboxMinutes sandboxCostUsd modelCalls maxMinutes maxModelCalls maxTokens steps { status } } }`;
  return (await world.graphql(query, { token: owner.token, variables: { runId } })).body.data.run;
};
const beat = async (held: Held): Promise<string> => (await runtime.beat(held)).desired;
/** Sends a heartbeat every ten seconds, as a runtime does. Returns the last response. */
async function beatFor(held: Held, lastsMs: number): Promise<string> {
  let desired = 'run';
  for (let passed = 0; passed < lastsMs && desired === 'run'; passed += seconds(10)) {
    world.clock.turn(seconds(10));
    desired = await beat(held);
  }
  return desired;
}
const setLimits = (runId: string, body: object): Promise<Json> =>
  world.rest('PUT', `/runs/${runId}/limits`, { token: owner.token, body });
const fail = (held: Held) =>
  runtime.report('finishStep', { ...held, status: 'failed', error: 'stopped' }, '{ outcome step { stepId } failure }');
const model = 'claude-haiku-4-5';
const reserve = ({ runId, leaseId }: Held, callId: string, outputTokens = 1_000): Promise<Json> =>
  runtime.report(
    'reserveModelCall',
    { runId, leaseId, callId, model, inputTokens: 1_000, outputTokens },
    '{ outputTokens reason }',
  );
const use = (held: Held, callId: string, tokens: object): Promise<Json> =>
  runtime.report('reportUsage', {
    ...held,
    usageId: callId,
    callId,
    model,
    inputTokens: 0,
    outputTokens: 0,
    ...tokens,
  });

describe('minutes of a sandbox', () => {
  it('a sandbox minute is charged when it begins, at the price of the instance type, as part of the mission’s cost', async () => {
    bindInstancePrices({ basic: 0.25, 'standard-1': 0.5 });
    const held = await begin({ instanceType: 'basic' });
    expect(await look(held.runId)).toMatchObject({ sandboxMinutes: 1, sandboxCostUsd: 0.25, missionCostUsd: 0.25 });
    expect(await beatFor(held, seconds(50))).toBe('run');
    expect((await look(held.runId)).sandboxMinutes).toBe(1);
    await Promise.all([beatFor(held, seconds(10)), beat(held), beat(held)]);
    expect(await look(held.runId)).toMatchObject({ sandboxMinutes: 2, sandboxCostUsd: 0.5, missionCostUsd: 0.5 });
    await reserve(held, 'a');
    await use(held, 'a', { outputTokens: 1_000 });
    expect(await look(held.runId)).toMatchObject({ missionCostUsd: 0.505, sandboxCostUsd: 0.5, modelCalls: 1 });
    await runtime.finish(held);
    await settleMissions();
    expect((await readPosition(owner.organization.id)).spendable).toBe(99.495 * credit);
    // Without a choice the instance type is standard-1.
    expect((await look((await begin()).runId)).sandboxCostUsd).toBe(0.5);
  });

  it('the prices of minutes are shown with the instance types', async () => {
    bindInstancePrices({ 'standard-4': 0.08 });
    const query =
      '{ agentCatalog { instanceTypes { id usdPerMinute } missionBounds { maxMinutes maxModelCalls maxTokens } } }';
    const { agentCatalog } = (await world.graphql(query, { token: owner.token })).body.data;
    expect(agentCatalog.instanceTypes.map((one: Json) => one.usdPerMinute)).toEqual([0, 0, 0, 0, 0.08]);
    expect(agentCatalog.missionBounds).toEqual(bounds);
  });

  it('a sandbox minute beyond the budget stops the agent; the mission waits without a sandbox until the budget is raised', async () => {
    bindInstancePrices({ 'standard-1': 0.04 });
    const held = await begin({ budgetUsd: 0.1 });
    expect(await beatFor(held, minutes(3))).toBe('stop');
    const parkedReason =
      'The mission has cost 0.08 of its budget of 0.10 USD. The next minute of the sandbox costs 0.04 USD; 0.02 USD are left.';
    const parked = { needs: 'budget', parkedBy: 'budget', parkedReason, sandboxMinutes: 2, missionCostUsd: 0.08 };
    expect(await look(held.runId)).toMatchObject({ ...parked, status: 'running' });
    // No model call is reserved until the run is handed back, and a raised budget does not revoke the order to stop.
    expect(await reserve(held, 'a')).toEqual({ outputTokens: 0, reason: parkedReason });
    await world.rest('PUT', `/runs/${held.runId}/budget`, { token: owner.token, body: { budgetUsd: 0.11 } });
    expect(await beat(held)).toBe('stop');
    expect(await fail(held)).toEqual({ outcome: 'handed_back', step: null, failure: null });
    const waiting = { status: 'dispatching', reason: parkedReason, steps: [{ status: 'waiting' }] };
    expect(await look(held.runId)).toMatchObject({ ...parked, ...waiting });
    await continueParkedRuns();
    expect(await claim()).toBeNull();
    const needy = (await world.graphql('{ runs(needsPerson: true) { data { id } } }', { token: owner.token })).body
      .data;
    expect(needy.runs.data).toEqual([{ id: held.runId }]);
    await world.rest('PUT', `/runs/${held.runId}/budget`, { token: owner.token, body: { budgetUsd: 1 } });
    // Nothing is charged while the mission waits.
    world.clock.turn(minutes(90));
    await continueParkedRuns();
    expect(await look(held.runId)).toMatchObject({ needs: null, parkedBy: null, parkedReason: null, reason: null });
    const again = (await claim())!;
    expect(again).toMatchObject({ runId: held.runId, stepId: held.stepId });
    expect(await beat(again)).toBe('run');
    expect(await look(held.runId)).toMatchObject({ status: 'running', sandboxMinutes: 3, missionCostUsd: 0.12 });
  });

  it('a sandbox minute beyond the daily cap or the credits stops the agent; a runtime that does not stop loses its lease', async () => {
    bindInstancePrices({ 'standard-1': 0.04 });
    await world.rest('PATCH', '/orchestrator', { token: owner.token, body: { dailyCostCapUsd: 0.1 } });
    const held = await begin();
    expect(await beatFor(held, minutes(3))).toBe('stop');
    expect(await look(held.runId)).toMatchObject({ parkedBy: 'cap', status: 'running' });
    world.clock.turn(seconds(31));
    await releaseSilentRuns();
    await releasePausedRuns();
    expect(await look(held.runId)).toMatchObject({ status: 'dispatching', needs: 'budget', parkedBy: 'cap' });
    expect((await fail(held).catch((error) => error)).message).toContain('lease_lost');
    await world.rest('PATCH', '/orchestrator', { token: owner.token, body: { dailyCostCapUsd: 1_000 } });
    bindInstancePrices({ 'standard-1': 60 });
    await continueParkedRuns();
    const again = (await claim())!;
    expect(await beatFor(again, minutes(2))).toBe('stop');
    expect(await look(held.runId)).toMatchObject({ parkedBy: 'credits', missionCostUsd: 60.08 });
  });

  it('a mission whose first minute would exceed the budget is not claimed', async () => {
    bindInstancePrices({ 'standard-1': 2 });
    const { id } = (await start({ budgetUsd: 1 })).body;
    expect(await claim()).toBeNull();
    expect(await look(id)).toMatchObject({
      status: 'dispatching',
      parkedBy: 'budget',
      sandboxMinutes: 0,
      missionCostUsd: 0,
    });
    expect(await claim()).toBeNull();
  });

  it('a script that reaches its limit of minutes is canceled, because a script cannot be continued', async () => {
    const { id } = (await start({ agentId: 'agn_builtin_shell', prompt: 'sleep 600', maxMinutes: 1 })).body;
    const held = (await claim({ harnesses: ['shell'] }))!;
    expect(await beatFor(held, minutes(2))).toBe('stop');
    const reason = 'The mission has used its sandbox for 1 minute, which is its limit.';
    expect(await look(id)).toMatchObject({ status: 'canceled', reason });
  });

  /** Pseudo-random numbers between 0 and 1 from a seed. */
  const random = (seed: number) => () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return seed / 2 ** 32;
  };

  it('sandbox minutes are charged exactly once, even when heartbeats are repeated, runtimes are lost, and runs are taken over or handed back', {
    timeout: 120_000,
  }, async () => {
    const price = 0.01;
    bindInstancePrices({ 'standard-1': price });
    for (let seed = 1; seed <= Number(process.env.HISTORIES ?? 3); seed++) {
      const next = random(seed);
      const budgetUsd = Math.round(5 + next() * 10) / 100;
      const { id } = (await start({ budgetUsd })).body;
      let held: Held | null = null;
      let [expected, until] = [0, 0];
      for (let i = 0; i < 60; i++) {
        if (!held) {
          held = await claim();
          if (held && now() >= until) [expected, until] = [expected + 1, now() + minutes(1)];
          if (!held) break;
        }
        const fate = next();
        if (fate < 0.8) {
          world.clock.turn(Math.round(1_000 + next() * 14_000));
          const answers = await Promise.all(Array.from({ length: 1 + Math.floor(next() * 3) }, () => beat(held!)));
          if (answers[0] === 'stop') break;
          if (now() >= until) [expected, until] = [expected + 1, Math.max(until, now() - minutes(1) + 1) + minutes(1)];
        } else if (fate < 0.9) {
          world.clock.turn(minutes(1) + Math.round(next() * minutes(2)));
          await releaseSilentRuns();
          held = null;
        } else {
          const { runId, leaseId } = held;
          await runtime.report('handBackRun', { runId, leaseId, reason: 'shutting down' });
          world.clock.turn(seconds(11));
          held = null;
        }
        const { sandboxMinutes, missionCostUsd } = await look(id);
        expect([seed, i, sandboxMinutes, missionCostUsd]).toEqual([
          seed,
          i,
          expected,
          Math.round(expected * price * 100) / 100,
        ]);
      }
      const [{ usd, rows }] = await world
        .knex('mission_costs')
        .where({ runId: id })
        .select(world.knex.raw('sum(usd) as usd, count(*)::int as rows'));
      expect([rows, Number(usd)]).toEqual([expected, Math.round(expected * price * 100) / 100]);
      expect(Number(usd)).toBeLessThanOrEqual(budgetUsd);
      await world.graphql(`mutation { cancelRun(runId: "${id}") { id } }`, { token: owner.token });
    }
  });
});

describe('limits of a mission', () => {
  it('a limit on minutes makes the mission wait until a person raises the limit', async () => {
    const held = await begin({ maxMinutes: 2 });
    expect(await beatFor(held, minutes(3))).toBe('stop');
    const parkedReason = 'The mission has used its sandbox for 2 minutes, which is its limit.';
    expect(await look(held.runId)).toMatchObject({ needs: 'limit', parkedBy: 'time', parkedReason, maxMinutes: 2 });
    await runtime.report('finishRun', { runId: held.runId, leaseId: held.leaseId, status: 'failed', error: 'stopped' });
    expect(await look(held.runId)).toMatchObject({ status: 'dispatching', reason: parkedReason });
    const notices = await world.rest('GET', '/notices', {
      token: await world.token(owner.person, owner.organization, { scopes: ['setup:read', 'missions:run'] }),
    });
    expect(JSON.stringify(notices.body)).toContain('has reached a limit');
    expect((await setLimits(held.runId, { maxMinutes: 1 })).body.description).toBe(
      'maxMinutes: must be at least 2, the amount that the run has used.',
    );
    expect((await setLimits(held.runId, { maxMinutes: 3 })).status).toBe(200);
    await continueParkedRuns();
    expect(await claim()).toMatchObject({ runId: held.runId });
  });

  it('a limit on model calls makes the next call wait; a call that the vendor has refused does not count', async () => {
    const held = await begin({ maxModelCalls: 1 });
    expect(await reserve(held, 'a')).toEqual({ outputTokens: 1_000, reason: null });
    const reason = 'The mission has made 1 of at most 1 model calls.';
    expect(await reserve(held, 'b')).toEqual({ outputTokens: 0, reason });
    await use(held, 'a', {});
    expect(await reserve(held, 'b')).toEqual({ outputTokens: 1_000, reason: null });
    await use(held, 'b', { outputTokens: 10 });
    expect(await reserve(held, 'c')).toEqual({ outputTokens: 0, reason });
    expect(await look(held.runId)).toMatchObject({ needs: 'limit', parkedBy: 'model_calls', modelCalls: 1 });
    expect((await setLimits(held.runId, { maxModelCalls: 2 })).status).toBe(200);
    expect(await reserve(held, 'c')).toEqual({ outputTokens: 1_000, reason: null });
    expect(await look(held.runId)).toMatchObject({ needs: null, parkedBy: null, modelCalls: 2 });
  });

  it('a limit on model calls counts calls that were reported without a reservation, but not calls refused because their model has no price', async () => {
    const held = await begin({ maxModelCalls: 2 });
    await use(held, 'x', { callId: null, outputTokens: 10 });
    const { runId, leaseId } = held;
    const unpriced = { runId, leaseId, callId: 'a', model: 'unpriced', inputTokens: 1, outputTokens: 1 };
    expect(await runtime.ask('reserveModelCall', unpriced, '{ outputTokens }')).toMatchObject({
      ...{ code: 'conflict' },
      description: 'The model unpriced has no price: add it with its prices to a model connector.',
    });
    expect((await look(runId)).modelCalls).toBe(1);
    expect(await reserve(held, 'b')).toMatchObject({ outputTokens: 1_000 });
    expect(await reserve(held, 'c')).toMatchObject({ outputTokens: 0 });
  });

  it('a limit on tokens shortens the answer of a model to the tokens that are left, then makes the next call wait', async () => {
    const held = await begin({ maxTokens: 10_000 });
    expect(await reserve(held, 'a', 4_000)).toMatchObject({ outputTokens: 4_000 });
    expect(await reserve(held, 'b', 9_000)).toMatchObject({ outputTokens: 6_000 });
    expect((await reserve(held, 'c')).reason).toBe(
      'The mission has used 0 of at most 10,000 tokens, in addition to 10,000 of calls in progress.',
    );
    await use(held, 'a', { inputTokens: 500, cachedInputTokens: 500, outputTokens: 1_000 });
    await use(held, 'b', { outputTokens: 6_000 });
    expect(await reserve(held, 'c', 4_000)).toMatchObject({ outputTokens: 2_000 });
    await use(held, 'c', { inputTokens: 1_500, outputTokens: 1_000 });
    expect((await reserve(held, 'd')).reason).toBe('The mission has used 10,500 of at most 10,000 tokens.');
    expect(await look(held.runId)).toMatchObject({ needs: 'limit', parkedBy: 'tokens' });
    expect((await setLimits(held.runId, { maxTokens: 10_400 })).status).toBe(400);
    expect((await setLimits(held.runId, { maxTokens: 12_000 })).status).toBe(200);
    expect(await reserve(held, 'd')).toMatchObject({ outputTokens: 1_000 });
  });

  it('a limit is set by the request that starts the mission, or else by its sandbox template; no limit exceeds the maximum of the installation', async () => {
    const body = { name: 'Short', maxMinutes: 30, maxModelCalls: 40, maxTokens: 50_000 };
    const template = await world.rest('POST', '/sandbox-templates', { token: owner.token, body });
    expect([template.status, template.body]).toMatchObject([201, body]);
    const chosen = { defaultSandboxTemplateId: template.body.id };
    await world.rest('PATCH', `/projects/${projectId}`, { token: owner.token, body: chosen });
    const held = await begin({ maxModelCalls: 7 });
    expect(await look(held.runId)).toMatchObject({ maxMinutes: 30, maxModelCalls: 7, maxTokens: 50_000 });
    bindMissionBounds({ maxMinutes: 1, maxModelCalls: 5, maxTokens: 60_000 });
    expect(await beatFor(held, minutes(2))).toBe('stop');
    expect((await look(held.runId)).parkedBy).toBe('time');
    const refused = { maxModelCalls: 6 };
    const description = 'maxModelCalls: must be at most 5, the maximum of this installation.';
    const answers = [
      await start(refused),
      await setLimits(held.runId, refused),
      await world.rest('PATCH', `/sandbox-templates/${template.body.id}`, { token: owner.token, body: refused }),
      await world.rest('POST', '/sandbox-templates', { token: owner.token, body: { name: 'Long', ...refused } }),
    ];
    expect(answers.map(({ status, body: problem }) => [status, problem.description])).toEqual(
      answers.map(() => [400, description]),
    );
  });

  it('400, 404, 409 · an invalid limit is refused, and the error names its field', async () => {
    const held = await begin();
    for (const [body, words] of [
      [{ maxMinutes: 0 }, 'maxMinutes'],
      [{ maxModelCalls: 0 }, 'maxModelCalls'],
      [{ maxTokens: 999 }, 'maxTokens'],
      [{ maxTokens: 1_000.5 }, 'maxTokens'],
    ] as const) {
      for (const { status, body: problem } of [await start(body), await setLimits(held.runId, body)])
        expect([status, problem.description]).toEqual([400, expect.stringContaining(words)]);
    }
    expect((await setLimits(held.runId, {})).status).toBe(200);
    const stranger = await createOwner(world, `Mallory-${founded}`, `Globex ${founded}`);
    const other = await world.rest('PUT', `/runs/${held.runId}/limits`, {
      token: stranger.token,
      body: { maxMinutes: 9 },
    });
    expect(other.status).toBe(404);
    await runtime.finish(held);
    expect((await setLimits(held.runId, { maxMinutes: 9 })).status).toBe(409);
  });
});
