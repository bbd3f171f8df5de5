// Each approved effect happens once, although the process that carries it out is killed at any of its requests. KILLS=all kills it at each
// request, before its effect and before its answer.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStagedWorld, type StagedWorld } from '../support/staged-world.ts';

let staged: StagedWorld;

beforeAll(async () => {
  staged = await openStagedWorld({ waits: ['push'] }, { tracker: 'builtin' });
});
afterAll(() => staged.close());

const requests = ['PUSH', 'POST /pulls'] as const;
const kills = requests.flatMap((name) =>
  (['before', 'after'] as const)
    .filter((when) => when === 'after' || process.env.KILLS === 'all')
    .map((when) => [name, when] as const),
);

it.each(kills)('%s: each effect happens once after a kill %s it', async (name, when) => {
  const { requests, github } = staged;
  const held = await staged.startMission('Mend the dates.');
  const headSha = await staged.stage(held);
  await staged.finish(held);
  requests.done.length = 0;
  await staged.as('mutation ($runId: String!) { approveOutsideEffects(runId: $runId) { id } }', { runId: held.runId });
  expect(requests.done).toEqual([]);
  await staged.killAt(name, when);

  expect(await staged.effects(held.runId)).toMatchObject([{ state: 'committed' }, { state: 'committed' }]);
  expect(staged.headOf(held.branch)).toBe(headSha);
  const created = requests.done.filter((one) => one === 'PUSH' || one === 'POST /pulls');
  expect(created).toEqual(['PUSH', 'POST /pulls']);
  expect(github.repositories.get('acme/shop')!.pulls.filter(({ head }) => head.ref === held.branch)).toHaveLength(1);
  expect(github.violations).toEqual([]);
});
