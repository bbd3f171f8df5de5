// Runs examples/first-mission.sh and first-mission.ts unchanged against a running service; the test is the runtime that does the work.
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { createOwner } from '../../support/callers.ts';
import { projectFolder } from '../../support/processes.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A runtime that claims the next run and completes it at a cost of 0.25; returns the run. */
async function carryOut(): Promise<string> {
  const { claim, report, finish } = await createRuntime(world);
  const held = await vi.waitFor(async () => {
    const run = await claim({ harnesses: ['shell'] });
    expect(run).not.toBeNull();
    return run;
  });
  await report('reportCost', { ...held, costId: 'cost-1', usd: 0.25 });
  await finish(held);
  return held.runId;
}

const runScript = async (link: string) =>
  (await promisify(execFile)('sh', [path.join(projectFolder, 'examples/first-mission.sh'), link])).stdout;

it.skipIf(spawnSync('curl', ['--version']).error !== undefined)(
  'a person needs only curl to get from an empty organization through a purchase to a billed mission',
  async () => {
    const script = runScript(await createSignInLink((await world.person('Ada')).email));
    const runId = await carryOut();
    await settleMissions();
    expect(await script).toBe(
      [
        'Founded first-mission.',
        'Bought 100 credits; the balance is 200.',
        `Started ${runId}.`,
        'The mission is completed, and the ledger says -0.25 credits.',
        'The balance is 199.',
        '',
      ].join('\n'),
    );
  },
);

it('the typed client leads from a token to a completed mission', async () => {
  const { token } = await createOwner(world, 'Grace', 'Typed');
  const program = promisify(execFile)(process.execPath, ['--import', 'tsx', 'examples/first-mission.ts'], {
    cwd: projectFolder,
    env: { ...process.env, AEP_URL: world.url, AEP_TOKEN: token },
  });
  const runId = await carryOut();
  const lines = (await program).stdout.trimEnd().split('\n');
  expect(lines.slice(0, 2)).toEqual(['You are owner here; the project is First mission.', `Started ${runId}.`]);
  expect(lines.slice(-2)).toEqual(['completed', 'It cost 0.25 US dollars.']);
});
