// Fairness between organizations on shared runtimes, and how missions spread over runtimes of different capacity.
import pg from 'pg';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { newId } from '#foundation/ids.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { pauseBeforeClaim } from '../../src/runner/pause.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').delete();
});

const large = await createOwner(world, 'Alice', 'Acme');
const small = await createOwner(world, 'Mallory', 'Globex');
const projects = new Map([
  [large, await createProject(world, large, 'Shop')],
  [small, await createProject(world, small, 'Other')],
]);
const shared = await createRuntime(world);
const own = await createRuntime(world, large.organization);

const start = async (owner: typeof large): Promise<string> => {
  world.clock.turn(1);
  const query = 'mutation ($id: String!) { startMission(projectId: $id, prompt: "Check") { id } }';
  return (await world.field(query, { token: owner.token, variables: { id: projects.get(owner) } })).id;
};
// biome-ignore lint/suspicious/noExplicitAny: rows of any shape
const copy = (row: any, count: number): Promise<unknown> =>
  world.knex.batchInsert(
    'runs',
    Array.from({ length: count }, () => ({ ...row, id: newId('run') })),
    300,
  );
const claimFrom = async (runtime: Runtime): Promise<string> =>
  (await runtime.claim({}, '{ orgId }')).orgId === large.organization.id ? 'large' : 'small';

it('an organization’s missions on its own runtime do not reduce its share of shared runtimes; a thousand waiting missions delay no other organization', async () => {
  const row = await world
    .knex('runs')
    .where({ id: await start(large) })
    .first();
  await copy(row, 1_000);
  expect(await claimFrom(own)).toBe('large');
  const claimed = await world.knex('runs').where({ status: 'running' }).first();
  expect(claimed).toMatchObject({ isShared: false, claimedWith: expect.stringMatching(/^svc_/) });
  // The thousand missions run, all on the organization's own runtime.
  const { status, claimedBy, claimedWith, leaseUntil, isShared } = claimed;
  await world
    .knex('runs')
    .update({ status, claimedBy, claimedWith, leaseUntil, isShared, leaseId: world.knex.raw("'lse_' || id") });
  await copy(row, 1_000);
  for (let i = 0; i < 4; i++) await start(small);
  const order = [];
  for (let i = 0; i < 6; i++) order.push(await claimFrom(shared));
  expect(order).toEqual(['large', 'small', 'large', 'small', 'large', 'small']);
  expect(await world.knex('runs').where({ status: 'running', isShared: true })).toHaveLength(6);
});

it('a runtime with more free slots gets more missions', async () => {
  const places = { small: 2, middle: 4, large: 16 };
  const used: Record<string, number> = { small: 0, middle: 0, large: 0 };
  await copy(
    await world
      .knex('runs')
      .where({ id: await start(large) })
      .first(),
    23,
  );
  // The three runtimes claim in turn: the small one begins, and after each claim a runtime waits for a pause that depends on its load.
  const next = Object.keys(places).map((name, at) => ({ name: name as keyof typeof places, at }));
  const claimNext = async (): Promise<void> => {
    const turn = next.reduce((first, one) => (one.at < first.at ? one : first));
    const run =
      used[turn.name]! < places[turn.name]
        ? await shared.claim({ runtime: turn.name, places: places[turn.name] })
        : null;
    if (run) used[turn.name]!++;
    // A claim takes 10 milliseconds.
    turn.at += 10 + pauseBeforeClaim(1_000, used[turn.name]!, places[turn.name], run !== null);
  };
  while (used.small! + used.middle! + used.large! < 8) await claimNext();
  expect(used).toEqual({ small: 1, middle: 2, large: 5 });
  while (used.small! + used.middle! + used.large! < 22) await claimNext();
  expect(used).toEqual(places);
});

it('a claim of a shared runtime reads few runs, however many wait, even while another claim has locked the oldest run', async () => {
  const id = await start(large);
  await copy(await world.knex('runs').where({ id }).first(), 1_000);
  const claims: string[] = [];
  const stop = watchStatements((text) => void (text.includes('organizations_waiting') && claims.push(text)));
  expect(await claimFrom(shared).finally(stop)).toBe('large');
  expect(claims).toHaveLength(1);
  const values = (lease: string) => [
    Date.now(),
    null,
    ['claude-code'],
    lease,
    'Runtime',
    Date.now(),
    null,
    null,
    false,
    null,
    [],
    'svc',
  ];
  // biome-ignore lint/suspicious/noExplicitAny: a plan has nodes of any shape
  const readRuns = (node: any): number =>
    (node['Relation Name'] === 'runs'
      ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      : 0) + (node.Plans ?? []).reduce((sum: number, inner: unknown) => sum + readRuns(inner), 0);
  // The first claim is not committed, so the second one finds the oldest run locked.
  const clients = [new pg.Client(world.connection), new pg.Client(world.connection)];
  try {
    for (const [n, client] of clients.entries()) {
      await client.connect();
      await client.query('begin');
      const plan = await client.query(`explain (analyze, format json) ${claims[0]}`, values(`lease ${n}`));
      expect(readRuns(plan.rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(20);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

it('concurrent claims of one organization’s runs by shared runtimes get different runs, and get the oldest runs first', async () => {
  const id = await start(large);
  const row = await world.knex('runs').where({ id }).first();
  await copy(row, 20);
  world.clock.turn(1);
  await copy({ ...row, createdAt: row.createdAt + 1 }, 20);
  const claimed = await Promise.all(Array.from({ length: 16 }, () => shared.claim()));
  const ids = new Set(claimed.map(({ runId }) => runId));
  expect(ids.size).toBe(16);
  const runs = await world.knex('runs').whereIn('id', [...ids]);
  expect(new Set(runs.map(({ createdAt }) => createdAt))).toEqual(new Set([row.createdAt]));
});

it('concurrent claims of shared runtimes get runs of different organizations', async () => {
  const row = await world
    .knex('runs')
    .where({ id: await start(large) })
    .first();
  await copy({ ...row, createdAt: row.createdAt + 1 }, 20);
  await start(small);
  // A claim that has not ended holds the oldest run of the large organization.
  const trx = await world.knex.transaction();
  await trx('runs').where({ id: row.id }).forUpdate();
  expect(await claimFrom(shared).finally(() => trx.rollback())).toBe('small');
});
