// Missions and credits: a mission reserves credits at its start, and is settled by its cost at its end. When the credits are used up, no
// mission starts, and running missions are stopped. The clock begins on Monday 23 November 2026, 09:00 UTC.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleMissions, stopExhaustedMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { days } from '#foundation/clock.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let alice: string;
let runtime: Runtime;
let task: string;
let founded = 0;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
// Each test begins with an organization and its trial credits.
beforeEach(async () => {
  ({ organization: acme, token: alice } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
  runtime = await createRuntime(world, acme);
  await world.rest('PATCH', '/orchestrator', { token: alice, body: { dailyCostCapUsd: 1_000 } });
  const projectId = await createProject(world, { token: alice }, 'Shop');
  const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '12:00', timezone: 'UTC' } }];
  const body = { projectId, name: 'Check', prompt: 'Check.', triggers };
  task = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body.id;
});

const runNow = () => world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice });
let costs = 0;
const cost = (held: object, usd: number) => runtime.report('reportCost', { ...held, costId: `cost-${++costs}`, usd });
const position = async () => {
  const { owned, spendable } = await readPosition(acme.id);
  return [owned / credit, spendable / credit];
};
const run = async (id: string) => world.knex('runs').where({ id }).first('status', 'reason');

describe('credits of a mission', () => {
  it('a mission reserves one credit, more as its cost grows, and is charged its cost at its end', async () => {
    await runNow();
    expect(await position()).toEqual([100, 99]);
    const held = await runtime.claim();
    await cost(held, 2.5);
    await settleMissions();
    expect(await position()).toEqual([100, 96.5]);
    await cost(held, 0.000001);
    await runtime.finish(held);
    expect(await position()).toEqual([100, 96.5]);
    await settleMissions();
    await settleMissions();
    expect(await position()).toEqual([97.499999, 97.499999]);
  });

  it('a canceled mission returns its reservation; a cost that is reported later is charged', async () => {
    const { runId } = (await runNow()).body;
    const held = await runtime.claim();
    await world.graphql(`mutation { cancelRun(runId: "${runId}") { id } }`, { token: alice });
    await settleMissions();
    expect(await position()).toEqual([100, 100]);
    await cost(held, 0.25);
    await settleMissions();
    expect(await position()).toEqual([99.75, 99.75]);
  });

  it('a mission returns its reservation when its project is deleted', async () => {
    await runNow();
    const [{ projectId }] = await world.knex('recurring_missions').where({ id: task }).select('projectId');
    await world.rest('DELETE', `/projects/${projectId}`, { token: alice });
    await settleMissions();
    expect(await position()).toEqual([100, 100]);
  });

  it('a mission that the previous release started without a reservation is charged its cost', async () => {
    const { runId } = (await runNow()).body;
    await runtime.finish(await runtime.claim());
    await settleMissions();
    // The row of a run as the previous release writes it, without a reservation.
    const values = `org_id, project_id, scheduled_for + 1, kind, 'running', mission_title, created_at, updated_at, 'lse_old', 1`;
    await world.knex.raw(
      `insert into runs (id, org_id, project_id, scheduled_for, kind, status, mission_title, created_at, updated_at, lease_id, lease_until)
        select id || '_old', ${values} from runs where id = ?`,
      [runId],
    );
    await cost({ runId: `${runId}_old`, leaseId: 'lse_old' }, 3);
    await runtime.finish({ runId: `${runId}_old`, leaseId: 'lse_old' });
    await settleMissions();
    expect(await position()).toEqual([97, 97]);
  });
});

describe('missions without credits', () => {
  const useUp = async () => {
    await runNow();
    const held = await runtime.claim();
    await cost(held, 100);
    await settleMissions();
    return held;
  };

  it('402 · no mission starts without credits, and scheduled ones are skipped with the reason, until credits are added', async () => {
    await useUp();
    const { status, body } = await runNow();
    expect([status, body.code, body.category]).toEqual([402, 'credits_exhausted', 'agent']);
    world.clock.turn(days(1));
    await dispatchDue();
    expect(await world.knex('runs').where({ recurringId: task, kind: 'scheduled' }).select('status', 'reason')).toEqual(
      [{ status: 'skipped', reason: body.description }],
    );
    await world.grant(acme, 1);
    world.clock.turn(days(1));
    await dispatchDue();
    const later = await world
      .knex('runs')
      .where({ kind: 'scheduled', orgId: acme.id })
      .orderBy('createdAt')
      .pluck('status');
    expect(later).toEqual(['skipped', 'dispatching']);
  });

  it('a running mission without credits is canceled, and the answer to the next heartbeat tells its runtime to stop', async () => {
    const held = await useUp();
    expect(await runtime.beat(held)).toEqual({ desired: 'run' });
    await stopExhaustedMissions();
    expect(await runtime.beat(held)).toEqual({ desired: 'stop' });
    expect(await run(held.runId)).toEqual({
      status: 'canceled',
      reason: 'The credits of the organization are exhausted.',
    });
    await settleMissions();
    expect(await position()).toEqual([0, 0]);
  });

  it('a running mission continues when credits are added before it is stopped', async () => {
    const held = await useUp();
    await world.grant(acme, 5);
    await settleMissions();
    await stopExhaustedMissions();
    expect((await run(held.runId)).status).toBe('running');
    await runtime.finish(held);
    await settleMissions();
    expect(await position()).toEqual([5, 5]);
  });

  it('when ten credits are left, ten of 20 concurrent starts succeed', async () => {
    await runNow();
    const held = await runtime.claim();
    await cost(held, 90);
    await runtime.finish(held);
    await settleMissions();
    await world.lift(acme);
    // On a busy machine some calls wait too long for a connection and are told to retry.
    const answered = async (): Promise<Answer> => {
      const answer = await runNow();
      return answer.status === 503 ? answered() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 20 }, answered));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([10, 10]);
    expect(await position()).toEqual([10, 0]);
  });
});
