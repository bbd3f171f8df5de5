// The operator's commands for credits and plans: their changes, their ledger entries, and their refusals.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days } from '#foundation/clock.ts';
import { readOptions } from '#surfaces/operator/command.ts';
import { commands } from '#surfaces/operator/commands.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Person;
let acme: Organization;
let token: string;
let founded = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ person: owner, organization: acme } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
  token = await world.token(owner, acme, {
    scopes: ['billing:read', 'missions:run', 'missions:read', 'projects:write'],
  });
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function ask(name: string, ...args: string[]): Promise<any> {
  const one = commands[name]!;
  return one.run(readOptions(one, args), {} as never);
}
const of = (...args: string[]) => ['--org', acme.slug, ...args];
const ledger = async () => (await world.rest('GET', '/billing/ledger', { token })).body.entries;
const summary = async () => (await world.rest('GET', '/billing/summary', { token })).body;

describe('Granting credits', () => {
  it('credits:grant adds credits that expire at the given time, and answers the open request', async () => {
    const asked = { token, body: { message: 'We need 50 more.' } };
    const { id } = (await world.rest('POST', '/billing/credit-requests', asked)).body;
    const messages = [{ message: 'We need 50 more.', email: owner.email, at: expect.any(Number) }];
    const open = { id, org: acme.slug, createdAt: expect.any(Number), messages };
    expect(await ask('credit-request:list', ...of())).toEqual([open]);
    expect(await ask('credits:grant', ...of('--credits', '50', '--days', '90', '--note', 'For the launch'))).toEqual({
      org: acme.slug,
      granted: 50,
      balance: 150,
    });
    expect((await ledger())[0]).toMatchObject({
      kind: 'grant',
      credits: 50,
      balanceAfter: 150,
      note: 'Granted by the operator: For the launch',
    });
    const { sources, openCreditRequest } = await summary();
    const { createdAt } = (await ledger())[0];
    expect(sources).toContainEqual({ kind: 'grant', credits: 50, startsAt: null, expiresAt: createdAt + days(90) });
    expect(openCreditRequest).toBeNull();
    expect(await ask('credit-request:list', ...of())).toEqual([]);
    await ask('credits:grant', ...of('--credits', '1'));
    expect((await ledger())[0]).toMatchObject({ credits: 1, note: 'Granted by the operator.' });
  });

  it.each(['0', '-1', '1.5', '1000001', '1e3', ''])('credits:grant refuses %j credits', (credits) => {
    expect(() => readOptions(commands['credits:grant']!, of(`--credits=${credits}`))).toThrow('--credits: ');
  });

  it('a closed organization can neither be granted credits nor put on the enterprise plan', async () => {
    await ask('org:close', '--org', acme.slug, '--export');
    expect(await world.knex('org_exports')).toMatchObject([{ orgId: acme.id, status: 'preparing' }]);
    await expect(ask('credits:grant', ...of('--credits', '5'))).rejects.toThrow(`--org: ${acme.slug} is closed`);
    await expect(ask('org:enterprise', ...of())).rejects.toThrow(`--org: ${acme.slug} is closed`);
  });
});

describe('Closing a credit request', () => {
  it('credit-request:close closes a request without granting credits', async () => {
    await world.rest('POST', '/billing/credit-requests', { token, body: { message: 'More, please.' } });
    expect(await ask('credit-request:close', ...of())).toEqual({ org: acme.slug, closed: true });
    expect(await ask('credit-request:close', ...of())).toEqual({ org: acme.slug, closed: false });
    expect((await summary()).openCreditRequest).toBeNull();
  });
});

describe('Refunding credits', () => {
  it('credits:refund refunds the cost of a run once, and refuses an unknown or unfinished run', async () => {
    const projectId = await createProject(world, { token }, 'Shop');
    const { data } = await world
      .graphql(`mutation { startMission(projectId: "${projectId}", prompt: "Go") { id } }`, { token })
      .then((answer) => answer.body);
    const run = data.startMission.id;
    await expect(ask('credits:refund', '--run', run)).rejects.toThrow(`--run: ${run} has not ended yet`);
    await world.knex('runs').where({ id: run }).update({ leaseId: 'lease' });
    await world
      .knex('missionCosts')
      .insert({ id: `cst_${run}`, orgId: acme.id, projectId, runId: run, at: present(), usd: 2.5 });
    await world.graphql(`mutation { cancelRun(runId: "${run}") { id } }`, { token });
    await settleMissions();
    expect((await readPosition(acme.id)).owned).toBe(97_500_000);
    const refund = () => ask('credits:refund', '--run', run, '--note', 'The model was unavailable');
    expect(await refund()).toEqual({ run, refunded: 2.5, balance: 100 });
    expect(await refund()).toEqual({ run, refunded: 0, balance: 100 });
    expect((await ledger())[0]).toMatchObject({
      kind: 'refund',
      credits: 2.5,
      runId: run,
      note: 'Refunded by the operator: The model was unavailable',
    });
    await expect(ask('credits:refund', '--run', 'run_none')).rejects.toThrow('--run: there is no run run_none');
  });
});

describe('The enterprise plan', () => {
  it('org:enterprise puts an organization on the enterprise plan, and removes it from the plan', async () => {
    expect(await ask('org:enterprise', ...of())).toEqual({ org: acme.slug, enterprise: true });
    expect(await summary()).toMatchObject({ plan: 'enterprise', mode: 'invoice', sandboxLimit: null });
    expect(await ask('org:enterprise', ...of('--off'))).toEqual({ org: acme.slug, enterprise: false });
    expect(await summary()).toMatchObject({ plan: 'free', mode: 'prepaid' });
  });
});
