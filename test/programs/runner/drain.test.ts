// A real runner that people drain: it finishes its mission, takes no other, and ends.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { openDrain } from '../../../src/runner/drain.ts';
import { RequestRejected } from '../../../src/runner/protocol/platform.ts';
import { openScriptWorld } from '../../support/script-world.ts';

const { world, alice, folder, startRunner, mission, look, until, ended, killRunners, close } = await openScriptWorld();
afterAll(killRunners);
afterAll(close);

it('a runner continues although an older platform cannot tell it about drains and releases, and learns of both when the platform has been updated', async () => {
  const orders = vi
    .fn()
    .mockRejectedValueOnce(new RequestRejected('invalid_request', 'Cannot query field "runtimeOrders".'))
    .mockResolvedValue({ isDraining: true, release: '1.2.3' });
  const lines: string[] = [];
  const drain = openDrain({ orders } as never, 'runner', 1_000, (line) => lines.push(line));
  expect(await drain.ask(0)).toEqual({ isDraining: false, release: '' });
  expect(await drain.ask(999)).toEqual({ isDraining: false, release: '' });
  expect(await drain.ask(1_000)).toEqual({ isDraining: true, release: '1.2.3' });
  expect([orders.mock.calls.length, lines]).toEqual([2, ['The runner drains: it takes no new missions.']]);
});

it('a runner that drains finishes its mission, takes no other, ends, and is no longer listed', async () => {
  const runner = startRunner(undefined, { RUNS_AT_ONCE: '2', RUNNER_LABELS: 'gpu, arm64' });
  const exited = once(runner.process, 'exit');
  const mark = path.join(folder, 'drained');
  const first = await mission(`until [ -e ${mark} ]; do sleep 0.05; done`);
  await until(
    () => look(first),
    ({ status }) => status === 'running',
  );
  const listed = async () =>
    (
      await world.field('{ runtimes { data { name tokenId labels usedPlaces freePlaces isDraining } } }', {
        token: alice,
      })
    ).data.filter(({ name }: { name: string }) => name.startsWith('local-runner'));
  const [{ name, tokenId, ...shown }] = await listed();
  expect(shown).toEqual({ labels: ['gpu', 'arm64'], usedPlaces: 1, freePlaces: 1, isDraining: false });
  const drain =
    'mutation ($id: String!, $name: String!) { drainRuntime(runtimeTokenId: $id, name: $name) { draining } }';
  await world.field(drain, { token: alice, variables: { id: tokenId, name } });
  const second = await mission('true');
  await until(
    async () => runner.output,
    (output) => output.includes('The runner drains: it takes no new missions.'),
  );
  writeFileSync(mark, '');
  expect((await ended(first)).status).toBe('completed');
  expect(await exited).toEqual([0, null]);
  expect(runner.output).toContain('The runner has no missions left, and shuts down.');
  expect((await look(second)).status).toBe('dispatching');
  expect(await listed()).toEqual([]);
});
