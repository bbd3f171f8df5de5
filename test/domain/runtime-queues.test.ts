// Places of runtimes, their queues, and why missions wait, as `runtimes` shows them.
import { afterAll, beforeEach, expect, it } from 'vitest';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { minutes } from '#foundation/clock.ts';
import { type Json, openStepWorld } from '../support/mission-steps.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { knownRuntime, present } from '../support/world.ts';

const { world, alice, mallory, claim, start, graphql, reset, close } = await openStepWorld();
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

it('A runtime shows its places, and its queue shows the missions that it could take, and since when each waits', async () => {
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
  // Missions of another organization are not counted; its own places are.
  expect(await runtimes(mallory.token)).toMatchObject({
    data: [{ name: 'Shared', usedPlaces: 0, freePlaces: null, waitingRuns: 0 }],
    waiting: [],
  });
});
