// The API shows how many missions each runtime can execute at the same time, how many missions wait for a runtime, and why the missions
// wait. A draining runtime takes no new missions.
import { afterAll, beforeEach, expect, it } from 'vitest';
import { forgetGoneRuntimes } from '#domain/execution/runtime/leave.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { hours, minutes } from '#foundation/clock.ts';
import { type Json, openStepWorld } from '../support/mission-steps.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { knownRuntime, present } from '../support/world.ts';

const { world, alice, mallory, runtime, claim, start, graphql, reset, close } = await openStepWorld();
afterAll(close);
beforeEach(reset);

const runtimes = async (token = alice.token): Promise<Json> => {
  await explainWaits();
  const { data, waiting } = await graphql(
    `{ runtimes { data { name places usedPlaces freePlaces waitingRuns oldestWaitingAt }
      waiting { reason labels runs oldestWaitingAt oldestRunId } } }`,
    {},
    token,
  );
  return { data: data.filter(({ name }: Json) => name !== knownRuntime), waiting };
};

it('a runtime shows its slots, the number of waiting missions that it could take, and when the oldest began to wait', async () => {
  const shared = await createRuntime(world);
  const template = (
    await world.rest('POST', '/sandbox-templates', { token: alice.token, body: { name: 'GPU', labels: ['gpu'] } })
  ).body.id;
  await start();
  await claim({ runtime: 'Own', places: 2 });
  await start();
  await shared.claim({ runtime: 'Shared', places: 8 });
  await start();
  const since = present();
  const scripted = { agentId: 'agn_builtin_shell' };
  const first = (await start(scripted)).id;
  const scriptSince = present();
  await start(scripted);
  await world.knex('runs').where(scripted).update({ sandbox_template_id: template });
  world.clock.turn(minutes(1));
  await claim({ runtime: 'Own', places: 2, harnesses: ['shell'] });
  await shared.claim({ runtime: 'Shared', places: 8, harnesses: ['shell'], labels: ['gpu'], runId: 'run_none' });
  const own = { name: 'Own', places: 2, usedPlaces: 1, freePlaces: 1, waitingRuns: 1, oldestWaitingAt: since };
  const seen = await runtimes();
  expect(seen.data).toEqual(
    expect.arrayContaining([
      own,
      { name: 'Shared', places: 8, usedPlaces: 1, freePlaces: null, waitingRuns: 3, oldestWaitingAt: since },
    ]),
  );
  const bySize = { reason: expect.stringMatching(/^Waiting for a connected runtime/), labels: ['gpu'], runs: 2 };
  expect(seen.waiting).toEqual([
    { ...bySize, oldestWaitingAt: scriptSince, oldestRunId: first },
    expect.objectContaining({ labels: [], runs: 1, oldestWaitingAt: since }),
  ]);
  // Missions and places of other organizations are not counted.
  expect(await runtimes(mallory.token)).toMatchObject({
    data: [{ name: 'Shared', usedPlaces: 0, freePlaces: null, waitingRuns: 0 }],
    waiting: [],
  });
});

it('an autoscaler reads how many missions that need its labels are waiting and running', async () => {
  const shared = await createRuntime(world);
  const own = await createRuntime(world, alice.organization);
  const body = { name: 'Large', labels: ['large', 'arm64'] };
  const template = (await world.rest('POST', '/sandbox-templates', { token: alice.token, body })).body.id;
  for (let i = 0; i < 3; i++) await start();
  await shared.claim({ runtime: 'Shared' });
  await own.claim({ runtime: 'Own' });
  const { id } = await start();
  await world.knex('runs').where({ id }).update({ sandbox_template_id: template });
  world.clock.turn(minutes(2));
  const demand = async (token: string, query = '') =>
    (await world.rest('GET', `/runtimes/demand${query}`, { token })).body;
  const plain = { missions: 2, waiting: 1, running: 1, oldestWaitingSeconds: expect.closeTo(120, 0) };
  expect(await demand(own.token)).toEqual(plain);
  expect(await demand(shared.token)).toEqual(plain);
  const none = { missions: 0, waiting: 0, running: 0, oldestWaitingSeconds: 0 };
  expect(await demand(own.token, '?labels=large')).toEqual(none);
  const labeled = { missions: 1, waiting: 1, running: 0, oldestWaitingSeconds: 120 };
  expect(await demand(own.token, '?labels=arm64,large,gpu')).toEqual(labeled);
  expect(await demand((await createRuntime(world, mallory.organization)).token)).toEqual(none);
  expect((await world.rest('GET', '/runtimes/demand', { token: alice.token })).status).toBe(403);
  expect(await demand(own.token, '?labels=A')).toMatchObject({ description: expect.stringMatching(/^labels/) });
});

it('a draining runtime takes no missions until it is resumed, and is not listed once it has left', async () => {
  await start();
  const held = await claim({ runtime: 'Own', places: 2 });
  await start();
  const listed = async () =>
    (await graphql('{ runtimes { data { name tokenId isDraining waitingRuns } } }', {})).data.find(
      ({ name }: Json) => name === 'Own',
    );
  const { tokenId } = await listed();
  const drain = (more: object, token = alice.token): Promise<Json> =>
    graphql(
      `mutation ($runtimeTokenId: String!, $name: String!, $isDraining: Boolean! = true) {
        drainRuntime(runtimeTokenId: $runtimeTokenId, name: $name, isDraining: $isDraining) { draining } }`,
      { runtimeTokenId: tokenId, name: 'Own', ...more },
      token,
    );
  const orders = () => world.field('{ runtimeOrders(runtime: "Own") { isDraining } }', { token: runtime.token });
  expect(await orders()).toEqual({ isDraining: false });
  for (let i = 0; i < 2; i++) expect(await drain({})).toEqual({ draining: ['Own'] });
  expect(await orders()).toEqual({ isDraining: true });
  expect(await claim({ runtime: 'Own', places: 2 })).toBeNull();
  expect(await listed()).toMatchObject({ isDraining: true, waitingRuns: 0 });
  // A draining runtime continues with its current missions.
  expect(await runtime.beat(held)).toEqual({ desired: 'run' });
  expect((await drain({}, mallory.token)).code).toBe('not_found');
  expect(await drain({ isDraining: false })).toEqual({ draining: [] });
  expect(await claim({ runtime: 'Own', places: 2 })).not.toBeNull();
  await drain({});
  await runtime.report('leaveRuntime', { runtime: 'Own' });
  expect(await listed()).toBeUndefined();
  expect(await orders()).toEqual({ isDraining: false });
  // A killed runtime remains in the list of runtimes for a day. After that, it is no longer counted as draining, although it was killed
  // while it was draining.
  await claim({ runtime: 'Killed' });
  await claim({ runtime: 'Working' });
  await drain({ name: 'Killed' });
  expect(await drain({ name: 'Working' })).toEqual({ draining: ['Killed', 'Working'] });
  world.clock.turn(hours(25));
  await claim({ runtime: 'Working' });
  await forgetGoneRuntimes();
  expect(await drain({ name: 'Working' })).toEqual({ draining: ['Working'] });
});
