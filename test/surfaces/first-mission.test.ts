// examples/first-mission.sh as it stands, against a running service; the test is the runtime that carries out the mission.
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { settleMissions } from '#domain/billing/settle.ts';
import { createSignInLink } from '#domain/people/sign-in-links.ts';
import { createServiceToken } from '#domain/tokens/service-tokens.ts';
import { projectFolder } from '../support/processes.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const runScript = async (link: string) =>
  (await promisify(execFile)('sh', [path.join(projectFolder, 'examples/first-mission.sh'), link])).stdout;

it.skipIf(spawnSync('curl', ['--version']).error !== undefined)(
  'From an empty organization over a purchase to a billed mission, with curl alone',
  async () => {
    const { token } = await createServiceToken({ name: 'runtime' });
    async function report(name: string, input: object, selection = '{ ok }') {
      const type = `${name[0]!.toUpperCase()}${name.slice(1)}Request`;
      const query = `mutation ($input: ${type}!) { said: ${name}(input: $input) ${selection} }`;
      return (await world.graphql(query, { token, variables: { input } })).body.data.said;
    }
    const script = runScript(await createSignInLink((await world.person('Ada')).email));
    const held = await vi.waitFor(async () => {
      const run = await report('claimRun', { runtime: 'Runtime', harnesses: ['shell'] }, '{ runId leaseId }');
      expect(run).not.toBeNull();
      return run;
    });
    await report('reportCost', { ...held, costId: 'cost-1', usd: 0.25 });
    await report('finishRun', { ...held, status: 'completed' });
    await settleMissions();
    expect(await script).toBe(
      [
        'Founded first-mission.',
        'Bought 100 credits; the balance is 200.',
        `Started ${held.runId}.`,
        'The mission is completed, and the ledger says -0.25 credits.',
        'The balance is 199.',
        '',
      ].join('\n'),
    );
  },
);
