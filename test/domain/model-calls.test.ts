// Model calls are reserved before they are made: what vendors are paid for a mission stays within its budget, the credits and the
// daily cost cap of its organization, whatever runtimes do. claude-haiku-4-5 costs 1 USD a million tokens of input (1.25 written to
// the cache) and 5 USD a million of output.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleMissions, stopExhaustedMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { mailNotices } from '#domain/lifecycle/notices/mails.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { days, minutes } from '#foundation/clock.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let acme: Organization;
let owner: Awaited<ReturnType<World['person']>>;
let alice: string;
let runtime: Runtime;
let projectId: string;
let founded = 0;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({
    person: owner,
    organization: acme,
    token: alice,
  } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
  runtime = await createRuntime(world, acme);
  projectId = await createProject(world, { token: alice }, 'Shop');
});

interface Held {
  runId: string;
  leaseId: string;
  stepId: string;
}
const createBudget = async (subject: object, amountUsd: number, period = 'month'): Promise<Json> => {
  const { body, status } = await world.rest('POST', '/budgets', {
    token: alice,
    body: { ...subject, period, amountUsd },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};
const daily = (id: string) => ({
  ...{ projectId: id, name: 'Tidy', prompt: 'Tidy up.' },
  triggers: [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }],
});
const budgetsOf = async (): Promise<Json> => (await world.rest('GET', '/budgets', { token: alice })).body.data;

async function startMission(budgetUsd: number | null): Promise<Held> {
  const query = `mutation ($projectId: String!, $budgetUsd: Float) {
    startMission(projectId: $projectId, prompt: "Fix it", budgetUsd: $budgetUsd) { id } }`;
  const { body } = await world.graphql(query, { token: alice, variables: { projectId, budgetUsd } });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  const claimed = await runtime.claim({ modelVendors: ['anthropic'] }, '{ runId leaseId step { stepId } }');
  return { runId: claimed.runId, leaseId: claimed.leaseId, stepId: claimed.step.stepId };
}
const model = 'claude-haiku-4-5';
const reserve = ({ runId, leaseId }: Held, callId: string, inputTokens: number, outputTokens: number): Promise<Json> =>
  runtime.report(
    'reserveModelCall',
    { runId, leaseId, callId, model, inputTokens, outputTokens },
    '{ outputTokens reason }',
  );
const settle = (held: Held, callId: string, inputTokens: number, outputTokens: number): Promise<Json> =>
  runtime.report('reportUsage', { ...held, usageId: callId, callId, model, inputTokens, outputTokens });
const look = async (runId: string): Promise<Json> => {
  const query = `query ($runId: String!) { run(runId: $runId) { status needs parkedBy parkedReason missionCostUsd missionCostIncomplete } }`;
  return (await world.graphql(query, { token: alice, variables: { runId } })).body.data.run;
};
const setBudget = (runId: string, budgetUsd: number) =>
  world.rest('PUT', `/runs/${runId}/budget`, { token: alice, body: { budgetUsd } });

describe('model calls', () => {
  it('a claim returns the ceiling for the model calls of the run: the mission’s budget or the maximum of the organization’s plan, whichever is lower', async () => {
    // The plan of a new organization lets a mission cost 250 USD.
    const query = `mutation { startMission(projectId: "${projectId}", prompt: "Fix it", budgetUsd: 9000) { id } }`;
    await world.graphql(query, { token: alice });
    await world.grant(acme, 10_000);
    await world.rest('PATCH', '/orchestrator', { token: alice, body: { dailyCostCapUsd: 10_000 } });
    const claimed = await runtime.claim({ modelVendors: ['anthropic'] }, '{ runId leaseId budgetUsd }');
    expect(claimed.budgetUsd).toBe(250);
    const { reason } = await reserve(claimed, 'a', 400_000_000, 1);
    expect(reason).toContain('of its budget of 250.00 USD');
  });

  it('a model call gets the output limit that it requests, or less when the budget is nearly used up', async () => {
    const held = await startMission(0.1);
    // The call costs at most 0.0125 + 0.05 USD.
    expect(await reserve(held, 'a', 10_000, 10_000)).toEqual({ outputTokens: 10_000, reason: null });
    // 0.0375 USD is left, of which the input takes 0.0125.
    expect(await reserve(held, 'b', 10_000, 10_000)).toEqual({ outputTokens: 5_000, reason: null });
    expect((await look(held.runId)).needs).toBe(null);
  });

  it('a repeated reservation of a model call gets the same answer', async () => {
    const held = await startMission(0.1);
    const calls = await Promise.all([0, 1, 2].map(() => reserve(held, 'a', 10_000, 10_000)));
    expect(calls).toEqual([0, 1, 2].map(() => ({ outputTokens: 10_000, reason: null })));
    await settle(held, 'a', 10_000, 1_000);
    expect(await reserve(held, 'b', 10_000, 10_000)).toMatchObject({ outputTokens: 10_000 });
  });

  it('a model call that exceeds the budget waits until a person raises the budget', async () => {
    const held = await startMission(0.02);
    await reserve(held, 'a', 1_000, 2_000);
    await settle(held, 'a', 1_000, 2_000);
    const { outputTokens, reason } = await reserve(held, 'b', 10_000, 4_000);
    expect(outputTokens).toBe(0);
    expect(reason).toBe(
      'The mission has cost 0.01 of its budget of 0.02 USD. The next model call may cost 0.02 USD; 0.01 USD are left.',
    );
    expect(await look(held.runId)).toMatchObject({ status: 'running', needs: 'budget', parkedBy: 'budget' });
    const listed = (await world.graphql('{ runs(needsPerson: true) { data { id } } }', { token: alice })).body.data;
    expect(listed.runs.data).toEqual([{ id: held.runId }]);
    const reader = await world.token(owner, acme, { scopes: ['setup:read', 'missions:run'] });
    const notices = await world.rest('GET', '/notices', { token: reader });
    expect(JSON.stringify(notices.body)).toContain('waits for money');
    expect((await setBudget(held.runId, 0.0105)).body.description).toContain('budgetUsd');
    expect((await setBudget(held.runId, 1)).status).toBe(200);
    expect(await reserve(held, 'b', 10_000, 4_000)).toEqual({ outputTokens: 4_000, reason: null });
    expect(await look(held.runId)).toMatchObject({ needs: null, parkedBy: null, parkedReason: null });
  });

  it('a model call waits for credits, and no other mission spends the reserved ones', async () => {
    await world.rest('PATCH', '/orchestrator', { token: alice, body: { dailyCostCapUsd: 1_000 } });
    const held = await startMission(null);
    // The trial of 100 credits: 99.7 are reserved, and the rest is too little.
    expect(await reserve(held, 'a', 1_000, 19_939_750)).toMatchObject({ reason: null });
    expect((await readPosition(acme.id)).spendable / credit).toBeLessThan(0.31);
    expect(await reserve(held, 'b', 1_000_000, 1_000)).toMatchObject({ outputTokens: 0 });
    expect(await look(held.runId)).toMatchObject({ needs: 'budget', parkedBy: 'credits' });
    await settleMissions();
    await stopExhaustedMissions();
    expect((await look(held.runId)).status).toBe('running');
    await world.grant(acme, 5);
    expect(await reserve(held, 'b', 1_000_000, 1_000)).toEqual({ outputTokens: 1_000, reason: null });
  });

  it('a model call that exceeds the daily cost cap of the organization waits', async () => {
    await world.rest('PATCH', '/orchestrator', { token: alice, body: { dailyCostCapUsd: 0.05 } });
    const [one, two] = [await startMission(null), await startMission(null)];
    expect(await reserve(one, 'a', 1_000, 9_000)).toMatchObject({ reason: null });
    expect(await reserve(two, 'a', 1_000, 9_000)).toMatchObject({ outputTokens: 0 });
    expect(await look(two.runId)).toMatchObject({ parkedBy: 'cap' });
    await settle(one, 'a', 1_000, 10);
    expect(await reserve(two, 'a', 1_000, 9_000)).toMatchObject({ outputTokens: 9_000 });
  });

  it('a model call waits while the budget of its project is used up, until somebody raises the budget; the reason names the budget', async () => {
    const { id } = await createBudget({ subject: 'project', projectId }, 0.05);
    const [one, two] = [await startMission(null), await startMission(null)];
    expect(await reserve(one, 'a', 1_000, 9_000)).toMatchObject({ reason: null });
    const { outputTokens, reason } = await reserve(two, 'a', 1_000, 9_000);
    expect([outputTokens, reason]).toEqual([
      0,
      'Missions have cost 0.00 of the monthly budget of 0.05 USD of the project “Shop”. The next model call may cost 0.01 USD; 0.00 USD are left.',
    ]);
    expect(await look(two.runId)).toMatchObject({
      needs: 'budget',
      parkedBy: 'shared_budget',
      parkedReason: expect.stringContaining('monthly budget'),
    });
    const { status, body } = await world.rest('PATCH', `/budgets/${id}`, { token: alice, body: { amountUsd: 1 } });
    expect([status, body.amountUsd]).toEqual([200, 1]);
    expect(await reserve(two, 'a', 1_000, 9_000)).toMatchObject({ outputTokens: 9_000 });
    expect((await look(two.runId)).needs).toBe(null);
  });

  it('when a person’s daily budget is spent, model calls of their missions wait until the next UTC day; budgets of other people do not matter', async () => {
    const { person: other } = await createMember(world, acme, `Carol-${founded}`, 'member');
    const otherProjectId = await createProject(world, { token: alice }, 'Other', {
      repoFullName: `acme/other-${founded}`,
    });
    await createBudget({ subject: 'person', userId: other.id }, 0.01);
    await createBudget({ subject: 'project', projectId: otherProjectId }, 0.01);
    await createBudget({ subject: 'person', userId: owner.id }, 0.05, 'day');
    const held = await startMission(null);
    await reserve(held, 'a', 1_000, 9_000);
    await settle(held, 'a', 1_000, 9_000);
    expect((await reserve(held, 'b', 1_000, 9_000)).reason).toContain(
      `0.05 of the daily budget of 0.05 USD of Alice-${founded}.`,
    );
    const start = 'mutation ($projectId: String!) { startMission(projectId: $projectId, prompt: "Next") { id } }';
    // 0.046 of 0.05 USD is spent, so a mission may still start.
    expect((await world.graphql(start, { token: alice, variables: { projectId } })).body.errors).toBeUndefined();
    const rows = await budgetsOf();
    rows.sort((a: Json, b: Json) => a.spentUsd - b.spentUsd || a.subject.localeCompare(b.subject));
    expect(rows.map(({ subjectName, spentUsd }: Json) => [subjectName, spentUsd])).toEqual([
      [`Carol-${founded}`, 0],
      ['Other', 0],
      [`Alice-${founded}`, 0.046],
    ]);
    expect(rows[2].periodEnd - rows[2].periodStart).toBe(days(1));
    world.clock.turn(days(1));
    expect(await reserve(held, 'b', 1_000, 9_000)).toMatchObject({ outputTokens: 9_000 });
  });

  it('a mission does not start once a budget is used up', async () => {
    await createBudget({ subject: 'organization' }, 0.05);
    const held = await startMission(null);
    const report = { ...held, usageId: 'a', model, inputTokens: 0, outputTokens: 10_000 };
    await runtime.report('reportUsage', report);
    const reason =
      /^The monthly budget of 0.05 USD of the organization is used up: missions have cost 0.05 USD since \d{4}-\d\d-01 UTC.$/;
    const refused = await world.rest('POST', '/runs', { token: alice, body: { projectId, prompt: 'Next' } });
    expect([refused.status, refused.body.code]).toEqual([402, 'budget_exhausted']);
    expect(refused.body.description).toMatch(reason);
    const task = await world.rest('POST', '/scheduled-tasks', { token: alice, body: daily(projectId) });
    await world.knex('recurringMissions').where({ id: task.body.id }).update({ nextRunAt: 1 });
    await dispatchDue();
    const { body } = await world.rest('GET', `/scheduled-tasks/${task.body.id}/runs`, { token: alice });
    expect(body.data[0]).toMatchObject({ status: 'skipped', reason: expect.stringMatching(reason) });
  });

  it('a budget causes a notice and a mail at 80 and at 100 percent, once each', async () => {
    const { id } = await createBudget({ subject: 'organization' }, 0.05);
    const reader = await world.token(owner, acme, { scopes: ['setup:read', 'orchestrator:read'] });
    const titles = async () =>
      (await world.rest('GET', '/notices', { token: reader })).body.notices
        .filter((one: Json) => one.id.includes(id))
        .map((one: Json) => one.title);
    const mails = async () => {
      world.clock.turn(minutes(6));
      await mailNotices();
      const rows = await world.knex('notice_mails').where({ orgId: acme.id }).whereLike('notice_id', 'budget_%');
      return rows.map((row: Json) => row.noticeId.split(':')[0]).sort();
    };
    const held = await startMission(null);
    const spend = (usageId: string, outputTokens: number) =>
      runtime.report('reportUsage', { ...held, usageId, model, inputTokens: 0, outputTokens });
    await spend('a', 7_000);
    expect([await titles(), await mails()]).toEqual([[], []]);
    await spend('b', 1_000);
    expect(await titles()).toEqual(['The monthly budget of 0.05 USD of the organization is almost used up']);
    expect([await mails(), await mails()]).toEqual([['budget_80'], ['budget_80']]);
    await spend('c', 2_000);
    expect(await titles()).toEqual(['The monthly budget of 0.05 USD of the organization is used up']);
    expect(await mails()).toEqual(['budget_100', 'budget_80']);
  });

  it('a model call is refused for a canceled run, another lease or another organization', async () => {
    const held = await startMission(1);
    const refused = async (input: Held) => (await reserve(input, 'x', 1, 1).catch((error) => error.message)) as string;
    expect(await refused({ ...held, leaseId: 'lse_other' })).toContain('lease');
    const { organization: stranger } = await createOwner(world, `Bob-${founded}`, `Other ${founded}`);
    runtime = await createRuntime(world, stranger);
    expect(await refused(held)).toContain('No such run');
    runtime = await createRuntime(world, acme);
    await world.graphql(`mutation { cancelRun(runId: "${held.runId}") { id } }`, { token: alice });
    expect(await refused(held)).toContain('lease');
  });

  it('a model call that is never reported counts against the budget until the run ends, and marks the cost as incomplete', async () => {
    const held = await startMission(0.1);
    await reserve(held, 'lost', 10_000, 15_000);
    expect(await reserve(held, 'b', 10_000, 1_024)).toMatchObject({ outputTokens: 0 });
    await runtime.finish(held);
    await settleMissions();
    expect(await look(held.runId)).toMatchObject({ missionCostUsd: 0, missionCostIncomplete: true });
    expect(await world.knex('model_calls').where({ runId: held.runId })).toEqual([]);
    expect((await readPosition(acme.id)).spendable).toBe(100 * credit);
  });
});

describe('the sum that vendors are paid', () => {
  /** Pseudo-random numbers between 0 and 1 from a seed. */
  const random = (seed: number) => () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return seed / 2 ** 32;
  };
  const histories = Number(process.env.HISTORIES ?? 3);
  const price = (input: number, output: number) => Math.ceil(input * 1.25) + output * 5;

  /** Calls that the service has refused because the organization has too many calls at once, in order. */
  const refused: (() => void)[] = [];
  /** Sends a refused call again, as a gateway does, once the service has answered another one. */
  async function again<T>(send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      refused.shift()?.();
      return answer;
    } catch (error) {
      if (!(error as Error).message.includes('too_busy')) throw error;
      await new Promise<void>((resolve) => refused.push(resolve));
      return again(send);
    }
  }

  /**
   * Makes concurrent model calls of these missions, with lost, repeated and late reports. Returns the cost of all reported calls in
   * millionths of a US dollar.
   */
  async function play(
    missions: Held[],
    next: () => number,
    pay: (amount: number) => void,
    count = 50,
  ): Promise<number> {
    let reported = 0;
    const call = async (held: Held, callId: string, [input, output, fate]: [number, number, number]) => {
      const { outputTokens } = await again(() => reserve(held, callId, input, output));
      if (outputTokens === 0) return;
      const answered = Math.floor(outputTokens * fate);
      // The vendor charges the call before the runner reports it. All input is charged at the price of a cache write, which is the highest
      // price for input.
      pay(price(input, answered));
      // A fifth of the reports is lost with its runner; other reports are sent twice.
      if (fate < 0.2) return;
      const usage = { inputTokens: 0, cacheWriteTokens: input, outputTokens: answered };
      const report = { ...held, usageId: callId, callId, model, ...usage };
      const reports = [report, ...(fate > 0.8 ? [report] : [])];
      await Promise.all(reports.map((one) => again(() => runtime.report('reportUsage', one))));
      reported += price(input, answered);
    };
    const calls = Array.from({ length: count }, (): [number, number, number] => [
      Math.floor(next() * 20_000),
      Math.floor(1 + next() * 8_000),
      next(),
    ]);
    await Promise.all(calls.map((one, i) => call(missions[i % missions.length]!, `${i}`, one)));
    return reported;
  }

  it('up to 500 concurrent calls never cost more than the ceiling, even when reports are lost, repeated or late', {
    timeout: 120_000,
  }, async () => {
    for (let seed = 1; seed <= histories; seed++) {
      const next = random(seed);
      const isLarge = seed === 1;
      const budgetUsd = Math.round((0.05 + next()) * (isLarge ? 1_000 : 100)) / 100;
      const held = await startMission(budgetUsd);
      let paid = 0;
      const reported = await play(
        [held],
        next,
        (amount) => {
          paid += amount;
          expect(paid).toBeLessThanOrEqual(budgetUsd * 1_000_000);
        },
        isLarge ? 500 : 50,
      );
      const { missionCostUsd } = await look(held.runId);
      // Rounding adds less than a millionth to the cost of each report.
      expect(Math.abs(missionCostUsd * 1_000_000 - reported)).toBeLessThan(isLarge ? 600 : 60);
    }
  });

  it('the calls of two missions never cost more than a budget of the organization, the project or the person', {
    timeout: 120_000,
  }, async () => {
    const subjects = [
      { subject: 'organization' },
      { subject: 'project', projectId },
      { subject: 'person', userId: owner.id },
    ];
    const rows: Json[] = [];
    for (const subject of subjects) {
      for (const period of ['day', 'month']) rows.push(await createBudget(subject, 1_000, period));
    }
    let paid = 0;
    let reported = 0;
    for (let seed = 1; seed <= histories; seed++) {
      const next = random(seed);
      const missions = [await startMission(null), await startMission(null)];
      // One of the six budgets is set below the other budgets. If the report of a call is lost, the call keeps its reservation until its
      // run ends.
      const amountUsd = Math.ceil((paid / 1_000_000 + 0.1 + next()) * 100) / 100;
      const { id } = rows[Math.floor(next() * rows.length)];
      const change = (usd: number) => world.rest('PATCH', `/budgets/${id}`, { token: alice, body: { amountUsd: usd } });
      expect((await change(amountUsd)).status).toBe(200);
      reported += await play(missions, next, (amount) => {
        paid += amount;
        expect(paid).toBeLessThanOrEqual(amountUsd * 1_000_000);
      });
      expect((await change(1_000)).status).toBe(200);
      for (const held of missions) await runtime.finish(held);
    }
    for (const { spentUsd } of await budgetsOf()) expect(Math.abs(spentUsd * 1_000_000 - reported)).toBeLessThan(200);
  });
});
